#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/narrowattention.comp - attention of queries to keys and values
// of one type, where subgroups are the vectors of a processor (narrow.comp says
// what is cheap there).
//
// A work group is a subgroup, with ROWS queries of a group of heads, that goes
// through a part of the keys with an online softmax, as attention.comp does:
//
//   scores   a lane has a key, and the lanes hand the queries round
//   values   a lane has D / LANES elements of the results, and the lanes hand
//            the exponentials round
//
// Keys that no query of the work group sees are skipped, by a loop: a branch
// would be gone through.
//
// GB_TYPE_…  of keys and values: F16, whose rows begin at whole words, or in
//            blocks
// ROWS       queries
// D          elements of a head, a multiple of 8 * LANES
// LANES      of a subgroup: 4, 8 or 16; the device's
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#extension GL_KHR_shader_subgroup_shuffle : require
#include "params-attention.h"
#include "common/format.glsl"
#include "common/tensor.glsl"
#include "common/math.glsl"
#include "common/slope.glsl"

#define PIECE 8

// Scores that the mask hides, and what is below all others.
#define HIDDEN  -3e38
#define BOTTOM  -1e38

layout(constant_id = 0) const uint ROWS = 8;
layout(constant_id = 1) const uint D = 64;
layout(constant_id = 2) const uint LANES = 8;
const uint EACH = D / LANES; // elements of a lane
layout(local_size_x_id = 2) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, q, readonly);
GB_OPERAND(2, keys, readonly);
GB_OPERAND(3, values, readonly);
GB_OPERAND(4, mask, readonly);

bool of_values; // which operand is read

uint gb_word_of(uint i)
{
    if (of_values)
        return values_w[i];
    return keys_w[i];
}
#define GB_HAS_WORD_OF

#ifdef GB_TYPE_F16
void read8(uint row, uint i, out float v[PIECE])
{
    const uint first = (row >> 2) + (i >> 1);

    [[unroll]] for (uint j = 0u; j < PIECE / 2u; j++) {
        const vec2 two = unpackHalf2x16(gb_word_of(first + j));

        v[2u * j] = two.x;
        v[2u * j + 1u] = two.y;
    }
}
#else
#include "common/unpack.glsl"

void read8(uint row, uint i, out float v[PIECE])
{
    gb_unpack8(row + i / GB_BLOCK * GB_BLOCK_BYTES, i % GB_BLOCK / PIECE, v);
}
#endif

uint lane, row_of_mask[ROWS];
float slope[ROWS];
float query[ROWS][EACH];
float sums[ROWS][EACH];
float row_max[ROWS], row_sum[ROWS]; // the sum: of this lane's keys
float score[ROWS];                  // of this lane's key

float max_of_lanes(float value)
{
    [[unroll]] for (uint i = 1u; i < LANES; i *= 2u)
        value = max(value, subgroupShuffleXor(value, i));
    return value;
}

float sum_of_lanes(float value)
{
    [[unroll]] for (uint i = 1u; i < LANES; i *= 2u)
        value += subgroupShuffleXor(value, i);
    return value;
}

// Of the keys from FIRST on, of which there are N: slope * mask, or HIDDEN.
// The largest of all queries and lanes.
float load_mask(uint first, uint n)
{
    float most = HIDDEN;

    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        float value = 0.0;

        if (p.has_mask != 0u) {
            const uint bits = gb_u16(
                mask, row_of_mask[r] + (first + min(lane, n - 1u)) * 2u);

            value = bits == 0xfc00u ? HIDDEN
                                    : slope[r] * gb_half_to_float(bits);
        }
        score[r] = lane < n ? value : HIDDEN;
        most = max(most, score[r]);
    }
    return max_of_lanes(most);
}

// The scores of the key at byte ROW, where it is not hidden.
void find_scores(uint row)
{
    float z[ROWS];

    [[unroll]] for (uint r = 0u; r < ROWS; r++)
        z[r] = 0.0;
    of_values = false;
    [[unroll]] for (uint i = 0u; i < D; i += PIECE) {
        float k[PIECE];

        read8(row, i, k);
        [[unroll]] for (uint j = 0u; j < PIECE; j++) {
            const uint at = i + j;

            [[unroll]] for (uint r = 0u; r < ROWS; r++)
                z[r] = fma(subgroupShuffle(query[r][at / LANES], at % LANES),
                           k[j], z[r]);
        }
    }
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
        score[r] = score[r] > BOTTOM ? score[r] + z[r] : HIDDEN;
}

