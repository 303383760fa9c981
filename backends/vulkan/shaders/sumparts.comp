#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/sumparts.comp - sums of parts of all elements, or how many of
// them are equal in two tensors of I32.
//
// A work group of 256 a part, whose size is fixed, so that the order is always
// the same.  Counts are exact, being below 2^24.  Each element is read once:
// memory is the limit, for short rows the divisions that find an element's
// place.
//
// GB_COUNT is 1 for equal elements.
#define GB_GLSL
#define GB_TEAM 256
#extension GL_GOOGLE_include_directive : require
#include "params-parts.h"
#include "common/tensor.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, parts, writeonly);
GB_OPERAND(1, src0, readonly);
GB_OPERAND(2, src1, readonly);

float term(uint i)
{
    const uint from = p.at[1] + gb_offset(i, p.ne, p.src0_nb);

    if (GB_COUNT == 0)
        return gb_load(src0, p.src_type, from);
    return gb_u32(src0, from) ==
                   gb_u32(src1, p.at[2] + gb_offset(i, p.ne, p.src1_nb))
               ? 1.0
               : 0.0;
}

void main()
{
    const uint part = gb_group();
    const uint first = part * p.per_part;
    const uint n = part < p.n_parts ? min(p.per_part, p.n - first) : 0u;
    float sum = 0.0;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        sum += term(first + i);
    sum = gb_team_sum(sum);
    if (gb_rank() == 0u && part < p.n_parts)
        gb_put_f32(parts, p.at[0] + 4u * part, sum);
}
