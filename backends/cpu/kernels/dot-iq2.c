/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq2.c - weights iq2_xxs, iq2_xs and iq2_s.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "backends/cpu/kernels/signs.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

#define LARGEST 43 /* magnitude in the iq2 grids, the codes' offset */

/* Codes of eight grid rows, one for eight values, with their signs. */
GB_INLINE q64
signed_rows(const void *const *rows, uint64_t signs)
{
    return q64_add(q64_negate_where(q64_eights(rows), signs),
                   q64_set1(LARGEST));
}

/* Four row numbers, then signs and the scale, of 32 values. */
GB_INLINE uint64_t
iq2_xxs_word(const void *block, int g)
{
    const struct gb_block_iq2_xxs *b = block;
    uint64_t w;

    memcpy(&w, b->qs + 4 * g, sizeof(w));
    return w;
}

/* 0.25 * d * (0.5 + s) is an eighth of d times 1 + 2 * s. */
GB_INLINE void
iq2_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_xxs *b = block;
    uint64_t s = 0;

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++)
        s |= iq2_xxs_word(block, g) >> 60 << 8 * g;
    gb_odd_scales(d, s, q_half(&b->d) * 0.125f);
}

GB_INLINE void
iq2_xxs_units(const void *group, int i, int n, q64 *u)
{
    const uint64_t w[2] = { iq2_xxs_word(group, 2 * i),
                            iq2_xxs_word(group, 2 * i + 1) };
    const void *rows[8];

    (void)n;
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        rows[l] = gb_grid_iq2_xxs[w[l / 4] >> 8 * (l % 4) & 255];
    u[0] = signed_rows(
        rows, gb_eight_signs(w[0] >> 32 | (w[1] >> 32 << 32)));
}

static const struct gb_blocks iq2_xxs = {
    &gb_layout_iq2_xxs, iq2_xxs_scales, NULL, iq2_xxs_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq2_xxs)

/* Scales of 16 values each are the nibbles of eight bytes. */
GB_INLINE void
nibble_scales(const uint8_t *nibbles, const void *half, float *d)
{
    const float d8 = q_half(half) * 0.125f;
    uint32_t w[2];

    memcpy(w, nibbles, sizeof(w));
    gb_odd_scales(d, gb_nibbles(w[0]), d8);
    gb_odd_scales(d + 8, gb_nibbles(w[1]), d8);
}

GB_INLINE void
iq2_xs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_xs *b = block;

    (void)n;
    (void)m;
    nibble_scales(b->scales, &b->d, d);
}

GB_INLINE void
iq2_xs_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq2_xs *b = group;
    const uint64_t seven = 0x007f007f007f007f;
    const void *rows[8];
    uint64_t w[2];

    (void)n;
    memcpy(w, b->qs + 8 * i, sizeof(w));
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        rows[l] = gb_grid_iq2_xs[w[l / 4] >> 16 * (l % 4) & 511];
    u[0] = signed_rows(
        rows, gb_eighth_signs(gb_low_bytes(w[0] >> 9 & seven) |
                              (uint64_t)gb_low_bytes(w[1] >> 9 & seven)
                                  << 32));
}

static const struct gb_blocks iq2_xs = {
    &gb_layout_iq2_xs, iq2_xs_scales, NULL, iq2_xs_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq2_xs)

GB_INLINE void
iq2_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_s *b = block;

    (void)n;
    (void)m;
    nibble_scales(b->scales, &b->d, d);
}

GB_INLINE void
iq2_s_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq2_s *b = group;
    const uint8_t *low = b->qs + 8 * i;
    const void *rows[8];
    uint64_t signs;

    (void)n;
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++) {
        const unsigned high = b->qh[2 * i + l / 4];

        rows[l] = gb_grid_iq2_s[low[l] | (high << (8 - 2 * (l % 4)) & 0x300)];
    }
    memcpy(&signs, b->qs + 32 + 8 * i, sizeof(signs));
    u[0] = signed_rows(rows, signs);
}

static const struct gb_blocks iq2_s = {
    &gb_layout_iq2_s, iq2_s_scales, NULL, iq2_s_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq2_s)
