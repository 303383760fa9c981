#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/softmaxback.comp - the gradient of softmax: scale y (dy - the
// sum of y dy).
//
// A team a row, as for softmax; an element is read for the last time by the
// invocation that writes it, so that dst may be dy or y.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-softmaxback.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, dy, readonly);
GB_OPERAND(2, y, readonly);

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);
    const uint to = p.at[0] + gb_row_offset(row, p.dst_nb);
    const uint dy_at = p.at[1] + gb_row_offset(row, p.dy_nb);
    const uint y_at = p.at[2] + gb_row_offset(row, p.y_nb);
    float sum = 0.0;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        sum += gb_f32(y, y_at + 4u * i) * gb_f32(dy, dy_at + 4u * i);
    sum = gb_team_sum(sum);
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        gb_put_f32(dst, to + 4u * i,
                   p.scale * gb_f32(y, y_at + 4u * i) *
                       (gb_f32(dy, dy_at + 4u * i) - sum));
}
