/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/softmax.c - the passes of a softmax over one row.
 *
 *     score = scale x + slope mask
 *     dst = exp(score - max) / sum
 *
 * The first pass finds the maximum, which is taken off so that nothing
 * overflows; the second one the exponentials and their sum.  Scores are
 * computed twice, since that costs less than storing them: so dst is written
 * once.
 *
 * Exponentials are those of simd/math.h, sums those of long-sum.h.
 */
#include "backends/cpu/kernels/elementwise/long-sum.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/elementwise/map.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

#include <math.h>

/* Lanes behind the row would count as 0, so that the tail is compared element
 * by element. */
float
GB_K(scale_mask_max_f32)(int64_t n, float *dst, const float *x,
                         const float *mask, float scale, float slope)
{
    const vf vscale = vf_set1(scale);
    const vf vslope = vf_set1(slope);
    vf top = vf_set1(-INFINITY);
    float max;
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN) {
        vf s = vf_mul(vf_load(x + i), vscale);

        if (mask != NULL)
            s = vf_fma(vslope, vf_load(mask + i), s);
        vf_store(dst + i, s);
        top = vf_max(top, s);
    }
    max = vf_hmax(top);
    if (i < n) {
        const int rest = (int)(n - i);
        vf s = vf_mul(vf_load_n(x + i, rest), vscale);

        if (mask != NULL)
            s = vf_fma(vslope, vf_load_n(mask + i, rest), s);
        vf_store_n(dst + i, s, rest);
    }
    for (; i < n; i++)
        if (dst[i] > max)
            max = dst[i];
    return max;
}

/* VF_LEN scores from number I on.  T is the mask's type, NULL for no mask; it
 * is a constant of each caller, so that the questions cost nothing. */
GB_INLINE vf
scores_at(const struct gb_float_type *t, const struct gb_scores *s, int64_t i)
{
    const vf v = vf_mul(vf_load(s->x + i), vf_set1(s->scale));

    if (t == NULL)
        return v;
    return vf_fma(vf_set1(s->slope),
                  t->load((const char *)s->mask + (size_t)i * t->bytes), v);
}

/* The first N of them. */
GB_INLINE vf
some_scores_at(const struct gb_float_type *t, const struct gb_scores *s, int64_t i,
               int64_t n)
{
    const vf v = vf_mul(vf_load_n(s->x + i, n), vf_set1(s->scale));

    if (t == NULL)
        return v;
    return vf_fma(vf_set1(s->slope),
                  t->load_n((const char *)s->mask + (size_t)i * t->bytes, n),
                  v);
}

/* Two maxima, since one would wait for its own latency. */
GB_INLINE float
max_of_scores(const struct gb_float_type *t, int64_t n, const struct gb_scores *s)
{
    vf top = vf_set1(-INFINITY);
    vf top2 = top;
    float rest[VF_LEN];
    float max;
    int64_t i = 0;

    for (; i + 2 * VF_LEN <= n; i += 2 * VF_LEN) {
        top = vf_max(top, scores_at(t, s, i));
        top2 = vf_max(top2, scores_at(t, s, i + VF_LEN));
    }
    for (; i + VF_LEN <= n; i += VF_LEN)
        top = vf_max(top, scores_at(t, s, i));
    max = vf_hmax(vf_max(top, top2));
    if (i < n)
        vf_store(rest, some_scores_at(t, s, i, n - i));
    for (int64_t j = 0; j < n - i; j++)
        if (rest[j] > max)
            max = rest[j];
    return max;
}

GB_INLINE double
exp_of_scores(const struct gb_float_type *t, int64_t n, float *dst,
              const struct gb_scores *s, float shift)
{
    const vf vshift = vf_set1(shift);
    struct long_sum sum;
    int64_t i = 0;

    long_sum_init(&sum);
    for (; i + VF_LEN <= n; i += VF_LEN) {
        const vf e = vf_exp(vf_sub(scores_at(t, s, i), vshift));

        vf_store(dst + i, e);
        long_sum_add(&sum, e);
    }
    if (i < n) {
        const int rest = (int)(n - i);
        const vf e = vf_exp(vf_sub(some_scores_at(t, s, i, rest), vshift));

        vf_store_n(dst + i, e, rest);
        long_sum_add_n(&sum, e, rest);
    }
    return long_sum_total(&sum);
}

double
GB_K(exp_sum_f32)(int64_t n, float *dst, const float *x, float shift)
{
    const struct gb_scores s = { .x = x, .scale = 1.0f };

    return exp_of_scores(NULL, n, dst, &s, shift);
}

float
GB_K(scores_max)(int64_t n, const struct gb_scores *s)
{
    if (s->mask == NULL)
        return max_of_scores(NULL, n, s);
    if (s->mask_type == GGML_TYPE_F16)
        return max_of_scores(&gb_f16, n, s);
    return max_of_scores(&gb_f32, n, s);
}

double
GB_K(scores_exp_sum)(int64_t n, float *dst, const struct gb_scores *s,
                     float shift)
{
    if (s->mask == NULL)
        return exp_of_scores(NULL, n, dst, s, shift);
    if (s->mask_type == GGML_TYPE_F16)
        return exp_of_scores(&gb_f16, n, dst, s, shift);
    return exp_of_scores(&gb_f32, n, dst, s, shift);
}

/* The gradient: y (dy - sum(y dy)), with the scale. */
GB_MAP vf
soft_max_back(vf dy, vf y, vf sum, vf scale)
{
    return vf_mul(vf_mul(scale, y), vf_sub(dy, sum));
}

void
GB_K(soft_max_back_f32)(int64_t n, float *dst, const float *dy, const float *y,
                        float sum, float scale)
{
    map_2_with(n, dst, dy, y, sum, scale, soft_max_back);
}
