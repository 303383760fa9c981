// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/search.glsl - the scale of a sub-block that loses
// least.
//
// What lib/type/search.h says, for GB_SUB values in registers: candidates in
// the same order, each rounded where the library's are, so that blocks have the
// same bits.  With numbers q for codes and weights w, the best scale is
// sum(w x q) / sum(w q^2), and sum(w x q)^2 / sum(w q^2) is the score.  Numbers
// are floats; they are found again where they are needed rather than kept.
#ifndef GB_SEARCH_GLSL
#define GB_SEARCH_GLSL

#include "exact.glsl"

// Below this a block has no largest value to speak of: all its codes are 0.
#define GB_SEARCH_TINY 1e-15

// ---- rounding ----

// V between LO and HI, to the nearest integer, ties to even.
float gb_round_even(float v, float lo, float hi)
{
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    return roundEven(v);
}

// V between -LIMIT and LIMIT, to the nearest integer, ties away from zero.
int gb_round_away(float v, float limit)
{
    int whole;
    float rest;

    v = v > -limit ? v : -limit;
    v = v < limit ? v : limit;
    whole = int(v);
    rest = gb_sub(v, float(whole));
    return whole + int(rest >= 0.5) - int(rest <= -0.5);
}

// V between 0 and TOP without its fraction.
uint gb_truncate(float v, float top)
{
    v = v > 0.0 ? v : 0.0;
    return uint(v < top ? v : top);
}

// 1 / d, 0 for 0.
float gb_inverse(float d)
{
    return d != 0.0 ? gb_divide(1.0, d) : 0.0;
}

// ---- extremes ----

// The value of largest magnitude, the first of equals, with its sign.
float gb_largest(float x[GB_SUB])
{
    float largest = 0.0;

    for (uint i = 0u; i < GB_SUB; i++)
        largest = abs(x[i]) > abs(largest) ? x[i] : largest;
    return largest;
}

// The least and the highest one.
vec2 gb_range_of(float x[GB_SUB])
{
    vec2 range = vec2(x[0]);

    for (uint i = 1u; i < GB_SUB; i++) {
        range.x = x[i] < range.x ? x[i] : range.x;
        range.y = x[i] > range.y ? x[i] : range.y;
    }
    return range;
}

// The mean of x^2; GB_SUB is a power of two.
float gb_energy(float x[GB_SUB])
{
    float sum = 0.0;

    for (uint i = 0u; i < GB_SUB; i++)
        sum = gb_add(sum, gb_mul(x[i], x[i]));
    return sum * (1.0 / float(GB_SUB));
}

// ---- scores ----

// How some numbers fit: sum(w x q) and sum(w q^2).
struct gb_fit {
    float xq, qq;
};

void gb_fit_add(inout gb_fit fit, float w, float x, float q)
{
    fit.xq = gb_add(fit.xq, gb_mul(gb_mul(w, x), q));
    fit.qq = gb_add(fit.qq, gb_mul(gb_mul(w, q), q));
}

float gb_fit_scale(gb_fit fit)
{
    return fit.qq > 0.0 ? gb_divide(fit.xq, fit.qq) : 0.0;
}

// The best numbers so far: their scale, their score, and the inverse scale that
// made them.
struct gb_best {
    float scale, score, inverse;
};

gb_best gb_fit_best(gb_fit fit, float inverse)
{
    const float scale = gb_fit_scale(fit);

    return gb_best(scale, gb_mul(scale, fit.xq), inverse);
}

bool gb_fit_beats(gb_fit fit, gb_best best)
{
    return fit.qq > 0.0 &&
           gb_mul(fit.xq, fit.xq) > gb_mul(best.score, fit.qq);
}

#endif
