#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/attention.comp - attention of queries to keys and values of
// one type.
//
// 128 invocations with ROWS queries of a group of heads, that go through a
// part of the keys, 32 at a time, with an online softmax ("Online normalizer
// calculation for softmax", arXiv 1805.02867; in tiles: "FlashAttention", arXiv
// 2205.14135):
//
//   scores   WIDTH elements of queries and keys at a time come as floats into
//            shared memory; an invocation has some queries times some keys
//   softmax  an invocation a query for the maximum and the sum
//   values   WIDTH elements of 32 values at a time, in the place of the keys;
//            an invocation has some queries times four neighbouring elements
//
// Sums of up to RANGE elements of a result are in registers; for longer
// heads more work groups find the scores again.  14 KiB of shared memory with
// 32 rows, whose bandwidth is the limit, 12 KiB with 8.
//
// GB_TYPE_…  of keys and values
// ROWS       32 for prompts; 8 for single tokens, which memory limits
// RANGE      256 or 128
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-attention.h"
#include "common/format.glsl"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/slope.glsl"

#define THREADS 128
#define KEYS    32
#define IS_FEW  (ROWS == 8u)
#define WIDTH   (IS_FEW ? 64u : 32u) // elements taken at a time
#define S_ROWS  (IS_FEW ? 2u : 4u)   // queries and keys of an invocation's scores
#define S_KEYS  (IS_FEW ? 1u : 2u)
#define V_ROWS  (IS_FEW ? 1u : 2u)   // queries of an invocation's values
#define STRIDE  (WIDTH / 4 + 1) // vectors of a row, so that eight neighbouring
                                // ones have all banks
#define P_STRIDE (KEYS + 1)
#define PIECES  (WIDTH / 8)
#define FOURS   (WIDTH / 4)

// Scores that the mask hides, and what is below all others.
#define HIDDEN  -3e38
#define BOTTOM  -1e38

layout(constant_id = 0) const uint ROWS = 32;
layout(constant_id = 1) const uint RANGE = 256;
layout(local_size_x = THREADS) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, q, readonly);
GB_OPERAND(2, keys, readonly);
GB_OPERAND(3, values, readonly);
GB_OPERAND(4, mask, readonly);

#ifndef GB_IS_FLOAT
bool of_values; // which operand is read

uint gb_word_of(uint i)
{
    if (of_values)
        return values_w[i];
    return keys_w[i];
}
#define GB_HAS_WORD_OF
#include "common/unpack.glsl"
#endif
#include "common/row8.glsl"
GB_FLOATS8(q8, q)
#ifdef GB_IS_FLOAT
GB_FLOATS8(keys8, keys)
GB_FLOATS8(values8, values)
#endif

shared vec4 queries[ROWS * STRIDE];
shared vec4 tile[KEYS * STRIDE];        // keys, then values
shared float scores[ROWS * P_STRIDE]; // mask, scores, exponentials
shared float row_max[ROWS], row_sum[ROWS];
shared float factor[ROWS]; // of what was summed up to now
shared uint is_seen[2];       // of these keys, and of the next ones

uint first_row, first_head, batch;
vec4 sums[RANGE / WIDTH][V_ROWS];

uint rows_of_group()
{
    return p.n_tokens * p.group;
}

// The token and the head of row N of the group.
uint token_of(uint n)
{
    return n / p.group;
}

uint head_of(uint n)
{
    return first_head + n % p.group;
}

// Of the mask for a head, for numbers of heads that are no power of two too.
float slope_of(uint head)
{
    return gb_slope(p.max_bias, 1u << findMSB(p.n_heads), head);
}

// Elements from FIRST on of the queries.
void load_queries(uint first)
{
    for (uint i = gl_LocalInvocationID.x; i < ROWS * PIECES; i += THREADS) {
        const uint row = i / PIECES, piece = i % PIECES;
        const uint n = first_row + row;
        float v[8];

        for (uint j = 0u; j < 8u; j++)
            v[j] = 0.0;
        if (n < rows_of_group() && first + piece * 8u < p.d)
            q8(GB_VK_F32,
               p.at[1] + token_of(n) * p.q_nb[0] + head_of(n) * p.q_nb[1] +
                   batch * p.q_nb[2],
               first + piece * 8u, p.d, v);
        queries[row * STRIDE + 2u * piece] = vec4(v[0], v[1], v[2], v[3]);
        queries[row * STRIDE + 2u * piece + 1u] = vec4(v[4], v[5], v[6], v[7]);
    }
}

