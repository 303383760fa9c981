/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/search.cuh - the scale of a sub-block that loses least.
 *
 * What lib/type/search.h says, for values in registers: candidates in the same
 * order, each rounded where the library's are, so that blocks have the same
 * bits.  With numbers q for codes and weights w, the best scale is
 * sum(w x q) / sum(w q^2), and sum(w x q)^2 / sum(w q^2) is the score.  Numbers
 * are floats; they are found again where they are needed rather than kept.
 */
#ifndef GB_CUDA_KERNELS_SEARCH_CUH
#define GB_CUDA_KERNELS_SEARCH_CUH

#include "backends/cuda/kernels/math.cuh"

/* Below this a block has no largest value to speak of: all its codes are 0. */
#define GB_SEARCH_TINY 1e-15f

/* ---- rounding ---- */

/* V between LO and HI (within 2^22 of zero), to the nearest integer, ties to
 * even; a NaN gives LO. */
GB_DEVICE float
gb_round_even(float v, float lo, float hi)
{
    v = v > lo ? v : lo;
    v = v < hi ? v : hi;
    return (v + 0x1.8p+23f) - 0x1.8p+23f;
}

/* V between -LIMIT and LIMIT, to the nearest integer, ties away from zero. */
GB_DEVICE int
gb_round_away(float v, float limit)
{
    int whole;
    float rest;

    v = v > -limit ? v : -limit;
    v = v < limit ? v : limit;
    whole = (int)v;
    rest = v - (float)whole;
    return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

/* V between 0 and TOP without its fraction; 0 for a NaN. */
GB_DEVICE uint32_t
gb_truncate(float v, float top)
{
    v = v > 0.0f ? v : 0.0f;
    return (uint32_t)(v < top ? v : top);
}

/* 1 / d, 0 for 0. */
GB_DEVICE float
gb_inverse(float d)
{
    return d != 0.0f ? 1.0f / d : 0.0f;
}

/* ---- extremes ---- */

/* The value of largest magnitude, the first of equals, with its sign. */
template <int n>
GB_DEVICE float
gb_largest(const float *x)
{
    float largest = 0.0f;

    GB_UNROLL
    for (int i = 0; i < n; i++)
        largest = gb_abs(x[i]) > gb_abs(largest) ? x[i] : largest;
    return largest;
}

struct gb_range {
    float min, max;
};

template <int n>
GB_DEVICE gb_range
gb_range_of(const float *x)
{
    gb_range range = { x[0], x[0] };

    GB_UNROLL
    for (int i = 1; i < n; i++) {
        range.min = x[i] < range.min ? x[i] : range.min;
        range.max = x[i] > range.max ? x[i] : range.max;
    }
    return range;
}

/* The mean of x^2. */
template <int n>
GB_DEVICE float
gb_energy(const float *x)
{
    float sum = 0.0f;

    GB_UNROLL
    for (int i = 0; i < n; i++)
        sum += gb_mul(x[i], x[i]);
    return sum / (float)n;
}

/* ---- scores ---- */

/* How some numbers fit: sum(w x q) and sum(w q^2). */
struct gb_fit {
    float xq, qq;
};

GB_DEVICE void
gb_fit_add(gb_fit *fit, float w, float x, float q)
{
    fit->xq += gb_mul(gb_mul(w, x), q);
    fit->qq += gb_mul(gb_mul(w, q), q);
}

GB_DEVICE float
gb_fit_scale(gb_fit fit)
{
    return fit.qq > 0.0f ? fit.xq / fit.qq : 0.0f;
}

/* The best numbers so far: their scale, their score, and the inverse scale that
 * made them. */
struct gb_best {
    float scale, score, inverse;
};

GB_DEVICE gb_best
gb_fit_best(gb_fit fit, float inverse)
{
    const float scale = gb_fit_scale(fit);

    return { scale, gb_mul(scale, fit.xq), inverse };
}

GB_DEVICE bool
gb_fit_beats(gb_fit fit, gb_best best)
{
    return fit.qq > 0.0f &&
           gb_mul(fit.xq, fit.xq) > gb_mul(best.score, fit.qq);
}

/* ---- numbers -top … top - 1 ---- */

/* How the numbers x * INVERSE fit, with the weights x^2. */
template <int n>
GB_DEVICE gb_fit
gb_fit_sym(const float *x, float top, float inverse)
{
    gb_fit fit = { 0.0f, 0.0f };

    GB_UNROLL
    for (int i = 0; i < n; i++)
        gb_fit_add(&fit, gb_mul(x[i], x[i]), x[i],
                   gb_round_even(x[i] * inverse, -top, top - 1.0f));
    return fit;
}

/* The best of nineteen candidates around the scale that makes the largest value
 * -top; a scale of 0 for zeros. */
template <int n>
GB_DEVICE gb_best
gb_search_sym(const float *x, float top)
{
    const float largest = gb_largest<n>(x);
    gb_best best = { 0.0f, 0.0f, 0.0f };

    if (gb_abs(largest) < GB_SEARCH_TINY)
        return best;
    best.inverse = -top / largest;
    best = gb_fit_best(gb_fit_sym<n>(x, top, best.inverse), best.inverse);
    GB_DO_NOT_UNROLL
    for (int k = -9; k <= 9; k++) {
        const float inverse = -(top + gb_mul(0.1f, (float)k)) / largest;
        const gb_fit fit = gb_fit_sym<n>(x, top, inverse);

        if (k != 0 && gb_fit_beats(fit, best))
            best = gb_fit_best(fit, inverse);
    }
    return best;
}

/* Move number I while the score grows; has it moved? */
GB_DEVICE bool
gb_move_number(float x, float top, float *number, gb_fit *fit)
{
    const float w = gb_mul(x, x);
    gb_fit rest = { fit->xq - gb_mul(gb_mul(w, x), *number),
                    fit->qq - gb_mul(gb_mul(w, *number), *number) };
    float moved;

    if (!(rest.xq > 0.0f && rest.qq > 0.0f))
        return false;
    moved = gb_round_even(gb_mul(x, rest.qq) / rest.xq, -top, top - 1.0f);
    if (moved == *number)
        return false;
    gb_fit_add(&rest, w, x, moved);
    if (!(gb_mul(gb_mul(rest.xq, rest.xq), fit->qq) >
          gb_mul(gb_mul(fit->xq, fit->xq), rest.qq)))
        return false;
    *number = moved;
    *fit = rest;
    return true;
}

/* From one candidate, by moving single numbers, at most five times each; their
 * scale.  NUMBERS are 0 - top where there is no largest value. */
template <int n>
GB_DEVICE float
gb_search_sym_by_moves(const float *x, float top, float *numbers)
{
    const float largest = gb_largest<n>(x);
    gb_fit fit = { 0.0f, 0.0f };
    bool has_moved = true;

    if (gb_abs(largest) < GB_SEARCH_TINY) {
        GB_UNROLL
        for (int i = 0; i < n; i++)
            numbers[i] = -top;
        return 0.0f;
    }
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        numbers[i] = gb_round_even(x[i] * (-top / largest), -top, top - 1.0f);
        gb_fit_add(&fit, gb_mul(x[i], x[i]), x[i], numbers[i]);
    }
    GB_DO_NOT_UNROLL
    for (int sweep = 0; sweep < 5 && has_moved; sweep++) {
        has_moved = false;
        GB_UNROLL
        for (int i = 0; i < n; i++)
            has_moved |= gb_move_number(x[i], top, &numbers[i], &fit);
    }
    return gb_fit_scale(fit);
}

