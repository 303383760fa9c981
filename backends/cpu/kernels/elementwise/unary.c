/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/unary.c - functions of one operand, element by
 * element: activation functions, and those of math.h.
 *
 * Accuracy is that of simd/math.h.  Sources of the activation functions: ELU
 * (arXiv 1511.07289), GELU and SiLU (arXiv 1606.08415), hardswish (arXiv
 * 1905.02244).
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/elementwise/map.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

GB_MAP vf
sqr(vf x)
{
    return vf_mul(x, x);
}

/* NaN gives 0: both comparisons are false. */
GB_MAP vf
sgn(vf x)
{
    const vf zero = vf_zero();
    const vf minus = vf_select(vf_lt(x, zero), vf_set1(-1.0f), zero);

    return vf_select(vf_gt(x, zero), vf_set1(1.0f), minus);
}

GB_MAP vf
step(vf x)
{
    return vf_select(vf_gt(x, vf_zero()), vf_set1(1.0f), vf_zero());
}

/* x for x > 0, else e^x - 1. */
GB_MAP vf
elu(vf x)
{
    return vf_select(vf_gt(x, vf_zero()), x, vf_expm1(x));
}

GB_MAP vf
relu(vf x)
{
    return vf_select(vf_gt(x, vf_zero()), x, vf_zero());
}

/*
 * x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3).  (1 + tanh u) /
 * 2 is sigmoid(2 u), which does not cancel for negative u.  Below -10 the
 * result is smaller than any float; a comparison says so, since -infinity times
 * 0 would be NaN.
 */
GB_MAP vf
gelu(vf x)
{
    const vf two_u = vf_mul(
        vf_mul(vf_set1(2.0f * 0.79788456080286535588f), x),
        vf_fma(vf_mul(vf_set1(0.044715f), x), x, vf_set1(1.0f)));
    const vf y = vf_mul(x, vf_sigmoid(two_u));

    return vf_select(vf_lt(x, vf_set1(-10.0f)), vf_zero(), y);
}

/* x sigmoid(factor x) = x / (1 + exp(-factor x)). */
GB_MAP vf
swish(vf x, float factor)
{
    const vf e = vf_exp(vf_mul(x, vf_set1(-factor)));

    return vf_div(x, vf_add(vf_set1(1.0f), e));
}

/* 1.702 makes the sigmoid closest to the normal distribution. */
GB_MAP vf
gelu_quick(vf x)
{
    return swish(x, 1.702f);
}

GB_MAP vf
silu(vf x)
{
    return swish(x, 1.0f);
}

/* (x + 3) / 6, limited to [0, 1]. */
GB_MAP vf
hardsigmoid(vf x)
{
    const vf line = vf_div(vf_add(x, vf_set1(3.0f)), vf_set1(6.0f));

    return vf_min(vf_set1(1.0f), vf_max(vf_zero(), line));
}

GB_MAP vf
hardswish(vf x)
{
    return vf_mul(x, hardsigmoid(x));
}

void
GB_K(sqr_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, sqr);
}

void
GB_K(sqrt_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_sqrt);
}

void
GB_K(log_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_log);
}

void
GB_K(sin_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_sin);
}

void
GB_K(cos_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_cos);
}

void
GB_K(abs_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_abs);
}

void
GB_K(sgn_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, sgn);
}

void
GB_K(neg_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_neg);
}

void
GB_K(step_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, step);
}

void
GB_K(tanh_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_tanh);
}

void
GB_K(elu_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, elu);
}

void
GB_K(relu_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, relu);
}

void
GB_K(sigmoid_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_sigmoid);
}

void
GB_K(gelu_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, gelu);
}

void
GB_K(gelu_quick_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, gelu_quick);
}

void
GB_K(silu_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, silu);
}

void
GB_K(hardswish_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, hardswish);
}

void
GB_K(hardsigmoid_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, hardsigmoid);
}

void
GB_K(exp_f32)(int64_t n, float *dst, const float *x)
{
    map_1(n, dst, x, vf_exp);
}
