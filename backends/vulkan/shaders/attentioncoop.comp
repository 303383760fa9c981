#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/attentioncoop.comp - what attention.comp makes for prompts, keys and
// values being F16, by cooperative matrices of F16 that are summed in F32.
//
// 128 invocations with 32 queries of a group of heads, which are in shared memory from
// the beginning, each multiplied by a power of two that suits F16.  They go through a
// part of the keys, 32 at a time, of which 64 elements come into shared memory at a
// time:
//
//   scores   each subgroup has some matrices of queries times keys, and puts them into
//            shared memory
//   softmax  four invocations a query, eight keys each; exponentials as F16
//   values   in the place of the keys; sums of the results stay in matrices
//
// No invocation knows which rows of a matrix it has, so sums go through shared memory
// to be multiplied.  That is rare: exponentials belong to a maximum that a new one may
// exceed by STALE before sums follow it.
//
// 21 KiB of shared memory with a RANGE of 128, 29 KiB with 256.
//
// RANGE      64, 128 or 256: no less than the elements of a head
// M, N, K    of a matrix: M and N divide 32, N and K are multiples of 8
// SUBGROUP   invocations of one
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_shader_subgroup_basic : require
#pragma use_vulkan_memory_model
#include "params-attention.h"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/slope.glsl"
#include "common/halves.glsl"
#include "common/row8.glsl"

#define THREADS 128
#define ROWS    32
#define KEYS    32
#define WIDTH   64 // elements taken at a time
#define SHARE   4  // invocations of a query
#define STALE   8.0

// Of rows in shared memory, in eight halves, or four floats, so that eight
// neighbouring ones have all banks.
#define Q_STRIDE (RANGE / 8 + 1)
#define T_STRIDE (WIDTH / 8 + 1)
#define S_STRIDE (KEYS / 4 + 1)
#define P_STRIDE (KEYS / 8 + 1)
#define S_AT     (KEYS * T_STRIDE)

// Scores that the mask hides, and what is below all others.
#define HIDDEN -3e38
#define BOTTOM -1e38

layout(local_size_x = THREADS) in;
layout(constant_id = 0) const uint RANGE = 128;
layout(constant_id = 2) const uint M = 16;
layout(constant_id = 3) const uint N = 16;
layout(constant_id = 4) const uint K = 16;
layout(constant_id = 5) const uint SUBGROUP = 32;

// Matrices of scores and of WIDTH elements of results, and of them a subgroup's.
const uint SUBGROUPS = THREADS / SUBGROUP;
const uint SCORES = ROWS / M * (KEYS / N);
const uint RESULTS = ROWS / M * (WIDTH / N);
const uint MY_SCORES = (SCORES + SUBGROUPS - 1) / SUBGROUPS;
const uint MY_RESULTS = (RESULTS + SUBGROUPS - 1) / SUBGROUPS;
const uint CHUNKS = RANGE / WIDTH;

GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, q, readonly);
GB_OPERAND(2, keys, readonly);
GB_OPERAND(3, values, readonly);
GB_OPERAND(4, mask, readonly);
GB_FLOATS8(q8, q)

shared uvec4 queries[ROWS * Q_STRIDE];
// Keys or values, and behind them scores; or matrices on their way.
shared uvec4 tile[KEYS * T_STRIDE + ROWS * S_STRIDE];
shared uvec4 weights[ROWS * P_STRIDE]; // exponentials
shared float each[THREADS];  // of the invocations of a query
shared float factor[ROWS];   // of the sums of its results
shared uint is_seen[2];      // of these keys, and of the next ones
shared uint is_far;          // is a maximum left behind too far?

uint first_row, first_head, batch;

uint rows_of_group()
{
    return p.n_tokens * p.group;
}

// The token and the head of row R of the group.
uint token_of(uint r)
{
    return r / p.group;
}

uint head_of(uint r)
{
    return first_head + r % p.group;
}

// The largest, and the sum, of what the invocations of a query have.
float most_of(float mine)
{
    const uint first = gl_LocalInvocationID.x & ~(SHARE - 1u);

    barrier();
    each[gl_LocalInvocationID.x] = mine;
    barrier();
    return max(max(each[first], each[first + 1u]),
               max(each[first + 2u], each[first + 3u]));
}

float sum_of(float mine)
{
    const uint first = gl_LocalInvocationID.x & ~(SHARE - 1u);

    barrier();
    each[gl_LocalInvocationID.x] = mine;
    barrier();
    return each[first] + each[first + 1u] + each[first + 2u] +
           each[first + 3u];
}

