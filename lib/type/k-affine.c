/* SPDX-License-Identifier: MIT */
/*
 * type/k-affine.c - quantising blocks whose sub-blocks have scale and minimum.
 *
 * Each sub-block is searched by itself; then its scale and minimum become small
 * multiples of what the block stores, and the codes are made once more against
 * what a reader will see.
 */
#include "config.h"

#include "lib/type/k-affine.h"

#include "lib/type/half.h"

#include <math.h>

#define MAX_SUBS 16

/* What the searches found for each sub-block. */
struct sub_blocks {
    float scales[MAX_SUBS];
    float mins[MAX_SUBS];
    float weights[MAX_SUBS]; /* sums */
};

/* Weights from the values alone. */
static void
plain_weights(const struct gb_k_affine_format *format, int n, const float *x,
              float *w)
{
    const float rms =
        format->plain_by_rms ? sqrtf(gb_energy(n, x, 1.0f)) : 0.0f;

    for (int i = 0; i < n; i++)
        w[i] = rms + fabsf(x[i]);
}

static void
search_subs(const struct gb_k_affine_format *format, const float *x,
            const float *importance, uint8_t *codes, struct sub_blocks *subs)
{
    const int n = GB_QK_K / format->n_subs;
    const float energy =
        importance != NULL ? gb_energy(GB_QK_K, x, format->energy) : 0.0f;
    const struct gb_steps *steps =
        importance != NULL ? &gb_steps_fine : &format->plain;

    for (int b = 0; b < format->n_subs; b++) {
        const float *values = x + b * n;
        float w[GB_SEARCH_MAX] = { 0.0f };

        if (importance != NULL)
            gb_weights(n, values, importance + b * n, energy, w);
        else
            plain_weights(format, n, values, w);
        subs->weights[b] = 0.0f;
        for (int i = 0; i < n; i++)
            subs->weights[b] += w[i];
        subs->scales[b] = gb_search_asym(steps, n, format->top, values, w,
                                         codes + b * n, &subs->mins[b]);
    }
}

/* Small multiples of the scale that is returned, for values >= 0. */
static float
plain_multiples(int n, int top, const float *values, uint8_t *multiples)
{
    const float highest = gb_search_range(n, values).max;
    const float inverse = highest > 0.0f ? (float)top / highest : 0.0f;

    for (int i = 0; i < n; i++)
        multiples[i] = (uint8_t)gb_round(inverse * values[i], 0, top);
    return highest > 0.0f ? highest / (float)top : 0.0f;
}

static void
code_again(const struct gb_k_affine_format *format, const float *x,
           struct gb_k_affine *block)
{
    const int n = GB_QK_K / format->n_subs;
    const float d = gb_f16_to_f32(block->d);
    const float dmin = gb_f16_to_f32(block->dmin);

    for (int b = 0; b < format->n_subs; b++) {
        const float scale = d * (float)block->scales[b];
        const float min = dmin * (float)block->mins[b];

        if (scale == 0.0f)
            continue;
        for (int i = b * n; i < (b + 1) * n; i++)
            block->codes[i] =
                (uint8_t)gb_round((x[i] + min) / scale, 0, format->top);
    }
}

void
gb_k_affine_quantize(const struct gb_k_affine_format *format, const float *x,
                     const float *importance, struct gb_k_affine *out)
{
    const int n = format->n_subs, top = format->scale_top;
    struct sub_blocks subs = { .scales = { 0.0f } };
    float d, dmin;

    search_subs(format, x, importance, out->codes, &subs);
    if (importance != NULL) {
        d = gb_search_pos(n, top, subs.scales, subs.weights, out->scales);
        dmin = gb_search_pos(n, top, subs.mins, subs.weights, out->mins);
    } else {
        d = plain_multiples(n, top, subs.scales, out->scales);
        dmin = plain_multiples(n, top, subs.mins, out->mins);
    }
    out->d = gb_f32_to_f16(d);
    out->dmin = gb_f32_to_f16(dmin);
    code_again(format, x, out);
}
