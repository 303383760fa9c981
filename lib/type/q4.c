/* SPDX-License-Identifier: MIT */
/*
 * type/q4.c - four bits a value: q4_0 with a scale, q4_1 with a minimum too.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/pack.h"
#include "lib/type/search.h"

void
gb_q4_0_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q4_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int j = 0; j < GB_QK / 2; j++) {
            x[j] = d * (float)((block->qs[j] & 15) - 8);
            x[j + GB_QK / 2] = d * (float)((block->qs[j] >> 4) - 8);
        }
    }
}

void
gb_q4_0_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        uint8_t codes[GB_QK];
        const float d = gb_search_largest(GB_QK, x) / -8.0f;

        gb_codes_by_scale(GB_QK, x, d, 8, codes);
        block->d = gb_f32_to_f16_le(d);
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}

void
gb_q4_0_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q4_0 *block = y;

    if (importance == NULL) {
        gb_q4_0_from_float(x, y, n);
        return;
    }

    const float energy = gb_energy(n, x, 1.0f);

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        float w[GB_QK];
        uint8_t codes[GB_QK];

        gb_weights(GB_QK, x + i, importance + i, energy, w);
        block->d = gb_f32_to_f16_le(gb_search_sym(GB_QK, 8, x + i, w, codes));
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}

void
gb_q4_1_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q4_1 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        const float m = gb_f16_le_to_f32(block->m);

        for (int j = 0; j < GB_QK / 2; j++) {
            x[j] = d * (float)(block->qs[j] & 15) + m;
            x[j + GB_QK / 2] = d * (float)(block->qs[j] >> 4) + m;
        }
    }
}

void
gb_q4_1_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_1 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        uint8_t codes[GB_QK];
        const struct gb_range range = gb_search_range(GB_QK, x);
        const float d = (range.max - range.min) / 15.0f;

        gb_codes_by_range(GB_QK, x, d, range.min, 15, codes);
        block->d = gb_f32_to_f16_le(d);
        block->m = gb_f32_to_f16_le(range.min);
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}

void
gb_q4_1_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q4_1 *block = y;

    if (importance == NULL) {
        gb_q4_1_from_float(x, y, n);
        return;
    }

    const float energy = gb_energy(n, x, 1.0f);

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        float w[GB_QK], min;
        uint8_t codes[GB_QK];

        gb_weights(GB_QK, x + i, importance + i, energy, w);
        block->d = gb_f32_to_f16_le(gb_search_asym(
            &gb_steps_fine, GB_QK, 15, x + i, w, codes, &min));
        block->m = gb_f32_to_f16_le(-min);
        gb_pack_nibbles(GB_QK / 2, codes, block->qs);
    }
}
