/* SPDX-License-Identifier: MIT */
/*
 * type/search.c - the scale that loses least.
 */
#include "config.h"

#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define MAX_SWEEPS 5 /* of moves of single codes */

const struct gb_steps gb_steps_fine = {
    .first = -0.9f, .step = 0.05f, .last = 36
};

/* V, between 0 and TOP, without its fraction; 0 for a NaN. */
static int
truncate(float v, int top)
{
    v = v > 0.0f ? v : 0.0f;
    return (int)(v < (float)top ? v : (float)top);
}

struct gb_fit
gb_fit_numbers(int n, const float *x, const float *w, const float *numbers)
{
    struct gb_fit fit = { 0.0f, 0.0f };

    for (int i = 0; i < n; i++) {
        fit.xq += w[i] * x[i] * numbers[i];
        fit.qq += w[i] * numbers[i] * numbers[i];
    }
    return fit;
}

float
gb_search_damping(int n, const float *x, const float *w, const float *y)
{
    double xy = 0.0, yy = 0.0;

    for (int i = 0; i < n; i++) {
        const double wy = (w != NULL ? (double)w[i] : 1.0) * (double)y[i];

        xy += wy * (double)x[i];
        yy += wy * (double)y[i];
    }
    /* The error of Y is that of zeros, and yy - 2 xy. */
    if (!(yy > 2.0 * xy))
        return 1.0f;
    return xy > 0.0 ? (float)(xy / yy) : 0.0f;
}

float
gb_search_largest(int n, const float *x)
{
    float largest = 0.0f, magnitude = 0.0f;

    for (int i = 0; i < n; i++) {
        if (fabsf(x[i]) > magnitude) {
            magnitude = fabsf(x[i]);
            largest = x[i];
        }
    }
    return largest;
}

struct gb_range
gb_search_range(int64_t n, const float *x)
{
    struct gb_range range = { x[0], x[0] };

    for (int64_t i = 1; i < n; i++) {
        if (x[i] < range.min)
            range.min = x[i];
        if (x[i] > range.max)
            range.max = x[i];
    }
    return range;
}

