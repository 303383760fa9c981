/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/arith.c - arithmetic along contiguous rows, element
 * by element.
 *
 * One load for each operand, one to three instructions, one store: rows that do
 * not fit the caches are limited by memory, the others by loads.  Nothing is
 * accumulated, so that results do not depend on the order.  Formulas stand in
 * kernels.def.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/elementwise/map.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

void
GB_K(add_f32)(int64_t n, float *dst, const float *a, const float *b)
{
    map_2(n, dst, a, b, vf_add);
}

void
GB_K(sub_f32)(int64_t n, float *dst, const float *a, const float *b)
{
    map_2(n, dst, a, b, vf_sub);
}

void
GB_K(mul_f32)(int64_t n, float *dst, const float *a, const float *b)
{
    map_2(n, dst, a, b, vf_mul);
}

void
GB_K(div_f32)(int64_t n, float *dst, const float *a, const float *b)
{
    map_2(n, dst, a, b, vf_div);
}

/* The derivative of x s(x) with s the sigmoid: s (1 + x (1 - s)). */
GB_MAP vf
silu_back(vf dy, vf x)
{
    const vf one = vf_set1(1.0f);
    const vf s = vf_sigmoid(x);

    return vf_mul(vf_mul(dy, s), vf_fma(x, vf_sub(one, s), one));
}

void
GB_K(silu_back_f32)(int64_t n, float *dst, const float *dy, const float *x)
{
    map_2(n, dst, dy, x, silu_back);
}

GB_MAP vf
scale(vf x, vf factor, vf unused)
{
    (void)unused;
    return vf_mul(x, factor);
}

void
GB_K(scale_f32)(int64_t n, float *dst, const float *x, float factor)
{
    map_1_with(n, dst, x, factor, 0.0f, scale);
}

GB_MAP vf
add_scaled(vf sum, vf x, vf factor, vf unused)
{
    (void)unused;
    return vf_fma(x, factor, sum);
}

void
GB_K(add_scaled_f32)(int64_t n, float *dst, const float *x, float factor)
{
    map_2_with(n, dst, dst, x, factor, 0.0f, add_scaled);
}

GB_MAP vf
shift_scale(vf x, vf shift, vf factor)
{
    return vf_mul(vf_sub(x, shift), factor);
}

void
GB_K(shift_scale_f32)(int64_t n, float *dst, const float *x, float shift,
                      float factor)
{
    map_1_with(n, dst, x, shift, factor, shift_scale);
}

GB_MAP vf
sub_scaled(vf a, vf b, vf t, vf factor)
{
    return vf_mul(vf_fnma(b, t, a), factor);
}

void
GB_K(sub_scaled_f32)(int64_t n, float *dst, const float *a, const float *b,
                     float t, float factor)
{
    map_2_with(n, dst, a, b, t, factor, sub_scaled);
}

/* By comparisons: where an operand is NaN, vf_min and vf_max give the second
 * one, which would lose it. */
GB_MAP vf
clamp(vf x, vf lo, vf hi)
{
    const vf below = vf_select(vf_gt(x, hi), hi, x);

    return vf_select(vf_lt(below, lo), lo, below);
}

void
GB_K(clamp_f32)(int64_t n, float *dst, const float *x, float lo, float hi)
{
    map_1_with(n, dst, x, lo, hi, clamp);
}

GB_MAP vf
leaky_relu(vf x, vf slope, vf unused)
{
    (void)unused;
    return vf_select(vf_gt(x, vf_zero()), x, vf_mul(x, slope));
}

void
GB_K(leaky_relu_f32)(int64_t n, float *dst, const float *x, float slope)
{
    map_1_with(n, dst, x, slope, 0.0f, leaky_relu);
}
