/* SPDX-License-Identifier: MIT */
/*
 * type/search.h - the scale that loses least.
 *
 * Each search looks for the scale, and here and there a minimum, with which N
 * values x are told best by small integer codes.  Candidates come in a fixed
 * order and a later one must be better to be taken; sums run in the order of
 * the values, in float.  So a file comes out the same on every machine.
 *
 * With q the codes' numbers and w the weights, the best scale of given codes is
 * sum(w x q) / sum(w q^2) (least squares), and sum(w x q)^2 / sum(w q^2) is
 * what it takes away from the error: the score.
 *
 * N is a multiple of 8 up to GB_SEARCH_MAX.  Scales of values that are not
 * finite may be not finite; codes are always in their range.
 */
#ifndef GB_TYPE_SEARCH_H
#define GB_TYPE_SEARCH_H

#include "lib/type/half.h"

#include <stdbool.h>
#include <stdint.h>

#define GB_SEARCH_MAX 32

/* Below this a block has no largest value to speak of: all its codes are 0. */
#define GB_SEARCH_TINY 1e-15f

/*
 * V between LO and HI (within 2^22 of zero), to the nearest integer, ties to
 * even; a NaN gives LO.  1.5 * 2^23 has the place value 1 in its last bit, so
 * that the addition rounds, on machines with wider registers too.
 */
static inline int
gb_round(float v, int lo, int hi)
{
    v = v > (float)lo ? v : (float)lo;
    v = v < (float)hi ? v : (float)hi;
    return (int)(gb_f32_bits(v + 0x1.8p23f) & 0x7FFFFF) - 0x400000;
}

/* V between -LIMIT and LIMIT, to the nearest integer, ties away from zero. */
static inline int
gb_round_away(float v, int limit)
{
    int whole;
    float rest;

    v = v > (float)-limit ? v : (float)-limit;
    v = v < (float)limit ? v : (float)limit;
    whole = (int)v;
    rest = v - (float)whole;
    return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

/* How some codes fit: sum(w x q) and sum(w q^2). */
struct gb_fit {
    float xq;
    float qq;
};

/* How these numbers q fit. */
struct gb_fit gb_fit_numbers(int n, const float *x, const float *w,
                             const float *numbers);

static inline float
gb_fit_scale(struct gb_fit fit)
{
    return fit.qq > 0.0f ? fit.xq / fit.qq : 0.0f;
}

/* The best codes so far: their scale, and their score. */
struct gb_best {
    float scale;
    float score;
};

static inline struct gb_best
gb_fit_best(struct gb_fit fit)
{
    const float scale = gb_fit_scale(fit);

    return (struct gb_best){ scale, scale * fit.xq };
}

/* Has FIT a higher score?  A candidate costs no division. */
static inline bool
gb_fit_beats(struct gb_fit fit, struct gb_best best)
{
    return fit.qq > 0.0f && fit.xq * fit.xq > best.score * fit.qq;
}

/*
 * The factor, 0 to 1, on numbers Y that brings them no farther from X than zeros
 * are; 1 if they are no farther already.  Weights W, NULL for 1.  Values of large
 * weight may have made all their neighbours in Y as large as themselves.
 */
float gb_search_damping(int n, const float *x, const float *w, const float *y);

/* The value of largest magnitude, the first of equals, with its sign. */
float gb_search_largest(int n, const float *x);

struct gb_range {
    float min;
    float max;
};

struct gb_range gb_search_range(int64_t n, const float *x);

/* FACTOR * the mean of x^2 */
float gb_energy(int64_t n, const float *x, float factor);

/* w = importance * sqrt(energy + x^2), or energy + x^2 without importance */
void gb_weights(int n, const float *x, const float *importance, float energy,
                float *w);

/*
 * Codes of x / d + TOP, halves rounded up, for a d chosen so that the largest
 * value becomes code 0: 0 to 2 * TOP - 1.
 */
void gb_codes_by_scale(int n, const float *x, float d, int top, uint8_t *codes);

/* Codes of (x - min) / d, halves rounded up: 0 to TOP. */
void gb_codes_by_range(int n, const float *x, float d, float min, int top,
                       uint8_t *codes);

/*
 * Numbers q = -TOP … TOP - 1, stored as codes q + TOP: nineteen candidates
 * around the scale that makes the largest value -TOP.  Weights w, NULL for x^2.
 * Returns the least-squares scale; 0 with codes 0 for a block of zeros.
 */
float gb_search_sym(int n, int top, const float *x, const float *w,
                    uint8_t *codes);

/* The same with w = x^2, from one candidate, by moving single codes while the
 * score grows. */
float gb_search_sym_by_moves(int n, int top, const float *x, uint8_t *codes);

/* Candidates of the next search: (first + step * k + top) for k = 0 … last. */
struct gb_steps {
    float first;
    float step;
    int last;
    bool is_absolute; /* the error is a sum of w |x - …|, else of squares */
};

extern const struct gb_steps gb_steps_fine; /* with importance weights */

/*
 * Codes 0 … TOP with x = scale * code - *min_out, *min_out >= 0: candidates for
 * the step between lowest and highest value, each refined by least squares.
 * Returns the scale.
 */
float gb_search_asym(const struct gb_steps *steps, int n, int top,
                     const float *x, const float *w, uint8_t *codes,
                     float *min_out);

/*
 * Codes 0 … TOP for values that are not negative: the best of nine candidates,
 * then moves of single codes.  Returns the least-squares scale.
 */
float gb_search_pos(int n, int top, const float *x, const float *w,
                    uint8_t *codes);

#endif