/* ---- numbers 0 … top, with a minimum ---- */

/* Candidates: (first + step * k + top) for k = 0 … last. */
struct gb_steps {
    float first, step;
    int last;
    bool is_absolute; /* the error is a sum of w |x - …|, else of squares */
};

/* x = scale * number + min, and what made the numbers:
 * (x - numbers_min) * inverse. */
struct gb_line {
    float scale, min;
    float numbers_min, inverse;
};

GB_DEVICE float
gb_line_number(const gb_line &line, float x, float top)
{
    return gb_round_even((x - line.numbers_min) * line.inverse, 0.0f, top);
}

/* Weighted sums over the values alone. */
struct gb_value_sums {
    float w, wx;
};

/* The weight of a value; RMS is 0 for formats without. */
GB_DEVICE float
gb_weight(float x, float rms)
{
    return rms + gb_abs(x);
}

/*
 * Make LINE the best one for its numbers whose minimum is not above zero; false
 * when the numbers are all alike.
 */
template <int n>
GB_DEVICE bool
gb_fit_line(const float *x, float rms, float top, gb_value_sums values,
            gb_line *line)
{
    float wl = 0.0f, wll = 0.0f, wxl = 0.0f, determinant;

    GB_UNROLL
    for (int i = 0; i < n; i++) {
        const float number = gb_line_number(*line, x[i], top);
        const float wn = gb_mul(gb_weight(x[i], rms), number);

        wl += wn;
        wll += gb_mul(wn, number);
        wxl += gb_mul(wn, x[i]);
    }
    determinant = gb_mul(values.w, wll) - gb_mul(wl, wl);
    if (!(determinant > 0.0f))
        return false;
    line->scale =
        (gb_mul(values.w, wxl) - gb_mul(values.wx, wl)) / determinant;
    line->min = (gb_mul(wll, values.wx) - gb_mul(wl, wxl)) / determinant;
    if (line->min > 0.0f) {
        line->min = 0.0f;
        line->scale = wxl / wll;
    }
    return true;
}

