#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/attentionwide.comp - attention of few queries to keys and values of
// F16 whose rows begin at multiples of 16 bytes, on cards.
//
// 128 invocations with ROWS queries of a group of heads and a part of the keys.  Each
// subgroup goes through its share of them with an online softmax of its own (see
// attention.comp), so that none waits for another before the end:
//
//   scores   a lane has a key, 16 bytes at a time, times all queries
//   softmax  the maximum over the subgroup; exponentials go to shared memory
//   values   lanes beside each other have four neighbouring elements each; where
//            there are more lanes than those, sets of lanes have every second value
//
// 12 KiB of shared memory at most.
//
// ROWS      4 or 8
// D         elements of a head: 64, 128 or 256
// SUBGROUP  invocations of one
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#extension GL_KHR_shader_subgroup_basic : require
#include "params-attention.h"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/slope.glsl"

#define THREADS 128
#define HIDDEN  -3e38
#define BOTTOM  -1e38

layout(constant_id = 0) const uint ROWS = 8;
layout(constant_id = 1) const uint D = 128;
layout(constant_id = 5) const uint SUBGROUP = 32;
layout(local_size_x = THREADS) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, q, readonly);
layout(set = 0, binding = 2, std430) readonly buffer keys_buffer
{
    uvec4 keys_v[];
};
layout(set = 0, binding = 3, std430) readonly buffer values_buffer
{
    uvec2 values_v[];
};
GB_OPERAND(4, mask, readonly);

const uint FOURS = D / 4;
const uint SETS = SUBGROUP > FOURS ? SUBGROUP / FOURS : 1; // of lanes
const uint MINE = SUBGROUP > FOURS ? 1 : FOURS / SUBGROUP; // fours of a lane
const uint SUBGROUPS = THREADS / SUBGROUP;
const uint R4 = ROWS / 4;

shared vec4 queries[ROWS * FOURS]; // at the end sums
shared vec4 weights[THREADS * R4]; // exponentials of each lane's key
shared float slopes[ROWS];
shared float largest[SUBGROUPS * ROWS], total[SUBGROUPS * ROWS];

uint first_row, first_head, batch;

uint rows_of_group()
{
    return p.n_tokens * p.group;
}

uint token_of(uint n)
{
    return n / p.group;
}

uint head_of(uint n)
{
    return first_head + n % p.group;
}

void load_queries()
{
    const uint thread = gl_LocalInvocationID.x;

    for (uint i = thread; i < ROWS * FOURS; i += THREADS) {
        const uint n = first_row + i / FOURS;
        vec4 four = vec4(0.0);

        if (n < rows_of_group()) {
            const uint at = p.at[1] + token_of(n) * p.q_nb[0] +
                            head_of(n) * p.q_nb[1] + batch * p.q_nb[2] +
                            i % FOURS * 16u;

            [[unroll]] for (uint j = 0u; j < 4u; j++)
                four[j] = gb_f32(q, at + 4u * j);
        }
        queries[i] = four;
    }
    if (thread < ROWS)
        slopes[thread] = gb_slope(p.max_bias, 1u << findMSB(p.n_heads),
                                  head_of(first_row + thread));
    barrier();
}

// What the mask adds to row R's score of KEY, or HIDDEN.
float mask_of(uint r, uint key)
{
    const uint n = first_row + r;
    uint bits;

    if (n >= rows_of_group())
        return HIDDEN;
    if (p.has_mask == 0u)
        return 0.0;
    bits = gb_u16(mask, p.at[4] + key * 2u + token_of(n) * p.mask_nb);
    return bits == 0xfc00u ? HIDDEN : slopes[r] * gb_half_to_float(bits);
}

// The key at byte AT times all queries.
void find_scores(uint at, out float z[ROWS])
{
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
        z[r] = 0.0;
    [[unroll]] for (uint i = 0u; i < D / 8u; i++) {
        const uvec4 words = keys_v[(at >> 4) + i];
        const vec4 first = vec4(unpackHalf2x16(words.x), unpackHalf2x16(words.y));
        const vec4 second =
            vec4(unpackHalf2x16(words.z), unpackHalf2x16(words.w));

        [[unroll]] for (uint r = 0u; r < ROWS; r++) {
            const vec4 a = queries[r * FOURS + 2u * i];
            const vec4 b = queries[r * FOURS + 2u * i + 1u];

            [[unroll]] for (uint j = 0u; j < 4u; j++)
                z[r] = fma(a[j], first[j], z[r]);
            [[unroll]] for (uint j = 0u; j < 4u; j++)
                z[r] = fma(b[j], second[j], z[r]);
        }
    }
}