// Eight elements of row ROW of the work group, from I on.
void read_query(uint row, uint i, out float v[8])
{
    const uint r = first_row + row;

    [[unroll]] for (uint j = 0u; j < 8u; j++)
        v[j] = 0.0;
    if (r < rows_of_group() && i < p.d)
        q8(GB_VK_F32,
           p.at[1] + token_of(r) * p.q_nb[0] + head_of(r) * p.q_nb[1] +
               batch * p.q_nb[2],
           i, p.d, v);
}

// All queries; by what this invocation's scores are to be multiplied.
float load_queries()
{
    const uint row = gl_LocalInvocationID.x / SHARE;
    const uint share = gl_LocalInvocationID.x % SHARE;
    float most = 0.0, by, v[8];

    for (uint i = share; i < RANGE / 8u; i += SHARE) {
        read_query(row, i * 8u, v);
        most = max(most, gb_largest(v));
    }
    by = gb_power_for(most_of(most));
    for (uint i = share; i < RANGE / 8u; i += SHARE) {
        read_query(row, i * 8u, v);
        queries[row * Q_STRIDE + i] = gb_halves(v, by);
    }
    return gb_inverse(by);
}

// Eight halves of operand NAME, from element I of the row at byte ROW on; those
// from END on are 0 and not read.
#define GB_HALVES8(function, name)                                          \
    uvec4 function(uint row, uint i, uint end)                              \
    {                                                                       \
        const uint at = row + i * 2u;                                       \
        uvec4 words = uvec4(0u);                                            \
                                                                            \
        if (i + 8u <= end && (at & 2u) == 0u) {                             \
            [[unroll]] for (uint j = 0u; j < 4u; j++)                       \
                words[j] = gb_u32(name, at + 4u * j);                       \
        } else {                                                            \
            [[unroll]] for (uint j = 0u; j < 8u; j++)                       \
                if (i + j < end)                                            \
                    words[j / 2u] |= gb_u16(name, at + 2u * j)              \
                                     << (j % 2u * 16u);                     \
        }                                                                   \
        return words;                                                       \
    }
GB_HALVES8(keys8, keys)
GB_HALVES8(values8, values)

// WIDTH elements from FIRST on of COUNT keys, or values, whose first is at byte AT.
void load_tile(bool is_value, uint at, uint stride, uint count, uint first)
{
    for (uint i = gl_LocalInvocationID.x; i < KEYS * (WIDTH / 8u);
         i += THREADS) {
        const uint row = i / (WIDTH / 8u), piece = i % (WIDTH / 8u);
        uvec4 words = uvec4(0u);

        if (row < count) {
            if (is_value)
                words = values8(at + row * stride, first + piece * 8u, p.d);
            else
                words = keys8(at + row * stride, first + piece * 8u, p.d);
        }
        tile[row * T_STRIDE + piece] = words;
    }
}

// Of this invocation's eight keys, of COUNT from FIRST on: slope * mask, or HIDDEN.
void load_mask(uint first, uint count, uint parity, out float v[8])
{
    const uint row = first_row + gl_LocalInvocationID.x / SHARE;
    const uint key = gl_LocalInvocationID.x % SHARE * 8u;
    const float slope =
        gb_slope(p.max_bias, 1u << findMSB(p.n_heads), head_of(row));
    bool sees = false;

    [[unroll]] for (uint j = 0u; j < 8u; j++) {
        v[j] = HIDDEN;
        if (row < rows_of_group() && key + j < count) {
            v[j] = 0.0;
            if (p.has_mask != 0u) {
                const uint bits =
                    gb_u16(mask, p.at[4] + (first + key + j) * 2u +
                                     token_of(row) * p.mask_nb);

                v[j] = bits == 0xfc00u ? HIDDEN
                                       : slope * gb_half_to_float(bits);
            }
            sees = sees || v[j] > BOTTOM;
        }
    }
    if (sees)
        atomicOr(is_seen[parity], 1u);
    if (gl_LocalInvocationID.x == 0u) {
        is_seen[parity ^ 1u] = 0u;
        is_far = 0u;
    }
}

