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
// The first two may be of sums of two rows, or of rows that are picked, and
// multiply the result and add to it: each step is rounded as the operation by
// itself rounds it.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-norm.h"
#include "common/tensor.glsl"
#include "common/exact.glsl"
#include "common/rows.glsl"
#include "common/team.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src0, readonly);
GB_OPERAND(2, src1, readonly);
#if GB_NORM != 2
GB_OPERAND(3, weights, readonly);
GB_OPERAND(4, bias, readonly);
GB_OPERAND(5, sums, writeonly);
GB_OPERAND(6, normed, writeonly);
GB_OPERAND(7, scaled, writeonly);
#endif

// 1 / sqrt(SUM_SQ / n + eps).
float norm_factor(float sum_sq)
{
    return 1.0 / sqrt(sum_sq / float(p.n) + p.eps);
}

#if GB_NORM != 2

// Where a row begins in the operands.
struct places {
    uint to, from, with, weights, bias, inner;
    bool is_there; // or else it has zeros
};

bool has(uint flag)
{
    return (p.flags & flag) != 0u;
}

float element(places at, uint i)
{
    float x = at.is_there ? gb_f32(src0, at.from + 4u * i) : 0.0;

    if (has(GB_VK_NORM_ADDS))
        x = gb_add(x, gb_f32(src1, at.with + 4u * i));
    return x;
}

// Element I, which was X, is Y.  All is read before anything is written.
void put(places at, uint i, float x, float y)
{
    float w = 1.0, b = 0.0, z = y, last;

    if (has(GB_VK_NORM_WEIGHS)) {
        w = gb_f32(weights, at.weights + 4u * i);
        z = gb_mul(y, w);
    }
    last = z;
    if (has(GB_VK_NORM_HAS_BIAS)) {
        b = gb_f32(bias, at.bias + 4u * i);
        last = gb_add(z, b);
    }
    if (has(GB_VK_NORM_SUMS))
        gb_put_f32(sums, p.at[5] + at.inner + 4u * i, x);
    if (has(GB_VK_NORM_NORMED))
        gb_put_f32(normed, p.at[6] + at.inner + 4u * i, y);
    if (has(GB_VK_NORM_SCALED))
        gb_put_f32(scaled, p.at[7] + at.inner + 4u * i, z);
    gb_put_f32(dst, at.to + 4u * i, last);
}

// A row less its mean, N elements: 0 where the team has no row.
void norm(places at, uint n)
{
    float mean = 0.0;
    float sum = 0.0;
    float factor;

    if (GB_NORM == 0) {
        for (uint i = gb_rank(); i < n; i += GB_TEAM)
            sum += element(at, i);
        mean = gb_team_sum(sum) / float(p.n);
        sum = 0.0;
    }
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float x = element(at, i) - mean;

        sum += x * x;
    }
    factor = norm_factor(gb_team_sum(sum));
    for (uint i = gb_rank(); i < n; i += GB_TEAM) {
        const float x = element(at, i);

        put(at, i, x, (x - mean) * factor);
    }
}

// Of row NUMBER, if there is one.
places places_of(uint number, uvec3 row)
{
    places at;

    at.to = p.at[0] + gb_row_offset(row, p.dst_nb);
    at.from = p.at[1] + gb_row_offset(row, p.src0_nb);
    at.with = p.at[2] + gb_row_offset(row, p.src1_nb);
    at.weights = p.at[3] + gb_row_offset(row, p.weights_nb);
    at.bias = p.at[4] + gb_row_offset(row, p.bias_nb);
    at.inner = number * p.n * 4u;
    at.is_there = true;
    if (has(GB_VK_NORM_GETS) && number < p.n_rows) {
        const int from = gb_i32(src1, p.at[2] + number * p.src1_nb[0]);

        at.from = p.at[1] + uint(from) * p.src0_nb[0];
        at.is_there = from >= 0 && uint(from) < p.src1_nb[1];
    }
    return at;
}

#else

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

#endif

void main()
{
    const uint number = gb_team_row();
    const uint n = number < p.n_rows ? p.n : 0u;
    const uvec3 row = gb_row_of(number, p.ne);

#if GB_NORM == 2
    norm_back(p.at[0] + gb_row_offset(row, p.dst_nb),
              p.at[1] + gb_row_offset(row, p.src0_nb),
              p.at[2] + gb_row_offset(row, p.src1_nb), n);
#else
    norm(places_of(number, row), n);
#endif
}