void main()
{
    const uint thread = gl_LocalInvocationID.x;
    const uint lane = gl_SubgroupInvocationID;
    const uint set = SETS > 1u ? lane / FOURS : 0u;
    const uint mine = SETS > 1u ? lane % FOURS : lane;
    const uint place = gl_SubgroupID * SUBGROUP; // of weights
    uint index = gb_group();
    uint part, first_key, end_key, k_at, v_at;
    float most[ROWS], sum[ROWS];
    vec4 sums[MINE][ROWS];

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
    load_queries();
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        most[r] = HIDDEN;
        sum[r] = 0.0;
        [[unroll]] for (uint m = 0u; m < MINE; m++)
            sums[m][r] = vec4(0.0);
    }

    // All subgroups take the same turns, with keys or without: a driver may have all
    // wait at a subgroup's barrier (lavapipe of Mesa 26.1).
    for (uint turn = first_key; turn < end_key; turn += THREADS) {
        const uint first = turn + place;
        const uint key = min(first + lane, end_key - 1u);
        float add[ROWS], z[ROWS], seen = HIDDEN;
        bool is_seen;

        [[unroll]] for (uint r = 0u; r < ROWS; r++) {
            add[r] = first + lane < end_key ? mask_of(r, key) : HIDDEN;
            seen = max(seen, add[r]);
        }
        is_seen = subgroupMax(seen) > BOTTOM;
        if (is_seen) {
            find_scores(k_at + key * p.k_nb[0], z);
            [[unroll]] for (uint r = 0u; r < ROWS; r++) {
                const float before = most[r];
                float score = z[r] * p.scale, factor, weight;

                if (p.softcap != 0.0)
                    score = p.softcap * gb_tanh(score);
                score = add[r] > BOTTOM ? score + add[r] : HIDDEN;
                most[r] = max(before, subgroupMax(score));
                factor = before > BOTTOM ? gb_exp(before - most[r]) : 0.0;
                weight = score > BOTTOM ? gb_exp(score - most[r]) : 0.0;
                sum[r] = fma(sum[r], factor, weight);
                [[unroll]] for (uint m = 0u; m < MINE; m++)
                    sums[m][r] *= factor;
                weights[(place + lane) * R4 + r / 4u][r % 4u] = weight;
            }
        }
        subgroupBarrier();
        if (is_seen)
            [[unroll]] for (uint i = 0u; i < SUBGROUP; i += SETS) {
                const uint at =
                    v_at + min(first + i + set, end_key - 1u) * p.v_nb[0];
                vec4 weight[R4];

                [[unroll]] for (uint j = 0u; j < R4; j++)
                    weight[j] = weights[(place + i + set) * R4 + j];
                [[unroll]] for (uint m = 0u; m < MINE; m++) {
                    const uvec2 words =
                        values_v[(at >> 3) + mine + m * SUBGROUP];
                    const vec4 v = vec4(unpackHalf2x16(words.x),
                                        unpackHalf2x16(words.y));

                    [[unroll]] for (uint r = 0u; r < ROWS; r++)
                        sums[m][r] =
                            fma(vec4(weight[r / 4u][r % 4u]), v, sums[m][r]);
                }
            }
        subgroupBarrier();
    }

    // All subgroups' sums, by the largest of their maxima, in the place of queries.
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        const float all = subgroupAdd(sum[r]);

        if (lane == 0u) {
            largest[gl_SubgroupID * ROWS + r] = most[r];
            total[gl_SubgroupID * ROWS + r] = all;
        }
    }
    barrier();
    for (uint i = thread; i < ROWS * FOURS; i += THREADS)
        queries[i] = vec4(0.0);
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        float highest = largest[r], factor;

        for (uint s = 1u; s < SUBGROUPS; s++)
            highest = max(highest, largest[s * ROWS + r]);
        factor = most[r] > BOTTOM ? gb_exp(most[r] - highest) : 0.0;
        [[unroll]] for (uint m = 0u; m < MINE; m++)
            sums[m][r] *= factor;
    }
    barrier();
    for (uint s = 0u; s < SUBGROUPS * SETS; s++) {
        if (gl_SubgroupID * SETS + set == s)
            [[unroll]] for (uint r = 0u; r < ROWS; r++)
                [[unroll]] for (uint m = 0u; m < MINE; m++)
                    queries[r * FOURS + mine + m * SUBGROUP] += sums[m][r];
        barrier();
    }

    for (uint i = thread; i < ROWS * FOURS; i += THREADS) {
        const uint r = i / FOURS, n = first_row + r;
        const uint result = head_of(n) + p.n_heads * (token_of(n) +
                                                      p.n_tokens * batch);
        float highest = HIDDEN, all = 0.0, by = 1.0;
        uint to = p.at[0] + result * D * 4u;

        if (n >= rows_of_group())
            continue;
        for (uint s = 0u; s < SUBGROUPS; s++)
            highest = max(highest, largest[s * ROWS + r]);
        for (uint s = 0u; s < SUBGROUPS; s++)
            if (largest[s * ROWS + r] > BOTTOM)
                all = fma(total[s * ROWS + r],
                          gb_exp(largest[s * ROWS + r] - highest), all);
        if (p.n_parts > 1u) {
            to = p.at[0] + (part * p.n_rows + result) * (D + 2u) * 4u;
            if (i % FOURS == 0u) {
                gb_put_f32(dst, to, highest);
                gb_put_f32(dst, to + 4u, all);
            }
            to += 8u;
        } else {
            by = all > 0.0 ? 1.0 / all : 0.0;
        }
        [[unroll]] for (uint j = 0u; j < 4u; j++)
            gb_put_f32(dst, to + (i % FOURS * 4u + j) * 4u, queries[i][j] * by);
    }
}
