#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/norm.comp - rows brought to mean 0 and variance 1, or to a
// mean square of 1, and the gradient of the latter.
//
// A team a row: 32 invocations of 256 up to 512 elements, all of them for
// longer rows.  A row is read two to three times, mostly from cache; memory is
// the limit.  The variance is summed around the mean, since the difference of
// two large sums would lose its digits.  An element is read for the last time
// by the invocation that writes it: dst may be a source.
//
// GB_NORM is 0 for NORM, 1 for RMS_NORM, 2 for RMS_NORM_BACK, which has src1.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-norm.h"
#include "common/tensor.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src0, readonly);
GB_OPERAND(2, src1, readonly);

// 1 / sqrt(SUM_SQ / n + eps).
float norm_factor(float sum_sq)
{
    return 1.0 / sqrt(sum_sq / float(p.n) + p.eps);
}

// Elements of rows at AT less their mean, N of them: 0 where the team has no
// row.
void norm(uint to, uint at, uint n)
{
    float mean = 0.0;
    float sum = 0.0;
    float factor;

    if (GB_NORM == 0) {
        for (uint i = gb_rank(); i < n; i += GB_TEAM)
            sum += gb_f32(src0, at + 4u * i);
        mean = gb_team_sum(sum) / float(p.n);
        sum = 0.0;
    }
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float x = gb_f32(src0, at + 4u * i) - mean;

        sum += x * x;
    }
    factor = norm_factor(gb_team_sum(sum));
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        gb_put_f32(dst, to + 4u * i,
                   (gb_f32(src0, at + 4u * i) - mean) * factor);
}

// The part of dz along x is taken off, since a longer x gives the same result
// but for eps, and the rest is scaled as x was.
void norm_back(uint to, uint dz, uint x, uint n)
{
    float sum_sq = 0.0;
    float along = 0.0;
    float part;
    float factor;

    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float value = gb_f32(src1, x + 4u * i);

        sum_sq += value * value;
        along += value * gb_f32(src0, dz + 4u * i);
    }
    sum_sq = gb_team_sum(sum_sq);
    part = gb_team_sum(along) / (float(p.n) * p.eps + sum_sq);
    factor = norm_factor(sum_sq);
    for (uint i = gb_rank(); i < n; i += GB_TEAM)
        gb_put_f32(dst, to + 4u * i,
                   (gb_f32(src0, dz + 4u * i) -
                    part * gb_f32(src1, x + 4u * i)) * factor);
}

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);
    const uint to = p.at[0] + gb_row_offset(row, p.dst_nb);
    const uint from = p.at[1] + gb_row_offset(row, p.src0_nb);

    if (GB_NORM == 2)
        norm_back(to, from, p.at[2] + gb_row_offset(row, p.src1_nb), n);
    else
        norm(to, from, n);
}
