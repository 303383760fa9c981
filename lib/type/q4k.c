/* SPDX-License-Identifier: MIT */
/*
 * type/q4k.c - four bits a value, sub-blocks of 32 with scale and minimum.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/k-affine.h"
#include "lib/type/k-scales.h"
#include "lib/type/pack.h"

static const struct gb_k_affine_format q4_k = {
    .n_subs = 8,
    .top = 15,
    .scale_top = 63,
    .energy = 2.0f,
    .plain_by_rms = true,
    .plain = { .first = -1.0f, .step = 0.1f, .last = 20 },
};

void
gb_q4_k_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q4_k *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        const float dmin = gb_f16_le_to_f32(block->dmin);
        uint8_t scales[8], mins[8], codes[64];

        gb_k_unpack_scales(block->scales, scales, mins);
        for (int e = 0; e < GB_QK_K; e++) {
            const int b = e / 32;

            if (e % 64 == 0)
                gb_unpack_nibbles(32, block->qs + e / 2, codes);
            x[e] = d * (float)scales[b] * (float)codes[e % 64] -
                   dmin * (float)mins[b];
        }
    }
}

void
gb_q4_k_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q4_k *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        struct gb_k_affine found;

        gb_k_affine_quantize(&q4_k, x + i,
                             importance != NULL ? importance + i : NULL,
                             &found);
        block->d = gb_le16(found.d);
        block->dmin = gb_le16(found.dmin);
        gb_k_pack_scales(found.scales, found.mins, block->scales);
        for (int e = 0; e < GB_QK_K; e += 64)
            gb_pack_nibbles(32, found.codes + e, block->qs + e / 2);
    }
}

void
gb_q4_k_from_float(const float *x, void *y, int64_t n)
{
    gb_q4_k_quantize(x, y, n, NULL);
}
