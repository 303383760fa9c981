/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq2.c - weights iq2_xxs, iq2_xs and iq2_s.
 */
#include "backends/cpu/kernels/few.h"
#include "backends/cpu/kernels/turned.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"
#include "backends/cpu/kernels/signs.h"
#include "lib/type/grid.h"

#define LARGEST 43 /* magnitude in the iq2 grids, the codes' offset */

/* 0.25 * d * (0.5 + s) as d8 * (1 + 2 * s) with an eighth of d. */
GB_INLINE float
scale_of(float d8, unsigned s)
{
    return d8 * (float)(1 + 2 * s);
}

/* Codes of four grid rows, one for eight values, with their signs. */
GB_INLINE q32
signed_rows(const void *r0, const void *r1, const void *r2, const void *r3,
            uint32_t signs)
{
    const void *rows[4] = { r0, r1, r2, r3 };

    return q32_add(q32_negate(q32_spread(signs), q32_eights(rows)),
                   q32_set1(LARGEST));
}

/* The words of group G: four row numbers, then signs and the scale. */
GB_INLINE void
iq2_xxs_words(const void *block, int g, uint32_t *w)
{
    const struct gb_block_iq2_xxs *b = block;

    memcpy(w, b->qs + 4 * g, 8);
}

GB_INLINE void
iq2_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_xxs *b = block;
    const float d8 = q_half(&b->d) * 0.125f;

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++) {
        uint32_t w[2];

        iq2_xxs_words(block, g, w);
        d[g] = scale_of(d8, w[1] >> 28);
    }
}

GB_INLINE q32
iq2_xxs_codes(const void *block, int g)
{
    uint32_t w[2];

    iq2_xxs_words(block, g, w);
    return signed_rows(
        gb_grid_iq2_xxs[w[0] & 255], gb_grid_iq2_xxs[w[0] >> 8 & 255],
        gb_grid_iq2_xxs[w[0] >> 16 & 255], gb_grid_iq2_xxs[w[0] >> 24],
        gb_four_signs(w[1]));
}

static const struct gb_blocks iq2_xxs = {
    &gb_layout_iq2_xxs, iq2_xxs_scales, iq2_xxs_codes, NULL, NULL
};

void
GB_K(dots_iq2_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const void *column, float *dst)
{
    gb_block_dots(&iq2_xxs, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq2_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                     const struct gb_panel *panel)
{
    gb_block_unpack(&iq2_xxs, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq2_xxs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   struct gb_codes *to)
{
    gb_block_turn(&iq2_xxs, k, rows, x, pitch, to);
}

/* Scales of 16 values each are the nibbles of eight bytes. */
GB_INLINE void
nibble_scales(const uint8_t *nibbles, const void *half, float *d)
{
    const float d8 = q_half(half) * 0.125f;

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        d[2 * i] = scale_of(d8, nibbles[i] & 15);
        d[2 * i + 1] = scale_of(d8, nibbles[i] >> 4);
    }
}

GB_INLINE void
iq2_xs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_xs *b = block;

    (void)n;
    (void)m;
    nibble_scales(b->scales, &b->d, d);
}

GB_INLINE q32
iq2_xs_codes(const void *block, int g)
{
    const struct gb_block_iq2_xs *b = block;
    uint16_t w[4];
    uint32_t signs = 0;

    memcpy(w, b->qs + 4 * g, sizeof(w));
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++)
        signs |= (uint32_t)(w[l] >> 9) << 8 * l;
    return signed_rows(gb_grid_iq2_xs[w[0] & 511], gb_grid_iq2_xs[w[1] & 511],
                       gb_grid_iq2_xs[w[2] & 511], gb_grid_iq2_xs[w[3] & 511],
                       gb_eighth_signs(signs));
}

static const struct gb_blocks iq2_xs = {
    &gb_layout_iq2_xs, iq2_xs_scales, iq2_xs_codes, NULL, NULL
};

void
GB_K(dots_iq2_xs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  const void *column, float *dst)
{
    gb_block_dots(&iq2_xs, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq2_xs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                    const struct gb_panel *panel)
{
    gb_block_unpack(&iq2_xs, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq2_xs)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  struct gb_codes *to)
{
    gb_block_turn(&iq2_xs, k, rows, x, pitch, to);
}

GB_INLINE void
iq2_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_s *b = block;

    (void)n;
    (void)m;
    nibble_scales(b->scales, &b->d, d);
}

GB_INLINE q32
iq2_s_codes(const void *block, int g)
{
    const struct gb_block_iq2_s *b = block;
    const uint8_t *low = b->qs + 4 * g;
    const unsigned high = b->qh[g];
    uint32_t signs;

    memcpy(&signs, b->qs + 32 + 4 * g, sizeof(signs));
    return signed_rows(gb_grid_iq2_s[low[0] | (high << 8 & 0x300)],
                       gb_grid_iq2_s[low[1] | (high << 6 & 0x300)],
                       gb_grid_iq2_s[low[2] | (high << 4 & 0x300)],
                       gb_grid_iq2_s[low[3] | (high << 2 & 0x300)], signs);
}

static const struct gb_blocks iq2_s = {
    &gb_layout_iq2_s, iq2_s_scales, iq2_s_codes, NULL, NULL
};

void
GB_K(dots_iq2_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&iq2_s, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq2_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&iq2_s, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq2_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&iq2_s, k, rows, x, pitch, to);
}
