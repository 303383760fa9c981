#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/softmax.comp - softmax of rows, with a scale and a mask, and with
// what scales and masks them before.
//
// A team a row: 32 invocations of 256 up to 512 elements, all of them for
// longer rows.  Three passes: the largest score, the exponentials and their
// sum, the division.  An invocation sees the same elements in each pass, so
// that the exponentials wait in the result, and dst may be src.  Memory is the
// limit, mostly the cache.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-softmax.h"
#include "common/tensor.glsl"
#include "common/exact.glsl"
#include "common/math.glsl"
#include "common/rows.glsl"
#include "common/slope.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, mask, readonly);
GB_OPERAND(3, scaled, writeonly);
GB_OPERAND(4, masked, writeonly);

// Where a row begins in the operands, and what it is of its matrix.
struct places {
    uint to, from, mask, inner;
    uint row;
    float slope;
};

bool has(uint flag)
{
    return (p.flags & flag) != 0u;
}

// What is before the scores of softmax: each step is rounded as the operation by
// itself rounds it.  All is read before anything is written.
float element(places at, uint i, bool is_last)
{
    float x = gb_f32(src, at.from + 4u * i);
    float y;

    if (has(GB_VK_SOFT_MAX_FACTOR))
        x = gb_mul(x, p.factor);
    y = x;
    if (has(GB_VK_SOFT_MAX_ADDS))
        y = gb_add(x, gb_f32(mask, at.mask + 4u * i));
    if (has(GB_VK_SOFT_MAX_DIAGONAL) && i > p.n_past + at.row)
        y = uintBitsToFloat(p.value);
    if (is_last && has(GB_VK_SOFT_MAX_SCALED))
        gb_put_f32(scaled, p.at[3] + at.inner + 4u * i, x);
    if (is_last && has(GB_VK_SOFT_MAX_MASKED))
        gb_put_f32(masked, p.at[4] + at.inner + 4u * i, y);
    return y;
}

// Element I; the last time that it is asked for if IS_LAST.
float score(places at, uint i, bool is_last)
{
    const float product = gb_mul(p.scale, element(at, i, is_last));

    if (!has(GB_VK_SOFT_MAX_HAS_MASK))
        return product;
    if (p.mask_type == GB_VK_F32)
        return product + at.slope * gb_f32(mask, at.mask + 4u * i);
    return product +
           at.slope * gb_half_to_float(gb_u16(mask, at.mask + 2u * i));
}

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);
    const places at = places(p.at[0] + gb_row_offset(row, p.dst_nb),
                             p.at[1] + gb_row_offset(row, p.src_nb),
                             p.at[2] + gb_row_offset(row, p.mask_nb),
                             number * p.n * 4u, row.x,
                             gb_slope(p.max_bias, p.power, row.y));
    float largest = -GB_INFINITY;
    float sum = 0.0;
    float factor;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        largest = max(largest, score(at, i, false));
    largest = gb_team_max(largest);
    // Of nothing but -infinity any shift makes zeros, but -infinity itself.
    largest = floatBitsToUint(largest) == 0xff800000u ? 0.0 : largest;
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float value = gb_exp(gb_sub(score(at, i, true), largest));

        gb_put_f32(dst, at.to + 4u * i, value);
        sum += value;
    }
    sum = gb_team_sum(sum);
    factor = sum == 0.0 ? 0.0 : 1.0 / sum;
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        gb_put_f32(dst, at.to + 4u * i, gb_f32(dst, at.to + 4u * i) * factor);
}
