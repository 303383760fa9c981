// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/search-asym.glsl - scales and minima for numbers from 0
// to top; see search.glsl.
#ifndef GB_SEARCH_ASYM_GLSL
#define GB_SEARCH_ASYM_GLSL

#include "search.glsl"

// Candidates: (first + step * k + top) for k = 0 … last.
struct gb_steps {
    float first, step;
    int last;
    bool is_absolute; // the error is a sum of w |x - …|, else of squares
};

// x = scale * number + least, and what made the numbers:
// (x - numbers_least) * inverse.
struct gb_line {
    float scale, least;
    float numbers_least, inverse;
};

float gb_line_number(gb_line line, float x, float top)
{
    return gb_round_even(gb_mul(gb_sub(x, line.numbers_least), line.inverse),
                         0.0, top);
}

// The weight of a value; RMS is 0 for formats without.
float gb_weight(float x, float rms)
{
    return gb_add(rms, abs(x));
}

// Make LINE the best one for its numbers whose minimum is not above zero; false
// when the numbers are all alike.  SUM_W and SUM_WX are of all values.
bool gb_fit_line(float x[GB_SUB], float rms, float top, float sum_w,
                 float sum_wx, inout gb_line line)
{
    float wl = 0.0, wll = 0.0, wxl = 0.0, determinant;

    for (uint i = 0u; i < GB_SUB; i++) {
        const float number = gb_line_number(line, x[i], top);
        const float wn = gb_mul(gb_weight(x[i], rms), number);

        wl = gb_add(wl, wn);
        wll = gb_add(wll, gb_mul(wn, number));
        wxl = gb_add(wxl, gb_mul(wn, x[i]));
    }
    determinant = gb_sub(gb_mul(sum_w, wll), gb_mul(wl, wl));
    if (!(determinant > 0.0))
        return false;
    line.scale = gb_divide(gb_sub(gb_mul(sum_w, wxl), gb_mul(sum_wx, wl)),
                           determinant);
    line.least = gb_divide(gb_sub(gb_mul(wll, sum_wx), gb_mul(wl, wxl)),
                           determinant);
    if (line.least > 0.0) {
        line.least = 0.0;
        line.scale = gb_divide(wxl, wll);
    }
    return true;
}

float gb_line_error(float x[GB_SUB], float rms, float top, gb_line line,
                    bool is_absolute)
{
    float error = 0.0;

    for (uint i = 0u; i < GB_SUB; i++) {
        const float number = gb_line_number(line, x[i], top);
        const float diff = gb_sub(
            gb_add(gb_mul(line.scale, number), line.least), x[i]);

        error = gb_add(error,
                       gb_mul(gb_weight(x[i], rms),
                              is_absolute ? abs(diff) : gb_mul(diff, diff)));
    }
    return error;
}

// The best line whose minimum is not above zero; numbers that are all 0, with a
// scale of 0, when no value is above the minimum.
gb_line gb_search_asym(float x[GB_SUB], float rms, float top, gb_steps steps)
{
    const vec2 range = gb_range_of(x);
    const float least = range.x < 0.0 ? range.x : 0.0;
    gb_line best = gb_line(0.0, least, least, 0.0);
    float sum_w = 0.0, sum_wx = 0.0, best_error;

    if (!(range.y > best.least))
        return best;
    for (uint i = 0u; i < GB_SUB; i++) {
        sum_w = gb_add(sum_w, gb_weight(x[i], rms));
        sum_wx = gb_add(sum_wx, gb_mul(gb_weight(x[i], rms), x[i]));
    }
    best.inverse = gb_divide(top, gb_sub(range.y, best.least));
    best.scale = gb_divide(1.0, best.inverse);
    best_error = gb_line_error(x, rms, top, best, steps.is_absolute);
    for (int k = 0; k <= steps.last; k++) {
        const float part = gb_add(
            gb_add(steps.first, gb_mul(steps.step, float(k))), top);
        gb_line line = gb_line(0.0, 0.0, best.least, 0.0);
        float error;

        line.inverse = gb_divide(part, gb_sub(range.y, best.least));
        if (!gb_fit_line(x, rms, top, sum_w, sum_wx, line))
            continue;
        error = gb_line_error(x, rms, top, line, steps.is_absolute);
        if (error < best_error) {
            best_error = error;
            best = line;
        }
    }
    return best;
}

#endif
