/* SPDX-License-Identifier: MIT */
/*
 * type/q3k.c - three bits a value, sub-blocks of 16 with a six-bit scale.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/k-scales.h"
#include "lib/type/pack.h"
#include "lib/type/search.h"

#include <string.h>

#define SUBS 16 /* sub-blocks, and values in each */

void
gb_q3_k_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q3_k *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        uint8_t scales[SUBS], codes[GB_QK_K];

        gb_q3_k_unpack_scales(block->scales, scales);
        gb_unpack_pairs(block->qs, codes);
        for (int e = 0; e < GB_QK_K; e++) {
            const int high = block->hmask[e % 32] >> e / 32 & 1;

            x[e] = d * (float)(scales[e / SUBS] - 32) *
                   (float)(codes[e] + 4 * high - 4);
        }
    }
}

/* The scales' codes without importance; the block's scale. */
static float
plain_multiples(const float *scales, uint8_t *multiples)
{
    const float largest = gb_search_largest(SUBS, scales);
    const float inverse = -32.0f / largest;

    if (largest == 0.0f) {
        memset(multiples, 0, SUBS);
        return 0.0f;
    }
    for (int b = 0; b < SUBS; b++)
        multiples[b] = (uint8_t)(gb_round(inverse * scales[b], -32, 31) + 32);
    return 1.0f / inverse;
}

/* Each sub-block's codes, the scales' codes and the block's scale. */
static float
search_subs(const float *x, const float *importance, uint8_t *codes,
            uint8_t *multiples)
{
    const float energy =
        importance != NULL ? gb_energy(GB_QK_K, x, 2.0f) : 0.0f;
    float scales[SUBS], sums[SUBS];

    for (int b = 0; b < SUBS; b++) {
        const float *values = x + SUBS * b;
        float w[SUBS];

        if (importance == NULL) {
            scales[b] = gb_search_sym_by_moves(SUBS, 4, values,
                                               codes + SUBS * b);
            continue;
        }
        gb_weights(SUBS, values, importance + SUBS * b, energy, w);
        scales[b] = gb_search_sym(SUBS, 4, values, w, codes + SUBS * b);
        sums[b] = 0.0f;
        for (int i = 0; i < SUBS; i++)
            sums[b] += w[i];
    }
    if (importance == NULL)
        return plain_multiples(scales, multiples);
    return gb_search_sym(SUBS, 32, scales, sums, multiples);
}

/* Codes against the scales that a reader will see. */
static void
code_again(const float *x, float d, const uint8_t *multiples, uint8_t *codes)
{
    for (int e = 0; e < GB_QK_K; e++) {
        const float scale = d * (float)(multiples[e / SUBS] - 32);

        if (scale != 0.0f)
            codes[e] = (uint8_t)(gb_round(x[e] / scale, -4, 3) + 4);
    }
}

void
gb_q3_k_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q3_k *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        uint8_t multiples[SUBS], codes[GB_QK_K];
        const float *weights = importance != NULL ? importance + i : NULL;

        block->d = gb_f32_to_f16_le(search_subs(x + i, weights, codes, multiples));
        code_again(x + i, gb_f16_le_to_f32(block->d), multiples, codes);
        gb_q3_k_pack_scales(multiples, block->scales);
        gb_pack_pairs(codes, block->qs);
        memset(block->hmask, 0, sizeof(block->hmask));
        for (int e = 0; e < GB_QK_K; e++)
            block->hmask[e % 32] |= (uint8_t)(codes[e] >> 2 << e / 32);
    }
}

void
gb_q3_k_from_float(const float *x, void *y, int64_t n)
{
    gb_q3_k_quantize(x, y, n, NULL);
}
