#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/route.comp - the experts of a token and how much they count:
// softmax, the order of the probabilities, those that come first, and their shares
// of their sum.
//
// A team of 32 a row, as softmax and sums of rows of that length have, in the same
// order; the order is found by counting for each element those in front of it.
// Latency is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-route.h"
#include "common/tensor.glsl"
#include "common/exact.glsl"
#include "common/math.glsl"
#include "common/sort.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, src, readonly);
GB_OPERAND(1, values, writeonly);
GB_OPERAND(2, order, writeonly);
GB_OPERAND(3, picked, writeonly);
GB_OPERAND(4, sums, writeonly);
GB_OPERAND(5, shares, writeonly);

#define MOST (GB_VK_ROUTE_MOST / GB_TEAM) // elements of an invocation

// Of each team the keys of a row, then what is picked of it, as bits.
shared uint kept[GB_TEAMS * GB_VK_ROUTE_MOST];

bool is_written(uint member)
{
    return (p.written >> member & 1u) != 0u;
}

float score(uint from, uint i)
{
    return gb_mul(p.scale, gb_f32(src, from + 4u * i));
}

// Softmax of the row at FROM: elements gb_rank() and every GB_TEAM-th behind it.
void soft_max(uint from, uint n, out float value[MOST])
{
    float largest = -GB_INFINITY;
    float sum = 0.0;
    float factor;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        largest = max(largest, score(from, i));
    largest = gb_team_max(largest);
    largest = floatBitsToUint(largest) == 0xff800000u ? 0.0 : largest;
    for (uint k = 0u; k < MOST; k++) {
        const uint i = gb_rank() + GB_TEAM * k;

        value[k] = 0.0;
        if (i < n) {
            value[k] = gb_exp(gb_sub(score(from, i), largest));
            sum += value[k];
        }
    }
    sum = gb_team_sum(sum);
    factor = sum == 0.0 ? 0.0 : 1.0 / sum;
    for (uint k = 0u; k < MOST; k++)
        value[k] *= factor;
}

// How many of the N keys from FIRST on are before that of element I.
uint rank_of(uint first, uint i, uint n)
{
    const uvec2 key = uvec2(i, kept[first + i]);
    uint rank = 0u;

    for (uint j = 0u; j < n; j++)
        rank += uint(gb_is_less(uvec2(j, kept[first + j]), key));
    return rank;
}

void main()
{
    const uint row = gb_team_row();
    const uint n = row < p.n_rows ? p.n : 0u;
    const uint n_picked = row < p.n_rows ? p.n_picked : 0u;
    const uint first =
        gl_LocalInvocationID.x / uint(GB_TEAM) * uint(GB_VK_ROUTE_MOST);
    float value[MOST];
    uint rank[MOST];
    float sum = 0.0;

    soft_max(p.at[0] + row * p.src_nb, n, value);
    for (uint k = 0u; k < MOST; k++) {
        const uint i = gb_rank() + GB_TEAM * k;

        if (i < n)
            kept[first + i] =
                gb_sort_key(value[k], i, p.is_descending != 0u).y;
        if (i < n && is_written(0u))
            gb_put_f32(values, p.at[1] + 4u * (row * n + i), value[k]);
    }
    barrier();
    for (uint k = 0u; k < MOST; k++) {
        const uint i = gb_rank() + GB_TEAM * k;

        rank[k] = i < n ? rank_of(first, i, n) : 0u;
        if (i < n && is_written(1u))
            gb_put_u32(order, p.at[2] + 4u * (row * n + rank[k]), i);
    }
    barrier();
    for (uint k = 0u; k < MOST; k++)
        if (gb_rank() + GB_TEAM * k < n && rank[k] < n_picked)
            kept[first + rank[k]] = floatBitsToUint(value[k]);
    barrier();
    for (uint i = gb_rank(); i < n_picked; i += GB_TEAM) {
        sum += uintBitsToFloat(kept[first + i]);
        if (is_written(2u))
            gb_put_u32(picked, p.at[3] + 4u * (row * n_picked + i),
                       kept[first + i]);
    }
    sum = gb_team_sum(sum);
    if (is_written(3u) && gb_rank() == 0u && row < p.n_rows)
        gb_put_f32(sums, p.at[4] + 4u * row, sum);
    for (uint i = gb_rank(); is_written(4u) && i < n_picked; i += GB_TEAM)
        gb_put_f32(shares, p.at[5] + 4u * (row * n_picked + i),
                   uintBitsToFloat(kept[first + i]) / sum);
}
