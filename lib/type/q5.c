/* SPDX-License-Identifier: MIT */
/*
 * type/q5.c - five bits a value: q5_0 with a scale, q5_1 with a minimum too.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/pack.h"
#include "lib/type/search.h"

#include <string.h>

/* The fifth bits make one little-endian word. */
static void
pack(const uint8_t *codes, uint8_t *qs, uint8_t *qh)
{
    uint32_t high = 0;

    gb_pack_nibbles(GB_QK / 2, codes, qs);
    for (int j = 0; j < GB_QK; j++)
        high |= (uint32_t)(codes[j] >> 4) << j;
    high = gb_le32(high);
    memcpy(qh, &high, sizeof(high));
}

static void
unpack(const uint8_t *qs, const uint8_t *qh, uint8_t *codes)
{
    uint32_t high;

    memcpy(&high, qh, sizeof(high));
    high = gb_le32(high);
    gb_unpack_nibbles(GB_QK / 2, qs, codes);
    for (int j = 0; j < GB_QK; j++)
        codes[j] |= (uint8_t)((high >> j & 1) << 4);
}

void
gb_q5_0_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q5_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        uint8_t codes[GB_QK];

        unpack(block->qs, block->qh, codes);
        for (int j = 0; j < GB_QK; j++)
            x[j] = d * (float)(codes[j] - 16);
    }
}

void
gb_q5_0_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_0 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        uint8_t codes[GB_QK];
        const float d = gb_search_largest(GB_QK, x) / -16.0f;

        gb_codes_by_scale(GB_QK, x, d, 16, codes);
        block->d = gb_f32_to_f16_le(d);
        pack(codes, block->qs, block->qh);
    }
}

void
gb_q5_0_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q5_0 *block = y;

    if (importance == NULL) {
        gb_q5_0_from_float(x, y, n);
        return;
    }

    const float energy = gb_energy(n, x, 1.0f);

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        float w[GB_QK];
        uint8_t codes[GB_QK];

        gb_weights(GB_QK, x + i, importance + i, energy, w);
        block->d = gb_f32_to_f16_le(gb_search_sym(GB_QK, 16, x + i, w, codes));
        pack(codes, block->qs, block->qh);
    }
}

void
gb_q5_1_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q5_1 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        const float m = gb_f16_le_to_f32(block->m);
        uint8_t codes[GB_QK];

        unpack(block->qs, block->qh, codes);
        for (int j = 0; j < GB_QK; j++)
            x[j] = d * (float)codes[j] + m;
    }
}

void
gb_q5_1_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_1 *block = y;

    for (; n > 0; n -= GB_QK, x += GB_QK, block++) {
        uint8_t codes[GB_QK];
        const struct gb_range range = gb_search_range(GB_QK, x);
        const float d = (range.max - range.min) / 31.0f;

        gb_codes_by_range(GB_QK, x, d, range.min, 31, codes);
        block->d = gb_f32_to_f16_le(d);
        block->m = gb_f32_to_f16_le(range.min);
        pack(codes, block->qs, block->qh);
    }
}

void
gb_q5_1_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q5_1 *block = y;

    if (importance == NULL) {
        gb_q5_1_from_float(x, y, n);
        return;
    }

    const float energy = gb_energy(n, x, 1.0f);

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        float w[GB_QK], min;
        uint8_t codes[GB_QK];

        gb_weights(GB_QK, x + i, importance + i, energy, w);
        block->d = gb_f32_to_f16_le(gb_search_asym(
            &gb_steps_fine, GB_QK, 31, x + i, w, codes, &min));
        block->m = gb_f32_to_f16_le(-min);
        pack(codes, block->qs, block->qh);
    }
}