// Exponentials of the scores in their place, the running maximum and sum.
void take_softmax()
{
    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        const float before = row_max[r];
        const float most = max(before, max_of_lanes(score[r]));
        const float factor = before > BOTTOM ? gb_exp(before - most) : 0.0;

        score[r] = score[r] > BOTTOM ? gb_exp(score[r] - most) : 0.0;
        row_max[r] = most;
        row_sum[r] = fma(row_sum[r], factor, score[r]);
        [[unroll]] for (uint i = 0u; i < EACH; i++)
            sums[r][i] *= factor;
    }
}

// Add N values, the first at byte AT, times the exponentials.
void add_values(uint at, uint n)
{
    of_values = true;
    for (uint key = 0u; key < n; key++) {
        const uint row = at + key * p.v_nb[0];
        float by[ROWS];

        [[unroll]] for (uint r = 0u; r < ROWS; r++)
            by[r] = subgroupShuffle(score[r], key);
        [[unroll]] for (uint i = 0u; i < EACH; i += PIECE) {
            float v[PIECE];

            read8(row, i * LANES + lane * PIECE, v);
            [[unroll]] for (uint j = 0u; j < PIECE; j++) {
                const uint to = i + j;

                [[unroll]] for (uint r = 0u; r < ROWS; r++)
                    sums[r][to] = fma(by[r], v[j], sums[r][to]);
            }
        }
    }
}

// Row R, which is that of RESULT.  One whose keys are all hidden is zeros.
void store(uint result, uint r, uint part)
{
    const float sum = sum_of_lanes(row_sum[r]);
    const float by = p.n_parts > 1u ? 1.0 : sum > 0.0 ? 1.0 / sum : 0.0;
    uint to = p.at[0] + result * D * 4u;

    if (p.n_parts > 1u) {
        to = p.at[0] + (part * p.n_rows + result) * (D + 2u) * 4u;
        if (lane == 0u) {
            gb_put_f32(dst, to, row_max[r]);
            gb_put_f32(dst, to + 4u, sum);
        }
        to += 8u;
    }
    [[unroll]] for (uint i = 0u; i < EACH; i += PIECE)
        [[unroll]] for (uint j = 0u; j < PIECE; j++)
            gb_put_f32(dst, to + (i * LANES + lane * PIECE + j) * 4u,
                       sums[r][i + j] * by);
}

void main()
{
    const uint n_rows = p.n_tokens * p.group;
    uint index = gb_group();
    uint part, first_row, first_head, batch, end, k_at, v_at, to[ROWS];

    if (index >= p.n_groups)
        return;
    lane = gl_SubgroupInvocationID;
    part = gb_take(index, p.n_parts);
    first_row = gb_take(index, (n_rows + ROWS - 1u) / ROWS) * ROWS;
    first_head = gb_take(index, p.n_heads / p.group) * p.group;
    batch = index;
    end = min((part + 1u) * p.part, p.n_keys);
    k_at = p.at[2] + first_head / p.k_heads * p.k_nb[1] +
           batch / p.k_batches * p.k_nb[2];
    v_at = p.at[3] + first_head / p.v_heads * p.v_nb[1] +
           batch / p.v_batches * p.v_nb[2];

    [[unroll]] for (uint r = 0u; r < ROWS; r++) {
        const uint n = min(first_row + r, n_rows - 1u);
        const uint token = n / p.group, head = first_head + n % p.group;
        const uint row = p.at[1] + token * p.q_nb[0] + head * p.q_nb[1] +
                         batch * p.q_nb[2];

        to[r] = head + p.n_heads * (token + p.n_tokens * batch);
        row_of_mask[r] = p.at[4] + token * p.mask_nb;
        slope[r] = gb_slope(p.max_bias, 1u << findMSB(p.n_heads), head);
        row_max[r] = HIDDEN;
        row_sum[r] = 0.0;
        [[unroll]] for (uint i = 0u; i < EACH; i++) {
            query[r][i] = gb_f32(q, row + (i * LANES + lane) * 4u) * p.scale;
            sums[r][i] = 0.0;
        }
    }
    for (uint key = part * p.part; key < end; key += LANES) {
        while (key < end &&
               load_mask(key, min(end - key, LANES)) <= BOTTOM)
            key += LANES;
        if (key >= end)
            break;
        find_scores(k_at + min(key + lane, end - 1u) * p.k_nb[0]);
        take_softmax();
        add_values(v_at + key * p.v_nb[0], min(end - key, LANES));
    }
    [[unroll]] for (uint r = 0u; r < ROWS; r++)
        if (first_row + r < n_rows)
            store(to[r], r, part);
}
