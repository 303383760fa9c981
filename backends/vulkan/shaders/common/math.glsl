// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/math.glsl - functions of a float.
//
// GLSL's own are used where the error that the Vulkan specification allows them
// ("Precision and Operation of SPIR-V Instructions") is small for each result:
// that of exp(x), 3 + 2 |x| ulp.  Those of log() near 1, of sin() and cos(),
// and of what is made of them, are not, and get polynomials, the same as in
// cuda/kernels/math.cuh, over a short interval to which the argument is
// reduced.
//
// What is precise may not be rearranged: a constant's parts would be added up
// again.  Products there that are terms of sums are exact, so that it means
// nothing whether a driver fuses them.
//
// Accuracy in ulp, on drivers whose sums and products are rounded to the
// nearest:
//
//     log                   2
//     log1p                 3
//     expm1, tanh           4, of a division 2.5 more
//     sigmoid               that of exp, and of a division
//     sin, cos              3
#ifndef GB_MATH_GLSL
#define GB_MATH_GLSL

#define GB_INFINITY (uintBitsToFloat(0x7f800000u))
#define GB_NAN (uintBitsToFloat(0x7fc00000u))

// By their bits: isnan() and isinf() may be taken for false.
bool gb_is_nan(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u;
}

bool gb_is_finite(float x)
{
    return (floatBitsToUint(x) & 0x7fffffffu) < 0x7f800000u;
}

// 2^n for n from -126 to 127.
float gb_power_of_2(int n)
{
    return uintBitsToFloat(uint(n + 127) << 23);
}

// ---- exponential functions ----

float gb_exp(float x)
{
    return exp(x);
}

// e^x - 1 = 2^n (e^r - 1) + (2^n - 1) with x = n ln 2 + r, |r| <= ln 2 / 2.
// All is halved until the end, so that 2^n does not overflow before the result
// does.  Near 0 n is 0, and the polynomial alone remains: nothing cancels.  The
// upper part of ln 2 has twelve bits.  Of a tiny x, which may become 0 when it is
// halved, x is the result.
float gb_expm1(float x)
{
    const float clamped = min(max(x, -60.0), 89.0);
    const float n = floor(clamped * 1.44269504 + 0.5);
    const float scale = gb_power_of_2(int(n) - 1);
    precise float r = clamped - n * 0.693115234375;
    precise float sum;
    float q = 1.39465614e-3;

    r = r - n * 3.19461833e-5;
    q = q * r + 8.36664438e-3;
    q = q * r + 4.16662805e-2;
    q = q * r + 1.6666542e-1;
    q = q * r + 0.5;
    q = q * r * r + r;
    sum = scale * q + (scale - 0.5);
    sum = sum + sum;
    return gb_is_nan(x) || abs(x) < 1e-8 ? x : sum;
}

// 1 / (1 + e^-x).  With e = e^-|x|, which cannot overflow, it is 1 / (1 + e)
// for x >= 0 and e / (1 + e) for x < 0.
float gb_sigmoid(float x)
{
    const float e = exp(-abs(x));

    return (x < 0.0 ? e : 1.0) / (e + 1.0);
}

// tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), by expm1, so that nothing cancels
// near 0.  From 10 on the result is 1.  Signs are not copied by their bits: lavapipe
// of Mesa 26.1 makes another number of (a & 0x7fffffff) | (b & 0x80000000).
float gb_tanh(float x)
{
    const float e = gb_expm1(2.0 * min(abs(x), 10.0));
    const float y = e / (e + 2.0);

    return gb_is_nan(x) || x == 0.0 ? x : x < 0.0 ? -y : y;
}

// ---- logarithms ----

// log x = n ln 2 + log(1 + r) with 1 + r from sqrt 1/2 to sqrt 2; the small
// terms are added up first.  That of 0 is -infinity, that of a negative number
// NaN; infinity and NaN give themselves.  A subnormal number may have become 0
// before.
float gb_log(float x)
{
    const uint sqrt_half = 0x3f3504f3u;
    const bool is_tiny = x < 1.17549435e-38;
    const uint bits = floatBitsToUint(is_tiny ? x * 16777216.0 : x) - sqrt_half;
    const float n = float((int(bits) >> 23) - (is_tiny ? 24 : 0));
    const float r = uintBitsToFloat((bits & 0x7fffffu) + sqrt_half) - 1.0;
    precise float y;
    float q = -7.85958580e-2;

    q = q * r + 1.28816351e-1;
    q = q * r - 1.3128759e-1;
    q = q * r + 1.41811937e-1;
    q = q * r - 1.66245535e-1;
    q = q * r + 2.00022861e-1;
    q = q * r - 2.50008106e-1;
    q = q * r + 3.33333164e-1;
    q = q * r - 0.5;
    y = q * r * r + n * 3.19461833e-5;
    y = n * 0.693115234375 + (y + r);
    y = x == 0.0 ? -GB_INFINITY : y;
    y = x < 0.0 ? GB_NAN : y;
    return gb_is_finite(x) || x < 0.0 ? y : x;
}