// Queries times COUNT keys, the first at byte AT.
void find_scores(uint at, uint count)
{
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
        sums[MY_SCORES];

    [[unroll]] for (uint i = 0u; i < MY_SCORES; i++)
        sums[i] = coopmat<float, gl_ScopeSubgroup, M, N,
                          gl_MatrixUseAccumulator>(0.0);
    for (uint first = 0u; first < p.d; first += WIDTH) {
        barrier();
        load_tile(false, at, p.k_nb[0], count, first);
        barrier();
        [[unroll]] for (uint i = 0u; i < MY_SCORES; i++) {
            const uint which = gl_SubgroupID + i * SUBGROUPS;
            const uint row = which / (KEYS / N) * M;
            const uint key = which % (KEYS / N) * N;

            if (which < SCORES) {
                [[unroll]] for (uint k = 0u; k < WIDTH; k += K) {
                    coopmat<float16_t, gl_ScopeSubgroup, M, K, gl_MatrixUseA> a;
                    coopmat<float16_t, gl_ScopeSubgroup, K, N, gl_MatrixUseB> b;

                    coopMatLoad(a, queries,
                                row * Q_STRIDE + (first + k) / 8u, Q_STRIDE,
                                gl_CooperativeMatrixLayoutRowMajor);
                    coopMatLoad(b, tile, key * T_STRIDE + k / 8u, T_STRIDE,
                                gl_CooperativeMatrixLayoutColumnMajor);
                    sums[i] = coopMatMulAdd(a, b, sums[i]);
                }
            }
        }
    }
    [[unroll]] for (uint i = 0u; i < MY_SCORES; i++) {
        const uint which = gl_SubgroupID + i * SUBGROUPS;

        if (which < SCORES)
            coopMatStore(sums[i], tile,
                         S_AT + which / (KEYS / N) * M * S_STRIDE +
                             which % (KEYS / N) * N / 4u,
                         S_STRIDE, gl_CooperativeMatrixLayoutRowMajor);
    }
    barrier();
}

