/* SPDX-License-Identifier: MIT */
/*
 * type/q8.c - eight bits a value: q8_0, and q8_1 with the sum of its values.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/search.h"

#include <math.h>

/* Codes of one block into QS; the unrounded scale. */
static float
quantize_block(const float *x, int8_t *qs)
{
    const float d = fabsf(gb_search_largest(GB_QK, x)) / 127.0f;
    const float id = d != 0.0f ? 1.0f / d : 0.0f;

    for (int j = 0; j < GB_QK; j++)
        qs[j] = (int8_t)gb_round_away(x[j] * id, 127);
    return d;
}

void
gb_q8_0_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q8_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int j = 0; j < GB_QK; j++)
            x[j] = d * (float)block->qs[j];
    }
}

void
gb_q8_0_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++)
        block->d = gb_f32_to_f16_le(quantize_block(x, block->qs));
}

void
gb_q8_0_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance; /* the largest value decides alone */
    gb_q8_0_from_float(x, y, n);
}

void
gb_q8_1_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_1 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = quantize_block(x, block->qs);
        int sum = 0;

        for (int j = 0; j < GB_QK; j++)
            sum += block->qs[j];
        block->d = gb_f32_to_f16_le(d);
        block->s = gb_f32_to_f16_le(d * (float)sum);
    }
}
