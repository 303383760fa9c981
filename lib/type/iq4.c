/* SPDX-License-Identifier: MIT */
/*
 * type/iq4.c - four bits a value that name one of sixteen fixed values: iq4_nl
 * with a scale for 32, iq4_xs with six-bit scales in blocks of 256.
 */
#include "config.h"

#include "lib/type/iq4.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/pack.h"
#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define SUBS (GB_QK_K / GB_QK) /* sub-blocks of iq4_xs */

#define VALUE(v) v
const int8_t gb_iq4_values[16] = { GB_IQ4_VALUES(VALUE) };

/* Code of the nearest value, the upper one of two; 0 for a NaN. */
static uint8_t
nearest(float v)
{
    int code = 0;

    /* Twice the middle between two values is whole, so nothing is rounded. */
    for (int k = 0; k < 15; k++)
        code += 2.0f * v >= (float)(gb_iq4_values[k] + gb_iq4_values[k + 1]);
    return (uint8_t)code;
}

static struct gb_fit
fit_codes(const float *x, const float *w, const uint8_t *codes)
{
    struct gb_fit fit = { 0.0f, 0.0f };

    for (int i = 0; i < GB_QK; i++) {
        const float v = (float)gb_iq4_values[codes[i]];

        fit.xq += w[i] * v * x[i];
        fit.qq += w[i] * v * v;
    }
    return fit;
}

static struct gb_fit
fit_inverse(const float *x, const float *w, float inverse)
{
    uint8_t codes[GB_QK];

    for (int i = 0; i < GB_QK; i++)
        codes[i] = nearest(inverse * x[i]);
    return fit_codes(x, w, codes);
}

/*
 * The best scale of 32 values, of candidates that make the largest value, with
 * its sign turned and then as it is, one about the lowest of the sixteen; 0 for
 * zeros.
 */
static float
search_scale(const float *x, const float *w)
{
    const float lowest = (float)gb_iq4_values[0];
    const float largest = gb_search_largest(GB_QK, x);
    struct gb_best best;

    if (fabsf(largest) < GB_SEARCH_TINY)
        return 0.0f;
    best = gb_fit_best(fit_inverse(x, w, -lowest / largest));
    for (int k = -7; k <= 7; k++) {
        const struct gb_fit fit =
            fit_inverse(x, w, ((float)k + lowest) / largest);

        if (gb_fit_beats(fit, best))
            best = gb_fit_best(fit);
    }
    return best.scale;
}

/* Codes of x / scale; those of zero when there is no scale. */
static void
code_by(const float *x, float scale, uint8_t *codes)
{
    const float inverse = scale != 0.0f ? 1.0f / scale : 0.0f;

    for (int i = 0; i < GB_QK; i++)
        codes[i] = nearest(inverse * x[i]);
}

void
gb_iq4_nl_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq4_nl *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        uint8_t codes[GB_QK];

        gb_unpack_nibbles(GB_QK / 2, block->qs, codes);
        for (int i = 0; i < GB_QK; i++)
            x[i] = d * (float)gb_iq4_values[codes[i]];
    }
}

/* One candidate, and its scale fitted: quick enough for activations. */
void
gb_iq4_nl_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_iq4_nl *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float largest = gb_search_largest(GB_QK, x);
        float w[GB_QK];
        uint8_t codes[GB_QK];
        struct gb_fit fit;

        if (fabsf(largest) < GB_SEARCH_TINY) {
            memset(block, 0, sizeof(*block));
            continue;
        }
        gb_weights(GB_QK, x, NULL, 0.0f, w);
        code_by(x, largest / (float)gb_iq4_values[0], codes);
        fit = fit_codes(x, w, codes);
        block->d = gb_f32_to_f16_le(gb_fit_scale(fit));
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}

void
gb_iq4_nl_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_iq4_nl *block = y;

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        const float *weights = importance != NULL ? importance + i : NULL;
        const float energy =
            gb_energy(GB_QK, x + i, importance != NULL ? 2.0f : 0.0f);
        float w[GB_QK], d;
        uint8_t codes[GB_QK];

        gb_weights(GB_QK, x + i, weights, energy, w);
        d = search_scale(x + i, w);
        code_by(x + i, d, codes);
        block->d = gb_f32_to_f16_le(d);
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}

void
gb_iq4_xs_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq4_xs *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int b = 0; b < SUBS; b++) {
            const int low = block->scales_l[b / 2] >> 4 * (b % 2) & 15;
            const int high = gb_le16(block->scales_h) >> 2 * b & 3;
            const float scale = d * (float)((low | high << 4) - 32);
            uint8_t codes[GB_QK];

            gb_unpack_nibbles(GB_QK / 2, block->qs + GB_QK / 2 * b, codes);
            for (int i = 0; i < GB_QK; i++)
                x[GB_QK * b + i] = scale * (float)gb_iq4_values[codes[i]];
        }
    }
}

static void
quantize_xs_block(const float *x, const float *importance,
                  struct gb_block_iq4_xs *block)
{
    const float energy =
        gb_energy(GB_QK_K, x, importance != NULL ? 2.0f : 0.0f);
    float scales[SUBS], d, inverse;

    for (int b = 0; b < SUBS; b++) {
        float w[GB_QK];

        gb_weights(GB_QK, x + GB_QK * b,
                   importance != NULL ? importance + GB_QK * b : NULL, energy,
                   w);
        scales[b] = search_scale(x + GB_QK * b, w);
    }
    d = -gb_search_largest(SUBS, scales) / 32.0f;
    inverse = d != 0.0f ? 1.0f / d : 0.0f;

    memset(block, 0, sizeof(*block));
    block->d = gb_f32_to_f16_le(d);
    for (int b = 0; b < SUBS; b++) {
        const int multiple = gb_round(inverse * scales[b], -32, 31);
        const unsigned code = (unsigned)(multiple + 32);
        uint8_t codes[GB_QK];

        block->scales_l[b / 2] |= (uint8_t)((code & 15) << 4 * (b % 2));
        block->scales_h |= gb_le16((uint16_t)(code >> 4 << 2 * b));
        code_by(x + GB_QK * b, d * (float)multiple, codes);
        gb_pack_nibbles(GB_QK / 2, codes, block->qs + GB_QK / 2 * b);
    }
}

void
gb_iq4_xs_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_iq4_xs *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++)
        quantize_xs_block(x + i, importance != NULL ? importance + i : NULL,
                          block);
}

void
gb_iq4_xs_from_float(const float *x, void *y, int64_t n)
{
    gb_iq4_xs_quantize(x, y, n, NULL);
}
