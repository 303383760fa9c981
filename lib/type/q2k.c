/* SPDX-License-Identifier: MIT */
/*
 * type/q2k.c - two bits a value, sub-blocks of 16 with scale and minimum.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/k-affine.h"
#include "lib/type/pack.h"

static const struct gb_k_affine_format q2_k = {
    .n_subs = 16,
    .top = 3,
    .scale_top = 15,
    .energy = 1.0f,
    .plain = { .first = -0.5f, .step = 0.1f, .last = 15, .is_absolute = true },
};

void
gb_q2_k_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q2_k *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        const float dmin = gb_f16_le_to_f32(block->dmin);
        uint8_t codes[GB_QK_K];

        gb_unpack_pairs(block->qs, codes);
        for (int b = 0; b < 16; b++) {
            const float scale = d * (float)(block->scales[b] & 15);
            const float min = dmin * (float)(block->scales[b] >> 4);

            for (int e = 16 * b; e < 16 * (b + 1); e++)
                x[e] = scale * (float)codes[e] - min;
        }
    }
}

void
gb_q2_k_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q2_k *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        struct gb_k_affine found;

        gb_k_affine_quantize(&q2_k, x + i,
                             importance != NULL ? importance + i : NULL,
                             &found);
        block->d = gb_le16(found.d);
        block->dmin = gb_le16(found.dmin);
        for (int b = 0; b < 16; b++)
            block->scales[b] =
                (uint8_t)(found.scales[b] | found.mins[b] << 4);
        gb_pack_pairs(found.codes, block->qs);
    }
}

void
gb_q2_k_from_float(const float *x, void *y, int64_t n)
{
    gb_q2_k_quantize(x, y, n, NULL);
}