// SCORES of this invocation's, of which V is the mask, times BY.
void take_scores(float by, inout float v[8])
{
    const uint row = gl_LocalInvocationID.x / SHARE;
    const uint at =
        S_AT + row * S_STRIDE + gl_LocalInvocationID.x % SHARE * 2u;

    [[unroll]] for (uint j = 0u; j < 8u; j++) {
        float score = gb_scaled(uintBitsToFloat(tile[at + j / 4u][j % 4u]),
                                by, p.scale);

        if (p.softcap != 0.0)
            score = p.softcap * gb_tanh(score);
        if (v[j] > BOTTOM)
            v[j] += score;
    }
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    coopmat<float, gl_ScopeSubgroup, M, N, gl_MatrixUseAccumulator>
        sums[CHUNKS][MY_RESULTS];
    uint index = gb_group();
    uint part, first_key, end_key, k_at, v_at, parity = 0u;
    float most = HIDDEN; // to which the exponentials of a query belong
    float sum = 0.0;     // of this invocation's exponentials
    float by, all;

    if (index >= p.n_groups)
        return;
    part = gb_take(index, p.n_parts);
    first_row = gb_take(index, (rows_of_group() + ROWS - 1u) / ROWS) * ROWS;
    first_head = gb_take(index, p.n_heads / p.group) * p.group;
    batch = index;
    first_key = part * p.part;
    end_key = min(first_key + p.part, p.n_keys);
    k_at = p.at[2] + first_head / p.k_heads * p.k_nb[1] +
           batch / p.k_batches * p.k_nb[2];
    v_at = p.at[3] + first_head / p.v_heads * p.v_nb[1] +
           batch / p.v_batches * p.v_nb[2];

    by = load_queries();
    [[unroll]] for (uint w = 0u; w < CHUNKS; w++)
        [[unroll]] for (uint i = 0u; i < MY_RESULTS; i++)
            sums[w][i] = coopmat<float, gl_ScopeSubgroup, M, N,
                                 gl_MatrixUseAccumulator>(0.0);
    if (thread < 2u)
        is_seen[thread] = 0u;
    for (uint key = first_key; key < end_key; key += KEYS) {
        const uint count = min(end_key - key, KEYS);
        float v[8], now, largest = HIDDEN;

        barrier();
        load_mask(key, count, parity, v);
        barrier();
        parity ^= 1u;
        if (is_seen[parity ^ 1u] == 0u)
            continue;
        find_scores(k_at + key * p.k_nb[0], count);
        take_scores(by, v);
        [[unroll]] for (uint j = 0u; j < 8u; j++)
            largest = max(largest, v[j]);
        now = max(most, most_of(largest));
        if (most > BOTTOM && now > most + STALE)
            is_far = 1u;
        else if (most < BOTTOM)
            most = now; // nothing is summed yet
        barrier();
        if (is_far != 0u) {
            const float by_row = most > BOTTOM ? gb_exp(most - now) : 1.0;

            most = now;
            sum *= by_row;
            if (thread % SHARE == 0u)
                factor[thread / SHARE] = by_row;
            [[unroll]] for (uint w = 0u; w < CHUNKS; w++) {
                [[unroll]] for (uint i = 0u; i < MY_RESULTS; i++) {
                    const uint which = gl_SubgroupID + i * SUBGROUPS;
                    const uint at = gl_SubgroupID * (M * N / 4u);

                    barrier();
                    if (which < RESULTS)
                        coopMatStore(sums[w][i], tile, at, N / 4u,
                                     gl_CooperativeMatrixLayoutRowMajor);
                    barrier();
                    for (uint e = gl_SubgroupInvocationID;
                         which < RESULTS && e < M * N / 4u; e += SUBGROUP)
                        tile[at + e] = floatBitsToUint(
                            uintBitsToFloat(tile[at + e]) *
                            factor[which / (WIDTH / N) * M + e * 4u / N]);
                    barrier();
                    if (which < RESULTS)
                        coopMatLoad(sums[w][i], tile, at, N / 4u,
                                    gl_CooperativeMatrixLayoutRowMajor);
                }
            }
        }
        [[unroll]] for (uint j = 0u; j < 8u; j++) {
            v[j] = v[j] > BOTTOM ? gb_exp(v[j] - most) : 0.0;
            sum += v[j];
        }
        weights[thread / SHARE * P_STRIDE + thread % SHARE] =
            gb_halves(v, 1.0);
        [[unroll]] for (uint w = 0u; w < CHUNKS; w++) {
            if (w * WIDTH >= p.d)
                break;
            barrier();
            load_tile(true, v_at + key * p.v_nb[0], p.v_nb[0], count,
                      w * WIDTH);
            barrier();
            [[unroll]] for (uint i = 0u; i < MY_RESULTS; i++) {
                const uint which = gl_SubgroupID + i * SUBGROUPS;
                const uint row = which / (WIDTH / N) * M;
                const uint col = which % (WIDTH / N) * N;

                if (which < RESULTS) {
                    [[unroll]] for (uint k = 0u; k < KEYS; k += K) {
                        coopmat<float16_t, gl_ScopeSubgroup, M, K,
                                gl_MatrixUseA> a;
                        coopmat<float16_t, gl_ScopeSubgroup, K, N,
                                gl_MatrixUseB> b;

                        coopMatLoad(a, weights, row * P_STRIDE + k / 8u,
                                    P_STRIDE,
                                    gl_CooperativeMatrixLayoutRowMajor);
                        coopMatLoad(b, tile, k * T_STRIDE + col / 8u, T_STRIDE,
                                    gl_CooperativeMatrixLayoutRowMajor);
                        sums[w][i] = coopMatMulAdd(a, b, sums[w][i]);
                    }
                }
            }
        }
    }

    // A row whose keys are all hidden is zeros.
    all = sum_of(sum);
    if (thread % SHARE == 0u) {
        const uint row = first_row + thread / SHARE;

        factor[thread / SHARE] =
            p.n_parts > 1u ? 1.0 : all > 0.0 ? 1.0 / all : 0.0;
        if (p.n_parts > 1u && row < rows_of_group()) {
            const uint result =
                head_of(row) +
                p.n_heads * (token_of(row) + p.n_tokens * batch);
            const uint to =
                p.at[0] + (part * p.n_rows + result) * (p.d + 2u) * 4u;

            gb_put_f32(dst, to, most);
            gb_put_f32(dst, to + 4u, all);
        }
    }
    [[unroll]] for (uint w = 0u; w < CHUNKS; w++) {
        [[unroll]] for (uint i = 0u; i < MY_RESULTS; i++) {
            const uint which = gl_SubgroupID + i * SUBGROUPS;
            const uint at = gl_SubgroupID * (M * N / 4u);

            barrier();
            if (which < RESULTS)
                coopMatStore(sums[w][i], tile, at, N / 4u,
                             gl_CooperativeMatrixLayoutRowMajor);
            barrier();
            for (uint e = gl_SubgroupInvocationID;
                 which < RESULTS && e < M * N; e += SUBGROUP) {
                const uint of_row = which / (WIDTH / N) * M + e / N;
                const uint row = first_row + of_row;
                const uint element = w * WIDTH + which % (WIDTH / N) * N + e % N;
                const uint result =
                    head_of(row) +
                    p.n_heads * (token_of(row) + p.n_tokens * batch);
                const uint to =
                    p.n_parts > 1u
                        ? p.at[0] + (part * p.n_rows + result) *
                                        (p.d + 2u) * 4u + 8u
                        : p.at[0] + result * p.d * 4u;

                if (row < rows_of_group() && element < p.d)
                    gb_put_f32(dst, to + element * 4u,
                               uintBitsToFloat(tile[at + e / 4u][e % 4u]) *
                                   factor[of_row]);
            }
        }
    }
}