// log(1 + x): log u for the float u next to 1 + x, and what u leaves out, which
// is exact, divided by u.
float gb_log1p(float x)
{
    precise float u = 1.0 + x;
    precise float rest = x < 1.0 ? x - (u - 1.0) : 1.0 - (u - x);

    if (!(abs(x) < 16777216.0) || u <= 0.0)
        return gb_log(u);
    return u == 1.0 ? x : gb_log(u) + rest / u;
}

// ---- circular functions ----

// An argument as count pi/2 + r, |r| <= pi/4.
struct gb_angle {
    float r;
    int count;
};

// pi/2 in four parts, the upper three of which have eleven bits and less; for
// |x| <= 8192.
gb_angle gb_reduce_near(float x)
{
    const float n = floor(x * 0.636619772 + 0.5);
    precise float r = x - n * 1.5703125;

    r = r - n * 4.83751297e-4;
    r = r - n * 7.54953362e-8;
    r = r - n * 2.5633441e-12;
    return gb_angle(r, int(n));
}

// 2 / pi: 32 bits before the point, then 224 behind it.
const uint gb_two_over_pi_words[8] = uint[8](
    0x00000000u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu);

// 32 bits of it, the first of which counts 2^-(FIRST + 1); FIRST from -32 to
// 191.
uint gb_two_over_pi(int first)
{
    const int word = (first + 32) >> 5;
    const int shift = (first + 32) & 31;
    const uint upper = gb_two_over_pi_words[word];
    const uint lower = gb_two_over_pi_words[word + 1];

    return shift == 0 ? upper : upper << shift | lower >> (32 - shift);
}

// The same for finite x beyond 8192: x 2 / pi modulo 4, from those bits of 2 /
// pi that neither give multiples of 4 nor are too small to count (Payne and
// Hanek, "Radian Reduction for Trigonometric Functions", 1983).  With |x| = m
// 2^e, m of 24 bits, the 96 bits from 2^(1-e) on times m count from 2^1 on.
gb_angle gb_reduce_far(float x)
{
    const uint bits = floatBitsToUint(x);
    const uint m = (bits & 0x7fffffu) | 0x800000u;
    const int first = int(bits >> 23 & 255u) - 150 - 2;
    const uint high = m * gb_two_over_pi(first);
    uint middle_up, middle, low_up, low, carry, top, fraction;
    int count;
    float r;

    umulExtended(m, gb_two_over_pi(first + 32), middle_up, middle);
    umulExtended(m, gb_two_over_pi(first + 64), low_up, low);
    middle = uaddCarry(middle, low_up, carry);
    top = high + middle_up + carry;
    fraction = top << 2 | middle >> 30;
    count = int(top >> 30) + int(fraction >> 31);
    // As signed numbers: what is below 32 bits counts where those are few.
    r = (float(int(fraction)) + float(middle << 2) * 2.3283064e-10) *
        3.6572953e-10;
    return (bits >> 31) != 0u ? gb_angle(-r, -count) : gb_angle(r, count);
}

gb_angle gb_reduce(float x)
{
    if (abs(x) <= 8192.0)
        return gb_reduce_near(x);
    return gb_reduce_far(x);
}

// sin(r + quadrant pi/2) for |r| <= pi/4: by the quadrant modulo 4 it is sin r,
// cos r, -sin r or -cos r.
float gb_sin_quadrant(float r, int quadrant)
{
    const float z = r * r;
    float s = -1.95169778e-4 * z + 8.33217613e-3;
    float c = 2.44380917e-5 * z - 1.38873642e-3;
    float y;

    s = s * z - 1.66666549e-1;
    s = s * z * r + r;
    c = c * z + 4.16666456e-2;
    c = c * z * z + (1.0 - 0.5 * z);
    y = (quadrant & 1) != 0 ? c : s;
    return (quadrant & 2) != 0 ? -y : y;
}

// NaN for infinity and NaN.
float gb_sin(float x)
{
    const gb_angle at = gb_reduce(gb_is_finite(x) ? x : 0.0);

    return gb_is_finite(x) ? gb_sin_quadrant(at.r, at.count) : GB_NAN;
}

// cos x = sin(x + pi/2).
float gb_cos(float x)
{
    const gb_angle at = gb_reduce(gb_is_finite(x) ? x : 0.0);

    return gb_is_finite(x) ? gb_sin_quadrant(at.r, at.count + 1) : GB_NAN;
}

#endif