// Elements from FIRST on of N keys, or values, whose first is at byte AT.
void load_tile(bool is_value, uint at, uint stride, uint n, uint first)
{
    for (uint i = gl_LocalInvocationID.x; i < KEYS * PIECES; i += THREADS) {
        const uint row = i / PIECES, piece = i % PIECES;
        const uint element = first + piece * 8u;
        float v[8];

        for (uint j = 0u; j < 8u; j++)
            v[j] = 0.0;
        if (row < n && element < p.d) {
#ifdef GB_IS_FLOAT
            if (is_value)
                values8(GB_WEIGHTS_FLOAT, at + row * stride, element, p.d, v);
            else
                keys8(GB_WEIGHTS_FLOAT, at + row * stride, element, p.d, v);
#else
            of_values = is_value;
            gb_unpack8(at + row * stride + element / GB_BLOCK * GB_BLOCK_BYTES,
                       element % GB_BLOCK / 8u, v);
#endif
        }
        tile[row * STRIDE + 2u * piece] = vec4(v[0], v[1], v[2], v[3]);
        tile[row * STRIDE + 2u * piece + 1u] = vec4(v[4], v[5], v[6], v[7]);
    }
}

// Of N keys from FIRST on: slope * mask, or HIDDEN.
void load_mask(uint first, uint n, uint parity)
{
    for (uint i = gl_LocalInvocationID.x; i < ROWS * KEYS; i += THREADS) {
        const uint row = i / KEYS, key = i % KEYS;
        const uint at_row = first_row + row;
        float value = HIDDEN;

        if (at_row < rows_of_group() && key < n) {
            value = 0.0;
            if (p.has_mask != 0u) {
                const uint at = p.at[4] + (first + key) * 2u +
                                token_of(at_row) * p.mask_nb;
                const uint bits = gb_u16(mask, at);

                value = bits == 0xfc00u ? HIDDEN
                                        : slope_of(head_of(at_row)) *
                                              gb_half_to_float(bits);
            }
            if (value > BOTTOM)
                atomicOr(is_seen[parity], 1u);
        }
        scores[row * P_STRIDE + key] = value;
    }
    if (gl_LocalInvocationID.x == 0u)
        is_seen[parity ^ 1u] = 0u;
}

// The scores of N keys, the first at byte AT, to those that are not hidden.
void find_scores(uint at, uint n)
{
    const uint key = gl_LocalInvocationID.x % (KEYS / S_KEYS);
    const uint row = gl_LocalInvocationID.x / (KEYS / S_KEYS) * S_ROWS;
    float z[S_ROWS][S_KEYS];

    [[unroll]] for (uint r = 0u; r < S_ROWS; r++)
        [[unroll]] for (uint c = 0u; c < S_KEYS; c++)
            z[r][c] = 0.0;
    for (uint i = 0u; i < p.d; i += WIDTH) {
        barrier();
        load_queries(i);
        load_tile(false, at, p.k_nb[0], n, i);
        barrier();
        for (uint j = 0u; j < FOURS; j++) {
            vec4 k[S_KEYS];

            [[unroll]] for (uint c = 0u; c < S_KEYS; c++)
                k[c] = tile[(key + c * (KEYS / S_KEYS)) * STRIDE + j];
            [[unroll]] for (uint r = 0u; r < S_ROWS; r++) {
                const vec4 four = queries[(row + r) * STRIDE + j];

                [[unroll]] for (uint c = 0u; c < S_KEYS; c++) {
                    z[r][c] = fma(four.x, k[c].x, z[r][c]);
                    z[r][c] = fma(four.y, k[c].y, z[r][c]);
                    z[r][c] = fma(four.z, k[c].z, z[r][c]);
                    z[r][c] = fma(four.w, k[c].w, z[r][c]);
                }
            }
        }
    }
    [[unroll]] for (uint r = 0u; r < S_ROWS; r++)
        [[unroll]] for (uint c = 0u; c < S_KEYS; c++) {
            const uint to = (row + r) * P_STRIDE + key + c * (KEYS / S_KEYS);
            float score = z[r][c] * p.scale;

            if (p.softcap != 0.0)
                score = p.softcap * gb_tanh(score);
            if (scores[to] > BOTTOM)
                scores[to] += score;
        }
}

// Exponentials of the scores in their place; the running maximum and sum, and
// the factor for what belongs to the maximum before.
void take_softmax()
{
    const uint thread = gl_LocalInvocationID.x;

    barrier();
    if (thread < ROWS) {
        const float before = row_max[thread];
        float most = before;

        for (uint i = 0u; i < KEYS; i++)
            most = max(most, scores[thread * P_STRIDE + i]);
        factor[thread] = before > BOTTOM ? gb_exp(before - most) : 0.0;
        row_max[thread] = most;
    }
    barrier();
    for (uint i = thread; i < ROWS * KEYS; i += THREADS) {
        const uint row = i / KEYS, at = row * P_STRIDE + i % KEYS;
        const float score = scores[at];

        scores[at] = score > BOTTOM ? gb_exp(score - row_max[row]) : 0.0;
    }
    barrier();
    if (thread < ROWS) {
        float sum = 0.0;

        for (uint i = 0u; i < KEYS; i++)
            sum += scores[thread * P_STRIDE + i];
        row_sum[thread] = fma(row_sum[thread], factor[thread], sum);
    }
}

