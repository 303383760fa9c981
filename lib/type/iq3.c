/* SPDX-License-Identifier: MIT */
/*
 * type/iq3.c - iq3_xxs and iq3_s: four magnitudes from a grid, and signs.
 *
 * The bytes are ggml's, unless only zeros of a sub-block have weights.
 */
#include "config.h"

#include "lib/type/iq.h"

#include "lib/type/blocks.h"
#include "lib/type/grid.h"
#include "lib/type/half.h"
#include "lib/type/iq-signed.h"

#include <float.h>
#include <string.h>

#define GROUPS (GB_QK_K / 4)

/* Signs of four values in the low bits. */
static void
read_group(float scale, const uint8_t *row, unsigned signs, float *x)
{
    for (int j = 0; j < 4; j++)
        x[j] = scale * (float)row[j] * (signs >> j & 1 ? -1.0f : 1.0f);
}

void
gb_iq3_xxs_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq3_xxs *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GROUPS; g++) {
            uint32_t word;
            unsigned signs;
            float scale;

            memcpy(&word, block->qs + GROUPS + g / 8 * 4, sizeof(word));
            word = gb_le32(word);
            signs = gb_grid_signs(word >> 7 * (g / 2 % 4) & 127);
            scale = d * (0.5f + (float)(word >> 28)) * 0.5f;
            read_group(scale, gb_grid_iq3_xxs[block->qs[g]],
                       signs >> 4 * (g % 2), x + 4 * g);
        }
    }
}

void
gb_iq3_s_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq3_s *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GROUPS; g++) {
            const unsigned code = block->scales[g / 16] >> 4 * (g / 8 % 2) & 15;
            const unsigned high = block->qh[g / 8] >> g % 8 & 1;

            read_group(d * (float)(1 + 2 * code),
                       gb_grid_iq3_s[block->qs[g] | high << 8],
                       block->signs[g / 2] >> 4 * (g % 2), x + 4 * g);
        }
    }
}

static void
pack_xxs(const struct gb_iq_signed *found, void *block)
{
    struct gb_block_iq3_xxs *out = block;

    out->d = gb_le16(found->d);
    for (int g = 0; g < GROUPS; g++)
        out->qs[g] = (uint8_t)found->rows[g];
    for (int b = 0; b < GB_QK_K / 32; b++) {
        uint32_t word = (uint32_t)found->scales[b] << 28;

        for (int i = 0; i < 4; i++)
            word |= (found->signs[4 * b + i] & 127u) << 7 * i;
        word = gb_le32(word);
        memcpy(out->qs + GROUPS + 4 * b, &word, sizeof(word));
    }
}

static void
pack_s(const struct gb_iq_signed *found, void *block)
{
    struct gb_block_iq3_s *out = block;

    out->d = gb_le16(found->d);
    memset(out->qh, 0, sizeof(out->qh));
    for (int g = 0; g < GROUPS; g++) {
        out->qs[g] = (uint8_t)found->rows[g];
        out->qh[g / 8] |= (uint8_t)(found->rows[g] >> 8 << g % 8);
    }
    memcpy(out->signs, found->signs, sizeof(out->signs));
    for (int i = 0; i < GB_QK_K / 64; i++)
        out->scales[i] = (uint8_t)(found->scales[2 * i] |
                                   found->scales[2 * i + 1] << 4);
}

static const struct gb_iq_signed_format xxs = {
    .type = GGML_TYPE_IQ3_XXS,
    .sub = 32,
    .has_even_signs = true,
    .again = GB_IQ_AGAIN_MOVED,
    .step = 0.2f,
    .last = 15,
    .energy = 2.0f,
    .least = 1e-8f,
    .factor = 1.0125f,
    .pack = pack_xxs,
};

static const struct gb_iq_signed_format s = {
    .type = GGML_TYPE_IQ3_S,
    .sub = 32,
    .again = GB_IQ_AGAIN_IF_MOVED,
    .step = 0.2f,
    .last = 9,
    .energy = 2.0f,
    .least = FLT_TRUE_MIN, /* only zeros */
    .factor = 1.033f,
    .pack = pack_s,
};

void
gb_iq3_xxs_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    gb_iq_signed_quantize(&xxs, x, y, n, importance);
}

void
gb_iq3_xxs_from_float(const float *x, void *y, int64_t n)
{
    gb_iq_signed_quantize(&xxs, x, y, n, NULL);
}

void
gb_iq3_s_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    gb_iq_signed_quantize(&s, x, y, n, importance);
}

void
gb_iq3_s_from_float(const float *x, void *y, int64_t n)
{
    gb_iq_signed_quantize(&s, x, y, n, NULL);
}