float
gb_energy(int64_t n, const float *x, float factor)
{
    float sum = 0.0f;

    for (int64_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return factor * sum / (float)n;
}

void
gb_weights(int n, const float *x, const float *importance, float energy,
           float *w)
{
    for (int i = 0; i < n; i++)
        w[i] = energy + x[i] * x[i];
    if (importance == NULL)
        return;
    for (int i = 0; i < n; i++)
        w[i] = importance[i] * sqrtf(w[i]);
}

void
gb_codes_by_scale(int n, const float *x, float d, int top, uint8_t *codes)
{
    const float id = d != 0.0f ? 1.0f / d : 0.0f;

    for (int i = 0; i < n; i++)
        codes[i] = (uint8_t)truncate(x[i] * id + ((float)top + 0.5f),
                                     2 * top - 1);
}

void
gb_codes_by_range(int n, const float *x, float d, float min, int top,
                  uint8_t *codes)
{
    const float id = d != 0.0f ? 1.0f / d : 0.0f;

    for (int i = 0; i < n; i++)
        codes[i] = (uint8_t)truncate((x[i] - min) * id + 0.5f, top);
}

/*
 * The numbers of (x - min) * inverse between LO and HI.  They are floats, since
 * all that is done with them is sums; and taken by eights, which compilers turn
 * into vectors.
 */
static void
round_all(int n, const float *restrict x, float min, float inverse, int lo,
          int hi, float *restrict numbers)
{
    for (int i = 0; i < n; i += 8)
        for (int j = i; j < i + 8; j++)
            numbers[j] = (float)gb_round((x[j] - min) * inverse, lo, hi);
}

static void
numbers_to_codes(int n, const float *numbers, int first, uint8_t *codes)
{
    for (int i = 0; i < n; i++)
        codes[i] = (uint8_t)((int)numbers[i] + first);
}

float
gb_search_sym(int n, int top, const float *x, const float *w, uint8_t *codes)
{
    const float largest = gb_search_largest(n, x);
    float own_weights[GB_SEARCH_MAX] = { 0.0f }, numbers[GB_SEARCH_MAX];
    float best_inverse;
    struct gb_best best;

    if (fabsf(largest) < GB_SEARCH_TINY) {
        memset(codes, 0, (size_t)n);
        return 0.0f;
    }
    if (w == NULL) {
        gb_weights(n, x, NULL, 0.0f, own_weights);
        w = own_weights;
    }

    best_inverse = -(float)top / largest;
    round_all(n, x, 0.0f, best_inverse, -top, top - 1, numbers);
    best = gb_fit_best(gb_fit_numbers(n, x, w, numbers));
    for (int k = -9; k <= 9; k++) {
        const float inverse = -((float)top + 0.1f * (float)k) / largest;
        struct gb_fit fit;

        /* Seen already: it must not win back a tie by its rounding. */
        if (k == 0)
            continue;
        round_all(n, x, 0.0f, inverse, -top, top - 1, numbers);
        fit = gb_fit_numbers(n, x, w, numbers);
        if (gb_fit_beats(fit, best)) {
            best = gb_fit_best(fit);
            best_inverse = inverse;
        }
    }
    round_all(n, x, 0.0f, best_inverse, -top, top - 1, numbers);
    numbers_to_codes(n, numbers, top, codes);
    return best.scale;
}

/*
 * Move single numbers, each between LO and HI, while the score grows.  FIT
 * belongs to them; the fit of the moved ones is returned.
 */
static struct gb_fit
move_numbers(int n, int lo, int hi, const float *x, const float *w,
             float *numbers, struct gb_fit fit)
{
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        bool moved = false;

        for (int i = 0; i < n; i++) {
            const float old = numbers[i];
            struct gb_fit rest = { fit.xq - w[i] * x[i] * old,
                                   fit.qq - w[i] * old * old };
            float number;

            if (!(rest.xq > 0.0f && rest.qq > 0.0f))
                continue;
            number = (float)gb_round(x[i] * rest.qq / rest.xq, lo, hi);
            if (number == old)
                continue;
            rest.xq += w[i] * x[i] * number;
            rest.qq += w[i] * number * number;
            if (rest.xq * rest.xq * fit.qq > fit.xq * fit.xq * rest.qq) {
                numbers[i] = number;
                fit = rest;
                moved = true;
            }
        }
        if (!moved)
            break;
    }
    return fit;
}

float
gb_search_sym_by_moves(int n, int top, const float *x, uint8_t *codes)
{
    const float largest = gb_search_largest(n, x);
    float w[GB_SEARCH_MAX] = { 0.0f }, numbers[GB_SEARCH_MAX];
    struct gb_fit fit;

    if (fabsf(largest) < GB_SEARCH_TINY) {
        memset(codes, 0, (size_t)n);
        return 0.0f;
    }
    gb_weights(n, x, NULL, 0.0f, w);
    round_all(n, x, 0.0f, -(float)top / largest, -top, top - 1, numbers);
    fit = move_numbers(n, -top, top - 1, x, w, numbers,
                       gb_fit_numbers(n, x, w, numbers));
    numbers_to_codes(n, numbers, top, codes);
    return gb_fit_scale(fit);
}

/* A straight line through the points (code, x). */
struct line {
    float scale;
    float min;
};

/* Weighted sums over the values alone. */
struct value_sums {
    float w;
    float wx;
};

/*
 * The best line for given codes whose minimum is not above zero; false when the
 * codes are all alike.
 */
static bool
fit_line(int n, const float *x, const float *w, const float *codes,
         struct value_sums values, struct line *out)
{
    float wl = 0.0f, wll = 0.0f, wxl = 0.0f, determinant;

