#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/softmax.comp - softmax of rows, with a scale and a mask.
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
#include "common/math.glsl"
#include "common/rows.glsl"
#include "common/slope.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, mask, readonly);

// Element I of the row at FROM, whose mask is at MASK_AT.
float score(uint i, uint from, uint mask_at, float slope)
{
    const float scaled = p.scale * gb_f32(src, from + 4u * i);

    if (p.has_mask == 0u)
        return scaled;
    if (p.mask_type == GB_VK_F32)
        return scaled + slope * gb_f32(mask, mask_at + 4u * i);
    return scaled + slope * gb_half_to_float(gb_u16(mask, mask_at + 2u * i));
}

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);
    const uint to = p.at[0] + gb_row_offset(row, p.dst_nb);
    const uint from = p.at[1] + gb_row_offset(row, p.src_nb);
    const uint mask_at = p.at[2] + row.x * p.mask_nb;
    const float slope = gb_slope(p.max_bias, p.power, row.y);
    float largest = -GB_INFINITY;
    float sum = 0.0;
    float factor;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        largest = max(largest, score(i, from, mask_at, slope));
    largest = gb_team_max(largest);
    // Of nothing but -infinity any shift makes zeros, but -infinity itself.
    largest = floatBitsToUint(largest) == 0xff800000u ? 0.0 : largest;
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float value = gb_exp(score(i, from, mask_at, slope) - largest);

        gb_put_f32(dst, to + 4u * i, value);
        sum += value;
    }
    sum = gb_team_sum(sum);
    factor = sum == 0.0 ? 0.0 : 1.0 / sum;
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        gb_put_f32(dst, to + 4u * i, gb_f32(dst, to + 4u * i) * factor);
}