template <int n>
GB_DEVICE float
gb_line_error(const float *x, float rms, float top, const gb_line &line,
              bool is_absolute)
{
    float error = 0.0f;

    GB_UNROLL
    for (int i = 0; i < n; i++) {
        const float number = gb_line_number(line, x[i], top);
        const float diff = gb_mul(line.scale, number) + line.min - x[i];

        error += gb_mul(gb_weight(x[i], rms),
                        is_absolute ? gb_abs(diff) : gb_mul(diff, diff));
    }
    return error;
}

/* The best line whose minimum is not above zero; numbers that are all 0, with
 * a scale of 0, when no value is above the minimum. */
template <int n>
GB_DEVICE gb_line
gb_search_asym(const float *x, float rms, float top, gb_steps steps)
{
    const gb_range range = gb_range_of<n>(x);
    const float least = range.min < 0.0f ? range.min : 0.0f;
    gb_line best = { 0.0f, least, least, 0.0f };
    gb_value_sums values = { 0.0f, 0.0f };
    float best_error;

    if (!(range.max > best.min))
        return best;
    GB_UNROLL
    for (int i = 0; i < n; i++) {
        values.w += gb_weight(x[i], rms);
        values.wx += gb_mul(gb_weight(x[i], rms), x[i]);
    }
    best.inverse = top / (range.max - best.min);
    best.scale = 1.0f / best.inverse;
    best_error = gb_line_error<n>(x, rms, top, best, steps.is_absolute);
    GB_DO_NOT_UNROLL
    for (int k = 0; k <= steps.last; k++) {
        gb_line line = { 0.0f, 0.0f, best.min, 0.0f };
        float error;

        line.inverse = (steps.first + gb_mul(steps.step, (float)k) + top) /
                       (range.max - best.min);
        if (!gb_fit_line<n>(x, rms, top, values, &line))
            continue;
        error = gb_line_error<n>(x, rms, top, line, steps.is_absolute);
        if (error < best_error) {
            best_error = error;
            best = line;
        }
    }
    return best;
}

/* ---- the sixteen values of iq4_nl and iq4_xs ---- */

GB_TABLE int8_t gb_iq4_values[16] = {
    -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113,
};

/* Code of the value nearest to V, the upper one of two; 0 for a NaN. */
GB_DEVICE int
gb_iq4_nearest(float v)
{
    int code = 0;

    /* Twice the middle between two values is whole: nothing is rounded. */
    GB_UNROLL
    for (int k = 0; k < 15; k++)
        code += 2.0f * v >= (float)(gb_iq4_values[k] + gb_iq4_values[k + 1]);
    return code;
}

/* How the codes of x * INVERSE fit 32 values, with the weights x^2. */
GB_DEVICE gb_fit
gb_fit_iq4(const float *x, float inverse)
{
    gb_fit fit = { 0.0f, 0.0f };

    GB_UNROLL
    for (int i = 0; i < 32; i++) {
        const float v = (float)gb_iq4_values[gb_iq4_nearest(inverse * x[i])];
        const float wv = gb_mul(gb_mul(x[i], x[i]), v);

        fit.xq += gb_mul(wv, x[i]);
        fit.qq += gb_mul(wv, v);
    }
    return fit;
}

/* The best of candidates that make the largest value, with its sign changed and
 * then as it is, one about the lowest of the sixteen; 0 for zeros. */
GB_DEVICE float
gb_search_iq4(const float *x)
{
    const float lowest = -127.0f;
    const float largest = gb_largest<32>(x);
    gb_best best = { 0.0f, 0.0f, 0.0f };

    if (gb_abs(largest) < GB_SEARCH_TINY)
        return 0.0f;
    GB_DO_NOT_UNROLL
    for (int k = -8; k <= 7; k++) {
        const float of_lowest = k == -8 ? -lowest : (float)k + lowest;
        const gb_fit fit = gb_fit_iq4(x, of_lowest / largest);

        if (k == -8 || gb_fit_beats(fit, best))
            best = gb_fit_best(fit, 0.0f);
    }
    return best.scale;
}

#endif