    for (int i = 0; i < n; i++) {
        wl += w[i] * codes[i];
        wll += w[i] * codes[i] * codes[i];
        wxl += w[i] * codes[i] * x[i];
    }
    determinant = values.w * wll - wl * wl;
    if (!(determinant > 0.0f))
        return false;
    out->scale = (values.w * wxl - values.wx * wl) / determinant;
    out->min = (wll * values.wx - wl * wxl) / determinant;
    if (out->min > 0.0f) {
        out->min = 0.0f;
        out->scale = wxl / wll;
    }
    return true;
}

static float
line_error(int n, const float *x, const float *w, const float *codes,
           struct line line, bool is_absolute)
{
    float error = 0.0f;

    for (int i = 0; i < n; i++) {
        const float diff = line.scale * codes[i] + line.min - x[i];

        error += w[i] * (is_absolute ? fabsf(diff) : diff * diff);
    }
    return error;
}

float
gb_search_asym(const struct gb_steps *steps, int n, int top, const float *x,
               const float *w, uint8_t *codes, float *min_out)
{
    const struct gb_range range = gb_search_range(n, x);
    struct line best = { 0.0f, range.min < 0.0f ? range.min : 0.0f };
    struct value_sums values = { 0.0f, 0.0f };
    float numbers[GB_SEARCH_MAX], inverse, best_error;

    if (!(range.max > best.min)) {
        memset(codes, 0, (size_t)n);
        *min_out = -best.min;
        return 0.0f;
    }
    for (int i = 0; i < n; i++) {
        values.w += w[i];
        values.wx += w[i] * x[i];
    }
    inverse = (float)top / (range.max - best.min);
    best.scale = 1.0f / inverse;
    round_all(n, x, best.min, inverse, 0, top, numbers);
    numbers_to_codes(n, numbers, 0, codes);
    best_error = line_error(n, x, w, numbers, best, steps->is_absolute);

    for (int k = 0; k <= steps->last; k++) {
        struct line line;
        float error;

        inverse = (steps->first + steps->step * (float)k + (float)top) /
                  (range.max - best.min);
        round_all(n, x, best.min, inverse, 0, top, numbers);
        if (!fit_line(n, x, w, numbers, values, &line))
            continue;
        error = line_error(n, x, w, numbers, line, steps->is_absolute);
        if (error < best_error) {
            numbers_to_codes(n, numbers, 0, codes);
            best_error = error;
            best = line;
        }
    }
    *min_out = -best.min;
    return best.scale;
}

/* The squared error that numbers by this step make. */
static float
step_error(int n, const float *x, const float *w, const float *numbers,
           float step)
{
    float error = 0.0f;

    for (int i = 0; i < n; i++) {
        const float diff = x[i] - step * numbers[i];

        error += w[i] * diff * diff;
    }
    return error;
}

float
gb_search_pos(int n, int top, const float *x, const float *w, uint8_t *codes)
{
    const float highest = gb_search_range(n, x).max;
    float values[GB_SEARCH_MAX] = { 0.0f }, numbers[GB_SEARCH_MAX];
    float best_inverse, best_error;
    struct gb_fit fit;

    if (!(highest > 0.0f)) {
        memset(codes, 0, (size_t)n);
        return 0.0f;
    }
    /* A few values that the caller turned negative count as zero. */
    for (int i = 0; i < n; i++)
        values[i] = x[i] > 0.0f ? x[i] : 0.0f;

    best_inverse = (float)top / highest;
    round_all(n, values, 0.0f, best_inverse, 0, top, numbers);
    best_error = step_error(n, values, w, numbers, 1.0f / best_inverse);
    for (int k = -4; k <= 4; k++) {
        const float inverse = (0.1f * (float)k + (float)top) / highest;
        float error;

        round_all(n, values, 0.0f, inverse, 0, top, numbers);
        error = step_error(n, values, w, numbers, 1.0f / inverse);
        if (error < best_error) {
            best_error = error;
            best_inverse = inverse;
        }
    }
    round_all(n, values, 0.0f, best_inverse, 0, top, numbers);
    fit = move_numbers(n, 0, top, values, w, numbers,
                       gb_fit_numbers(n, values, w, numbers));
    numbers_to_codes(n, numbers, 0, codes);
    return gb_fit_scale(fit);
}