// Add N values, the first at byte AT, times the exponentials; elements from
// FIRST on.
void add_values(uint at, uint n, uint first)
{
    const uint four = gl_LocalInvocationID.x % FOURS;
    const uint row = gl_LocalInvocationID.x / FOURS * V_ROWS;

    [[unroll]] for (uint w = 0u; w < RANGE / WIDTH; w++) {
        if (first + w * WIDTH < p.d) {
            barrier();
            load_tile(true, at, p.v_nb[0], n, first + w * WIDTH);
            barrier();
            [[unroll]] for (uint r = 0u; r < V_ROWS; r++)
                sums[w][r] *= factor[row + r];
            for (uint key = 0u; key < KEYS; key++) {
                const vec4 v = tile[key * STRIDE + four];

                [[unroll]] for (uint r = 0u; r < V_ROWS; r++)
                    sums[w][r] = fma(vec4(scores[(row + r) * P_STRIDE + key]),
                                     v, sums[w][r]);
            }
        }
    }
}

// Results of row R of the work group, which has N; elements from FIRST on.  A
// row whose keys are all hidden is zeros.
void store(uint n, uint r, uint w, uint first, uint part)
{
    const uint result = head_of(n) + p.n_heads * (token_of(n) +
                                                  p.n_tokens * batch);
    const float sum = row_sum[r];
    const float by = p.n_parts > 1u ? 1.0 : sum > 0.0 ? 1.0 / sum : 0.0;
    uint to = p.at[0] + result * p.d * 4u;

    if (p.n_parts > 1u) {
        to = p.at[0] + (part * p.n_rows + result) * (p.d + 2u) * 4u;
        if (first == 0u) {
            gb_put_f32(dst, to, row_max[r]);
            gb_put_f32(dst, to + 4u, sum);
        }
        to += 8u;
    }
    [[unroll]] for (uint j = 0u; j < 4u; j++)
        if (first + j < p.d)
            gb_put_f32(dst, to + (first + j) * 4u,
                       sums[w][r % V_ROWS][j] * by);
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    uint index = gb_group();
    uint first, part, first_key, end_key, k_at, v_at, parity = 0u;

    if (index >= p.n_groups)
        return;
    first = gb_take(index, (p.d + RANGE - 1u) / RANGE) * RANGE;
    part = gb_take(index, p.n_parts);
    first_row = gb_take(index, (rows_of_group() + ROWS - 1u) / ROWS) *
                ROWS;
    first_head = gb_take(index, p.n_heads / p.group) * p.group;
    batch = index;
    first_key = part * p.part;
    end_key = min(first_key + p.part, p.n_keys);
    k_at = p.at[2] + first_head / p.k_heads * p.k_nb[1] +
           batch / p.k_batches * p.k_nb[2];
    v_at = p.at[3] + first_head / p.v_heads * p.v_nb[1] +
           batch / p.v_batches * p.v_nb[2];

    [[unroll]] for (uint w = 0u; w < RANGE / WIDTH; w++)
        [[unroll]] for (uint r = 0u; r < V_ROWS; r++)
            sums[w][r] = vec4(0.0);
    if (thread < ROWS) {
        row_max[thread] = HIDDEN;
        row_sum[thread] = 0.0;
    }
    if (thread < 2u)
        is_seen[thread] = 0u;
    for (uint key = first_key; key < end_key; key += KEYS) {
        const uint n = min(end_key - key, KEYS);

        barrier();
        load_mask(key, n, parity);
        barrier();
        parity ^= 1u;
        if (is_seen[parity ^ 1u] != 0u) {
            find_scores(k_at + key * p.k_nb[0], n);
            take_softmax();
            add_values(v_at + key * p.v_nb[0], n, first);
        }
    }
    barrier();
    [[unroll]] for (uint w = 0u; w < RANGE / WIDTH; w++)
        [[unroll]] for (uint r = 0u; r < V_ROWS; r++) {
            const uint row = thread / FOURS * V_ROWS + r;

            if (first_row + row < rows_of_group())
                store(first_row + row, row, w,
                      first + w * WIDTH + thread % FOURS * 4u, part);
        }
}
