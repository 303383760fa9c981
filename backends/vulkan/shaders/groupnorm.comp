#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/groupnorm.comp - groups of channels brought to mean 0 and
// variance 1.
//
// A work group of 256 a group, which is read three times; memory is the limit,
// for few large groups the one multiprocessor that each has.
#define GB_GLSL
#define GB_TEAM 256
#extension GL_GOOGLE_include_directive : require
#include "params-groupnorm.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

// Where element I of the group whose first channel is FIRST, of batch I3, lies.
uint element(uint i, uint first, uint i3, uint nb[3])
{
    const uint i0 = gb_take(i, p.ne[0]);
    uvec3 row;

    row.x = gb_take(i, p.ne[1]);
    row.y = first + i;
    row.z = i3;
    return 4u * i0 + gb_row_offset(row, nb);
}

void main()
{
    uint i3 = gb_group();
    const uint first = gb_take(i3, p.n_groups) * p.per_group;
    const uint channels = min(p.per_group, p.ne[2] - first);
    const uint n = i3 < p.ne[3] ? p.ne[0] * p.ne[1] * channels : 0u;
    float sum = 0.0;
    float sum_sq = 0.0;
    float mean, factor;

    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        sum += gb_f32(src, p.at[1] + element(i, first, i3, p.src_nb));
    mean = gb_team_sum(sum) / float(n);
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float x =
            gb_f32(src, p.at[1] + element(i, first, i3, p.src_nb)) - mean;

        sum_sq += x * x;
    }
    factor = 1.0 / sqrt(gb_team_sum(sum_sq) / float(n) + p.eps);
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float x =
            gb_f32(src, p.at[1] + element(i, first, i3, p.src_nb)) - mean;

        gb_put_f32(dst, p.at[0] + element(i, first, i3, p.dst_nb), x * factor);
    }
}
