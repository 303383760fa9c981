/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/math.h - exponential, logarithm, hyperbolic and circular functions
 * of vectors of floats, written in words.
 *
 * Each reduces its argument to a short interval, in two or more parts of a
 * constant so that the reduction is exact (Cody and Waite, "Software Manual for
 * the Elementary Functions", 1980), and evaluates a polynomial there by
 * Horner's scheme.  The polynomials are least-maximum fits of the relative
 * error, found by Remez' exchange in fifty decimal digits and rounded to
 * floats.
 *
 * Infinities, NaN, overflow and subnormal results are as in libm.  Accuracy, in
 * ulp of the result, over all finite arguments:
 *
 *   exp, exp2, log         1.5
 *   sigmoid, expm1, tanh   2.5
 *   sin, cos               2, or 2^-24 absolute
 */
#ifndef GB_CPU_SIMD_MATH_H
#define GB_CPU_SIMD_MATH_H

#include "backends/cpu/simd/simd.h"

#include <math.h>

/* x = n ln 2 + r with an integer n and |r| <= ln 2 / 2. */
struct vf_reduced {
    vf n;
    vf r;
};

/* n = round(x / ln 2), r = x - n ln 2.  The upper part of ln 2 has twelve bits,
 * so that n times it is exact, and the subtraction too; the lower part has the
 * rest. */
static inline struct vf_reduced
vf_reduce_exp(vf x)
{
    struct vf_reduced out;

    out.n = vf_round(vf_mul(x, vf_set1(1.44269504f)));
    out.r = vf_fnma(out.n, vf_set1(0x1.62ep-1f), x);
    out.r = vf_fnma(out.n, vf_set1(0x1.0bfbe8p-15f), out.r);
    return out;
}

/* e^r - 1 for |r| <= ln 2 / 2. */
static inline vf
vf_expm1_short(vf r)
{
    vf q = vf_set1(0x1.6d99cap-10f);

    q = vf_fma(q, r, vf_set1(0x1.12288p-7f));
    q = vf_fma(q, r, vf_set1(0x1.555486p-5f));
    q = vf_fma(q, r, vf_set1(0x1.5554aep-3f));
    q = vf_fma(q, r, vf_set1(0.5f));
    return vf_fma(vf_mul(q, r), r, r);
}

/* X within the arguments whose results are neither 0 nor infinite: down to
 * where e^x is below the least subnormal number, up to where it overflows but
 * 2^n does not yet.  A NaN stays one, since it is the second operand. */
static inline vf
vf_clamp_exp(vf x)
{
    return vf_max(vf_set1(-105.0f), vf_min(vf_set1(89.0f), x));
}

/* e^x = 2^n e^r. */
static inline vf
vf_exp(vf x)
{
    const struct vf_reduced at = vf_reduce_exp(vf_clamp_exp(x));
    const vf short_exp = vf_add(vf_expm1_short(at.r), vf_set1(1.0f));

    return vf_ldexp(short_exp, at.n);
}

/* 2^x = 2^n 2^r with n = round(x) and |r| <= 1/2, which is exact. */
static inline vf
vf_exp2(vf x)
{
    const vf within = vf_max(vf_set1(-151.0f), vf_min(vf_set1(129.0f), x));
    const vf n = vf_round(within);
    const vf r = vf_sub(within, n);
    vf p = vf_set1(0x1.470b48p-13f);

    p = vf_fma(p, r, vf_set1(0x1.5f7276p-10f));
    p = vf_fma(p, r, vf_set1(0x1.3b270ep-7f));
    p = vf_fma(p, r, vf_set1(0x1.c6ae72p-5f));
    p = vf_fma(p, r, vf_set1(0x1.ebfbe2p-3f));
    p = vf_fma(p, r, vf_set1(0x1.62e432p-1f));
    return vf_ldexp(vf_fma(p, r, vf_set1(1.0f)), n);
}

/* e^x - 1 = 2^n (e^r - 1) + (2^n - 1).  All is halved until the end, so that
 * 2^n does not overflow before the result does.  Near 0 n is 0, and the
 * polynomial alone remains: nothing cancels. */
static inline vf
vf_expm1(vf x)
{
    const struct vf_reduced at = vf_reduce_exp(vf_clamp_exp(x));
    const vf half = vf_set1(0.5f);
    const vf scale = vf_ldexp(half, at.n);
    const vf sum = vf_fma(scale, vf_expm1_short(at.r), vf_sub(scale, half));
    const vf result = vf_add(sum, sum);

    return vf_copysign(result, x);
}

/* tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), by expm1, so that nothing cancels
 * near 0.  From 10 on the result is 1. */
static inline vf
vf_tanh(vf x)
{
    const vf a = vf_min(vf_set1(10.0f), vf_abs(x));
    const vf e = vf_expm1(vf_add(a, a));

    return vf_copysign(vf_div(e, vf_add(e, vf_set1(2.0f))), x);
}

/* 1 / (1 + e^-x).  With e = e^-|x|, which cannot overflow, it is 1 / (1 + e)
 * for x >= 0 and e / (1 + e) for x < 0. */
static inline vf
vf_sigmoid(vf x)
{
    const vf one = vf_set1(1.0f);
    const vf e = vf_exp(vf_neg(vf_abs(x)));

    return vf_div(
        vf_select(vf_lt(x, vf_zero()), e, one), vf_add(e, one));
}

/* log(1 + f) - f for 1 + f in [sqrt 1/2, sqrt 2]. */
static inline vf
vf_log_short(vf f)
{
    vf p = vf_set1(-0x1.41edbap-4f);

    p = vf_fma(p, f, vf_set1(0x1.07d0dep-3f));
    p = vf_fma(p, f, vf_set1(-0x1.0ce082p-3f));
    p = vf_fma(p, f, vf_set1(0x1.226e4cp-3f));
    p = vf_fma(p, f, vf_set1(-0x1.54788ap-3f));
    p = vf_fma(p, f, vf_set1(0x1.99a596p-3f));
    p = vf_fma(p, f, vf_set1(-0x1.00022p-2f));
    p = vf_fma(p, f, vf_set1(0x1.55554ap-2f));
    p = vf_fma(p, f, vf_set1(-0.5f));
    return vf_mul(vf_mul(p, f), f);
}

/* log x = e ln 2 + log m with m from sqrt 1/2 to sqrt 2, for x that is neither
 * negative, zero, infinite nor NaN.  Subnormal numbers are scaled by 2^24
 * first.  The small terms are added up before the large ones. */
static inline vf
vf_log_positive(vf x)
{
    const vm is_subnormal = vf_lt(x, vf_set1(0x1p-126f));
    const vf scale = vf_set1(0x1p24f);
    const vf v = vf_select(is_subnormal, vf_mul(x, scale), x);
    const vf below = vf_select(is_subnormal, vf_set1(24.0f), vf_zero());
    const vf m = vf_mantissa(v);
    const vm is_high = vf_gt(m, vf_set1(1.41421356f));
    const vf one = vf_select(is_high, vf_set1(1.0f), vf_zero());
    const vf e = vf_add(vf_sub(vf_exponent(v), below), one);
    const vf f = vf_sub(
        vf_select(is_high, vf_mul(m, vf_set1(0.5f)), m), vf_set1(1.0f));
    const vf tail = vf_fma(e, vf_set1(0x1.0bfbe8p-15f), vf_log_short(f));

    return vf_fma(e, vf_set1(0x1.62ep-1f), vf_add(tail, f));
}

/* The special cases: log 0 is -infinity, that of a negative number NaN;
 * infinity and NaN give themselves. */
static inline vf
vf_log(vf x)
{
    const vf infinity = vf_set1(INFINITY);
    vf y = vf_log_positive(x);

    y = vf_select(vf_eq(x, vf_zero()), vf_neg(infinity), y);
    y = vf_select(vf_lt(x, vf_zero()), vf_set1(NAN), y);
    return vf_select(vf_lt(x, infinity), y, x);
}

/* sin(r + q pi/2) for |r| <= pi/4 and an integer q: by q mod 4 it is sin r,
 * cos r, -sin r or -cos r, so that the polynomial is chosen by its lower bit
 * and the sign by its upper one.  Both polynomials are found, since lanes
 * differ. */
static inline vf
vf_sin_quadrant(vf r, vf q)
{
    const vf quadrant = vf_fnma(
        vf_set1(4.0f), vf_floor(vf_mul(q, vf_set1(0.25f))), q);
    const vm is_upper = vf_gt(quadrant, vf_set1(1.5f));
    const vf z = vf_mul(r, r);
    const vf parity = vf_sub(
        quadrant, vf_select(is_upper, vf_set1(2.0f), vf_zero()));
    vf s = vf_fma(vf_set1(-0x1.994cfap-13f), z, vf_set1(0x1.11075cp-7f));
    vf c = vf_fma(vf_set1(0x1.9a00cep-16f), z, vf_set1(-0x1.6c0c86p-10f));
    vf y;

    s = vf_fma(s, z, vf_set1(-0x1.555546p-3f));
    s = vf_fma(vf_mul(s, z), r, r);
    c = vf_fma(c, z, vf_set1(0x1.55554ap-5f));
    c = vf_fma(vf_mul(c, z), z, vf_fnma(vf_set1(0.5f), z, vf_set1(1.0f)));
    y = vf_select(vf_gt(parity, vf_set1(0.5f)), c, s);
    return vf_select(is_upper, vf_neg(y), y);
}

/* The largest argument that the reduction below is exact enough for. */
#define VF_SIN_LIMIT 8192.0f

/* q = round(x 2 / pi), r = x - q pi/2, with pi/2 in four parts.  The upper
 * three have eleven bits and less, so that q times each is exact for |x| up to
 * VF_SIN_LIMIT. */
static inline struct vf_reduced
vf_reduce_sin(vf x)
{
    struct vf_reduced out;

    out.n = vf_round(vf_mul(x, vf_set1(0.636619772f)));
    out.r = vf_fnma(out.n, vf_set1(0x1.92p+0f), x);
    out.r = vf_fnma(out.n, vf_set1(0x1.fb4p-12f), out.r);
    out.r = vf_fnma(out.n, vf_set1(0x1.444p-24f), out.r);
    out.r = vf_fnma(out.n, vf_set1(0x1.68c234p-39f), out.r);
    return out;
}

/* Lane by lane, by libm: for arguments that need more bits of pi, and for
 * infinity and NaN. */
static inline vf
vf_by_lane(vf x, float (*function)(float))
{
    float lanes[VF_LEN];

    vf_store(lanes, x);
    for (int i = 0; i < VF_LEN; i++)
        lanes[i] = function(lanes[i]);
    return vf_load(lanes);
}

/* One lane beyond the limit sends all to libm: such arguments are rare. */
static inline vf
vf_sin(vf x)
{
    struct vf_reduced at;

    if (vm_any(vm_not(vf_le(vf_abs(x), vf_set1(VF_SIN_LIMIT)))))
        return vf_by_lane(x, sinf);
    at = vf_reduce_sin(x);
    return vf_sin_quadrant(at.r, at.n);
}

/* cos x = sin(x + pi/2). */
static inline vf
vf_cos(vf x)
{
    struct vf_reduced at;

    if (vm_any(vm_not(vf_le(vf_abs(x), vf_set1(VF_SIN_LIMIT)))))
        return vf_by_lane(x, cosf);
    at = vf_reduce_sin(x);
    return vf_sin_quadrant(at.r, vf_add(at.n, vf_set1(1.0f)));
}

#endif
