/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq3.c - weights iq3_xxs and iq3_s.
 */
#include "backends/cpu/kernels/few.h"
#include "backends/cpu/kernels/turned.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"
#include "backends/cpu/kernels/signs.h"
#include "lib/type/grid.h"

/* Codes of eight grid rows, one for four values, with their signs. */
GB_INLINE q32
signed_rows(const void *const *rows, uint32_t signs, int offset)
{
    return q32_add(q32_negate(q32_spread(signs), q32_words(rows)),
                   q32_set1(offset));
}

/* Signs and the scale of group G. */
GB_INLINE uint32_t
iq3_xxs_word(const void *block, int g)
{
    const struct gb_block_iq3_xxs *b = block;
    uint32_t w;

    memcpy(&w, b->qs + GB_QK_K / 4 + 4 * g, sizeof(w));
    return w;
}

/* 0.5 * d * (0.5 + s) as a quarter of d times 1 + 2 * s. */
GB_INLINE void
iq3_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq3_xxs *b = block;
    const float d4 = q_half(&b->d) * 0.25f;

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++)
        d[g] = d4 * (float)(1 + 2 * (iq3_xxs_word(block, g) >> 28));
}

GB_INLINE q32
iq3_xxs_codes(const void *block, int g)
{
    const struct gb_block_iq3_xxs *b = block;
    const void *rows[8];

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        rows[i] = gb_grid_iq3_xxs[b->qs[8 * g + i]];
    return signed_rows(rows, gb_four_signs(iq3_xxs_word(block, g)), 62);
}

static const struct gb_blocks iq3_xxs = {
    &gb_layout_iq3_xxs, iq3_xxs_scales, iq3_xxs_codes, NULL, NULL
};

void
GB_K(dots_iq3_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const void *column, float *dst)
{
    gb_block_dots(&iq3_xxs, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq3_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                     const struct gb_panel *panel)
{
    gb_block_unpack(&iq3_xxs, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq3_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   struct gb_codes *to)
{
    gb_block_turn(&iq3_xxs, k, rows, x, pitch, to);
}

GB_INLINE void
iq3_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq3_s *b = block;
    const float factor = q_half(&b->d);

    (void)n;
    (void)m;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        d[2 * i] = factor * (float)(1 + 2 * (b->scales[i] & 15));
        d[2 * i + 1] = factor * (float)(1 + 2 * (b->scales[i] >> 4));
    }
}

GB_INLINE q32
iq3_s_codes(const void *block, int g)
{
    const struct gb_block_iq3_s *b = block;
    const unsigned high = b->qh[g];
    const void *rows[8];
    uint32_t signs;

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        rows[i] = gb_grid_iq3_s[b->qs[8 * g + i] | (high << (8 - i) & 256)];
    memcpy(&signs, b->signs + 4 * g, sizeof(signs));
    return signed_rows(rows, signs, 15);
}

static const struct gb_blocks iq3_s = {
    &gb_layout_iq3_s, iq3_s_scales, iq3_s_codes, NULL, NULL
};

void
GB_K(dots_iq3_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&iq3_s, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq3_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&iq3_s, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq3_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&iq3_s, k, rows, x, pitch, to);
}
