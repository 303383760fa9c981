/* SPDX-License-Identifier: MIT */
/*
 * type/iq2.c - iq2_xxs, iq2_xs and iq2_s: eight magnitudes from a grid, and
 * their signs.
 *
 * Where rows are equally near to ties, iq2_xs and iq2_s may take another one
 * than ggml does; the error is the same.  A value of iq2_xxs whose sign cannot
 * be told counts as zero in the coarse search, not as a large one: one block of
 * twelve has other bytes than ggml's, and a fifth less error.
 */
#include "config.h"

#include "lib/type/iq.h"

#include "lib/type/blocks.h"
#include "lib/type/grid.h"
#include "lib/type/half.h"
#include "lib/type/iq-signed.h"

#include <string.h>

#define GROUPS (GB_QK_K / 8)

static void
read_group(float scale, const uint8_t *row, unsigned signs, float *x)
{
    for (int j = 0; j < 8; j++)
        x[j] = scale * (float)row[j] * (signs >> j & 1 ? -1.0f : 1.0f);
}

/* The scale of a sub-block whose four bits are CODE. */
static float
sub_scale(float d, unsigned code)
{
    return d * (0.5f + (float)code) * 0.25f;
}

void
gb_iq2_xxs_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq2_xxs *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GROUPS; g++) {
            uint8_t rows[4];
            uint32_t word;

            memcpy(rows, block->qs + g / 4 * 4, sizeof(rows));
            memcpy(&word, block->qs + g / 4 * 4 + 2, sizeof(word));
            word = gb_le32(word);
            read_group(sub_scale(d, word >> 28), gb_grid_iq2_xxs[rows[g % 4]],
                       gb_grid_signs(word >> 7 * (g % 4) & 127), x + 8 * g);
        }
    }
}

void
gb_iq2_xs_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq2_xs *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GROUPS; g++) {
            const unsigned code = block->scales[g / 4] >> 4 * (g / 2 % 2) & 15;
            const unsigned word = gb_le16(block->qs[g]);

            read_group(sub_scale(d, code), gb_grid_iq2_xs[word & 511],
                       gb_grid_signs(word >> 9), x + 8 * g);
        }
    }
}

void
gb_iq2_s_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_iq2_s *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int g = 0; g < GROUPS; g++) {
            const unsigned code = block->scales[g / 4] >> 4 * (g / 2 % 2) & 15;
            const unsigned high = block->qh[g / 4] >> 2 * (g % 4) & 3;

            read_group(sub_scale(d, code),
                       gb_grid_iq2_s[block->qs[g] | high << 8],
                       block->qs[GROUPS + g], x + 8 * g);
        }
    }
}

static void
pack_xxs(const struct gb_iq_signed *found, void *block)
{
    struct gb_block_iq2_xxs *out = block;

    out->d = gb_le16(found->d);
    for (int b = 0; b < GB_QK_K / 32; b++) {
        uint8_t rows[4];
        uint32_t word = (uint32_t)found->scales[b] << 28;

        for (int g = 0; g < 4; g++) {
            rows[g] = (uint8_t)found->rows[4 * b + g];
            word |= (found->signs[4 * b + g] & 127u) << 7 * g;
        }
        memcpy(out->qs + 4 * b, rows, sizeof(rows));
        word = gb_le32(word);
        memcpy(out->qs + 4 * b + 2, &word, sizeof(word));
    }
}

/* Sixteen scales of four bits. */
static void
pack_scales(const uint8_t *scales, uint8_t *bytes)
{
    for (int i = 0; i < GB_QK_K / 32; i++)
        bytes[i] = (uint8_t)(scales[2 * i] | scales[2 * i + 1] << 4);
}

static void
pack_xs(const struct gb_iq_signed *found, void *block)
{
    struct gb_block_iq2_xs *out = block;

    out->d = gb_le16(found->d);
    pack_scales(found->scales, out->scales);
    for (int g = 0; g < GROUPS; g++)
        out->qs[g] = gb_le16(
            (uint16_t)(found->rows[g] | (found->signs[g] & 127u) << 9));
}

static void
pack_s(const struct gb_iq_signed *found, void *block)
{
    struct gb_block_iq2_s *out = block;

    out->d = gb_le16(found->d);
    pack_scales(found->scales, out->scales);
    memset(out->qh, 0, sizeof(out->qh));
    for (int g = 0; g < GROUPS; g++) {
        out->qs[g] = (uint8_t)found->rows[g];
        out->qs[GROUPS + g] = found->signs[g];
        out->qh[g / 4] |= (uint8_t)(found->rows[g] >> 8 << 2 * (g % 4));
    }
}

static const struct gb_iq_signed_format xxs = {
    .type = GGML_TYPE_IQ2_XXS,
    .sub = 32,
    .has_even_signs = true,
    .is_coarse_first = true,
    .again = GB_IQ_AGAIN_ALWAYS,
    .step = 0.1f,
    .last = 6,
    .energy = 1.0f,
    .least = 1e-15f,
    .factor = 1.0f,
    .pack = pack_xxs,
};

static const struct gb_iq_signed_format xs = {
    .type = GGML_TYPE_IQ2_XS,
    .sub = 16,
    .has_even_signs = true,
    .again = GB_IQ_AGAIN_MOVED,
    .step = 0.1f,
    .last = 9,
    .energy = 1.0f,
    .least = 1e-15f,
    .factor = 1.0f,
    .pack = pack_xs,
};

static const struct gb_iq_signed_format s = {
    .type = GGML_TYPE_IQ2_S,
    .sub = 16,
    .again = GB_IQ_AGAIN_MOVED,
    .step = 0.1f,
    .last = 9,
    .energy = 2.0f,
    .plain_energy = 0.5f,
    .least = 1e-8f,
    .factor = 0.9875f,
    .pack = pack_s,
};

void
gb_iq2_xxs_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    gb_iq_signed_quantize(&xxs, x, y, n, importance);
}

void
gb_iq2_xs_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    gb_iq_signed_quantize(&xs, x, y, n, importance);
}

void
gb_iq2_s_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    gb_iq_signed_quantize(&s, x, y, n, importance);
}

void
gb_iq2_s_from_float(const float *x, void *y, int64_t n)
{
    gb_iq_signed_quantize(&s, x, y, n, NULL);
}
