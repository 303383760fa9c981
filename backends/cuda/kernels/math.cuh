/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/math.cuh - functions of a float, made of exact operations alone.
 *
 * A vendor's functions differ from one version of its compiler to the next and
 * are not there on the host.  These consist of additions, products, fused
 * operations, divisions and square roots that are rounded as IEEE 754 says, so
 * that every card and the tests find the same bits.  A product that is a term
 * of a sum is exact, or made by gb_fma() or gb_mul(): a compiler that contracts
 * changes nothing.
 *
 * Each reduces its argument to a short interval, in two or more parts of a
 * constant so that the reduction is exact (Cody and Waite, "Software Manual for
 * the Elementary Functions", 1980), and evaluates a polynomial there by
 * Horner's scheme; the polynomials are least-maximum fits of the relative error
 * with coefficients rounded to floats.
 *
 * Infinities, NaN, overflow and subnormal results are as in libm.  Accuracy, in
 * ulp of the result, over all finite arguments:
 *
 *   exp, exp2, log           1.5
 *   sigmoid, expm1, tanh     2.5
 *   log1p                    2
 *   sin, cos                 3
 */
#ifndef GB_CUDA_KERNELS_MATH_CUH
#define GB_CUDA_KERNELS_MATH_CUH

#include "backends/cuda/kernels/device.cuh"

#define GB_INFINITY gb_float_of_bits(0x7f800000)
#define GB_NAN      gb_float_of_bits(0x7fc00000)

/* ---- bits of floats ---- */

GB_DEVICE float
gb_abs(float x)
{
    return gb_float_of_bits(gb_bits_of_float(x) & 0x7fffffff);
}

/* |x| with the sign of Y. */
GB_DEVICE float
gb_copysign(float x, float y)
{
    return gb_float_of_bits((gb_bits_of_float(x) & 0x7fffffff) |
                            (gb_bits_of_float(y) & 0x80000000));
}

/* 2^n for n from -126 to 127. */
GB_DEVICE float
gb_power_of_2(int n)
{
    return gb_float_of_bits((uint32_t)(n + 127) << 23);
}

/*
 * x 2^n for x of about 1 and |n| up to 252, in two factors: the first product
 * is exact, so that a subnormal result is rounded once.
 */
GB_DEVICE float
gb_ldexp(float x, int n)
{
    const int half = n >> 1;

    return x * gb_power_of_2(half) * gb_power_of_2(n - half);
}

/* An argument as a multiple n of some unit and the rest r. */
struct gb_reduced {
    float r;
    float n;
    int count; /* n again; without meaning where n is NaN */
};

/*
 * n = the integer next to x UNITS, for results below 2^22.  Adding 1.5 * 2^23
 * leaves no bits for a fraction, and the integer in the lowest ones.
 */
GB_DEVICE gb_reduced
gb_round_multiple(float x, float units)
{
    const float shift = 0x1.8p+23f;
    const float shifted = gb_fma(x, units, shift);
    gb_reduced out;

    out.r = x;
    out.n = shifted - shift;
    out.count = (int)(gb_bits_of_float(shifted) - gb_bits_of_float(shift));
    return out;
}

/* ---- exponential functions ---- */

/* X within the arguments whose results are neither 0 nor infinite, from below
 * the least subnormal number's logarithm on.  A NaN stays one. */
GB_DEVICE float
gb_clamp_exp(float x)
{
    x = x < -105.0f ? -105.0f : x;
    return x > 89.0f ? 89.0f : x;
}

/* x = n ln 2 + r, |r| <= ln 2 / 2.  The upper part of ln 2 has twelve bits, so
 * that n times it is exact, and the subtraction too. */
GB_DEVICE gb_reduced
gb_reduce_exp(float x)
{
    gb_reduced out = gb_round_multiple(x, 1.44269504f);

    out.r = gb_fma(out.n, -0x1.62ep-1f, out.r);
    out.r = gb_fma(out.n, -0x1.0bfbe8p-15f, out.r);
    return out;
}

/* e^r - 1 for |r| <= ln 2 / 2. */
GB_DEVICE float
gb_expm1_short(float r)
{
    float q = 0x1.6d99cap-10f;

    q = gb_fma(q, r, 0x1.12288p-7f);
    q = gb_fma(q, r, 0x1.555486p-5f);
    q = gb_fma(q, r, 0x1.5554aep-3f);
    q = gb_fma(q, r, 0.5f);
    return gb_fma(q * r, r, r);
}

/* e^x = 2^n e^r. */
GB_DEVICE float
gb_exp(float x)
{
    const gb_reduced at = gb_reduce_exp(gb_clamp_exp(x));

    return gb_ldexp(gb_expm1_short(at.r) + 1.0f, at.count);
}

/* 2^x = 2^n 2^r with |r| <= 1/2, which is exact. */
GB_DEVICE float
gb_exp2(float x)
{
    gb_reduced at;
    float p = 0x1.470b48p-13f;

    x = x < -151.0f ? -151.0f : x;
    at = gb_round_multiple(x > 129.0f ? 129.0f : x, 1.0f);
    at.r -= at.n;
    p = gb_fma(p, at.r, 0x1.5f7276p-10f);
    p = gb_fma(p, at.r, 0x1.3b270ep-7f);
    p = gb_fma(p, at.r, 0x1.c6ae72p-5f);
    p = gb_fma(p, at.r, 0x1.ebfbe2p-3f);
    p = gb_fma(p, at.r, 0x1.62e432p-1f);
    return gb_ldexp(gb_fma(p, at.r, 1.0f), at.count);
}

/* e^x - 1 = 2^n (e^r - 1) + (2^n - 1).  All is halved until the end, so that
 * 2^n does not overflow before the result does.  Near 0 n is 0, and the
 * polynomial alone remains: nothing cancels. */
GB_DEVICE float
gb_expm1(float x)
{
    const gb_reduced at = gb_reduce_exp(gb_clamp_exp(x));
    const float scale = gb_ldexp(0.5f, at.count);
    const float sum = gb_fma(scale, gb_expm1_short(at.r), scale - 0.5f);

    return gb_copysign(sum + sum, x);
}

/* tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), by expm1, so that nothing cancels
 * near 0.  From 10 on the result is 1. */
GB_DEVICE float
gb_tanh(float x)
{
    const float a = gb_abs(x) > 10.0f ? 10.0f : gb_abs(x);
    const float e = gb_expm1(a + a);

    return gb_copysign(e / (e + 2.0f), x);
}

/* 1 / (1 + e^-x).  With e = e^-|x|, which cannot overflow, it is 1 / (1 + e)
 * for x >= 0 and e / (1 + e) for x < 0. */
GB_DEVICE float
gb_sigmoid(float x)
{
    const float e = gb_exp(-gb_abs(x));

    return (x < 0.0f ? e : 1.0f) / (e + 1.0f);
}

/* ---- logarithms ---- */

/* x = 2^n (1 + r), 1 + r from sqrt 1/2 to sqrt 2, for x that is positive and
 * finite.  Subnormal numbers are scaled by 2^24 first. */
GB_DEVICE gb_reduced
gb_reduce_log(float x)
{
    const bool is_subnormal = x < 0x1p-126f;
    const uint32_t sqrt_half = 0x3f3504f3;
    const uint32_t bits =
        gb_bits_of_float(is_subnormal ? x * 0x1p24f : x) - sqrt_half;
    gb_reduced out;

    out.count = ((int)bits >> 23) - (is_subnormal ? 24 : 0);
    out.n = (float)out.count;
    out.r = gb_float_of_bits((bits & 0x7fffff) + sqrt_half) - 1.0f;
    return out;
}

/* Y, the logarithm of x if that is positive and finite.  That of 0 is
 * -infinity, that of a negative number NaN; infinity and NaN give
 * themselves. */
GB_DEVICE float
gb_log_special(float x, float y)
{
    y = x == 0.0f ? -GB_INFINITY : y;
    y = x < 0.0f ? GB_NAN : y;
    return x < GB_INFINITY ? y : x;
}

/* log(1 + f) - f for 1 + f in [sqrt 1/2, sqrt 2]. */
GB_DEVICE float
gb_log_short(float f)
{
    float p = -0x1.41edbap-4f;

    p = gb_fma(p, f, 0x1.07d0dep-3f);
    p = gb_fma(p, f, -0x1.0ce082p-3f);
    p = gb_fma(p, f, 0x1.226e4cp-3f);
    p = gb_fma(p, f, -0x1.54788ap-3f);
    p = gb_fma(p, f, 0x1.99a596p-3f);
    p = gb_fma(p, f, -0x1.00022p-2f);
    p = gb_fma(p, f, 0x1.55554ap-2f);
    p = gb_fma(p, f, -0.5f);
    return p * f * f;
}

/* log x = n ln 2 + log(1 + r); the small terms are added up first. */
GB_DEVICE float
gb_log(float x)
{
    const gb_reduced at = gb_reduce_log(x);
    const float tail = gb_fma(at.n, 0x1.0bfbe8p-15f, gb_log_short(at.r));

    return gb_log_special(x, gb_fma(at.n, 0x1.62ep-1f, tail + at.r));
}

/* log(1 + x): log u for the float u next to 1 + x, and what u leaves out, which
 * is exact, divided by u. */
GB_DEVICE float
gb_log1p(float x)
{
    const float u = 1.0f + x;
    const float rest = x < 1.0f ? x - (u - 1.0f) : 1.0f - (u - x);

    if (!(gb_abs(x) < 0x1p24f) || u <= 0.0f)
        return gb_log(u);
    return u == 1.0f ? x : gb_log(u) + rest / u;
}

/* ---- circular functions ---- */

/* The largest argument that gb_reduce_sin_near() is exact enough for. */
#define GB_SIN_NEAR 8192.0f

/* x = n pi/2 + r with pi/2 in four parts.  The upper three have eleven bits and
 * less, so that n times each is exact. */
GB_DEVICE gb_reduced
gb_reduce_sin_near(float x)
{
    gb_reduced out = gb_round_multiple(x, 0.636619772f);

    out.r = gb_fma(out.n, -0x1.92p+0f, out.r);
    out.r = gb_fma(out.n, -0x1.fb4p-12f, out.r);
    out.r = gb_fma(out.n, -0x1.444p-24f, out.r);
    out.r = gb_fma(out.n, -0x1.68c234p-39f, out.r);
    return out;
}

/* 2 / pi: 32 bits before the point, then 224 behind it. */
GB_TABLE uint32_t gb_two_over_pi_words[] = {
    0x00000000, 0xa2f9836e, 0x4e441529, 0xfc2757d1,
    0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab,
};

/* 32 bits of 2 / pi, the first of which counts 2^-(FIRST + 1); FIRST from -32
 * to 191. */
GB_DEVICE uint32_t
gb_two_over_pi(int first)
{
    const uint32_t *const words = gb_two_over_pi_words + (first + 32) / 32;
    const int shift = (first + 32) % 32;
    const uint64_t both = (uint64_t)words[0] << 32 | words[1];

    return (uint32_t)(both >> (32 - shift));
}

/*
 * The same for finite x beyond GB_SIN_NEAR: x 2 / pi modulo 4, from those bits
 * of 2 / pi that neither give multiples of 4 nor are too small to count (Payne
 * and Hanek, "Radian Reduction for Trigonometric Functions", 1983).  With
 * |x| = m 2^e, m of 24 bits, the 96 bits from 2^(1-e) on times m count from
 * 2^1 on; the largest error is 2^-70, while no float is nearer than 2^-30 to a
 * multiple of pi/2.
 */
GB_DEVICE gb_reduced
gb_reduce_sin_far(float x)
{
    const uint32_t bits = gb_bits_of_float(x);
    const uint64_t m = (bits & 0x7fffff) | 0x800000;
    const int first = (int)(bits >> 23 & 255) - 150 - 2;
    const uint64_t low = m * gb_two_over_pi(first + 64);
    const uint64_t middle = m * gb_two_over_pi(first + 32) + (low >> 32);
    const uint64_t product = ((m * gb_two_over_pi(first)) << 32) + middle;
    const uint64_t fraction = product << 2;
    const uint32_t count = (uint32_t)((product >> 62) + (fraction >> 63));
    const float r = (float)(int64_t)fraction * 0x1.921fb6p-64f;
    gb_reduced out;

    out.r = (bits >> 31) != 0 ? -r : r;
    out.count = (int)((bits >> 31) != 0 ? 0 - count : count);
    out.n = 0.0f;
    return out;
}

GB_DEVICE gb_reduced
gb_reduce_sin(float x)
{
    if (gb_abs(x) <= GB_SIN_NEAR)
        return gb_reduce_sin_near(x);
    return gb_reduce_sin_far(x);
}

/* sin(r + quadrant pi/2) for |r| <= pi/4: by the quadrant modulo 4 it is sin r,
 * cos r, -sin r or -cos r. */
GB_DEVICE float
gb_sin_quadrant(float r, int quadrant)
{
    const float z = r * r;
    float s = gb_fma(-0x1.994cfap-13f, z, 0x1.11075cp-7f);
    float c = gb_fma(0x1.9a00cep-16f, z, -0x1.6c0c86p-10f);
    float y;

    s = gb_fma(s, z, -0x1.555546p-3f);
    s = gb_fma(s * z, r, r);
    c = gb_fma(c, z, 0x1.55554ap-5f);
    c = gb_fma(c * z, z, gb_fma(-0.5f, z, 1.0f));
    y = (quadrant & 1) != 0 ? c : s;
    return (quadrant & 2) != 0 ? -y : y;
}

/* NaN for infinity and NaN. */
GB_DEVICE float
gb_sin(float x)
{
    const gb_reduced at = gb_reduce_sin(x);

    return gb_abs(x) < GB_INFINITY ? gb_sin_quadrant(at.r, at.count) : GB_NAN;
}

/* cos x = sin(x + pi/2). */
GB_DEVICE float
gb_cos(float x)
{
    const gb_reduced at = gb_reduce_sin(x);

    return gb_abs(x) < GB_INFINITY ? gb_sin_quadrant(at.r, at.count + 1)
                                   : GB_NAN;
}

#endif
