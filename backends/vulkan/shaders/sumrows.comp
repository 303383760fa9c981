#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/sumrows.comp - sums, or means, of rows.
//
// A team a row: 32 invocations of 256 up to 512 elements, all of them for
// longer rows; each element is read once, memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-sumrows.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.ne[0] : 0u;
    uint index = number;
    uvec3 row;
    uint from, to;
    float sum = 0.0;

    row.x = gb_take(index, p.ne[1]);
    row.y = gb_take(index, p.ne[2]);
    row.z = index;
    to = p.at[0] + gb_row_offset(row, p.dst_nb);
    from = p.at[1] + row.x * p.src_nb[1] + row.y * p.src_nb[2] +
           row.z * p.src_nb[3];
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        sum += gb_load(src, p.src_type, from + i * p.src_nb[0]);
    sum = gb_team_sum(sum) / p.divisor;
    if (gb_rank() == 0u && number < p.n_rows)
        gb_store(dst, p.dst_type, to, sum);
}
