/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq3.c - weights iq3_xxs and iq3_s.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "backends/cpu/kernels/signs.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/* Codes of sixteen grid rows, one for four values, with their signs. */
GB_INLINE q64
signed_rows(const void *const *rows, uint64_t signs, int offset)
{
    return q64_add(q64_negate_where(q64_words(rows), signs),
                   q64_set1(offset));
}

/* Signs and scales of the values of unit I. */
GB_INLINE uint64_t
iq3_xxs_word(const void *block, int i)
{
    const struct gb_block_iq3_xxs *b = block;
    uint64_t w;

    memcpy(&w, b->qs + GB_QK_K / 4 + 8 * i, sizeof(w));
    return w;
}

/* 0.5 * d * (0.5 + s) is a quarter of d times 1 + 2 * s. */
GB_INLINE void
iq3_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq3_xxs *b = block;
    uint64_t s = 0;

    (void)n;
    (void)m;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const uint64_t w = iq3_xxs_word(block, i);

        s |= ((w >> 28 & 15) | w >> 60 << 8) << 16 * i;
    }
    gb_odd_scales(d, s, q_half(&b->d) * 0.25f);
}

GB_INLINE void
iq3_xxs_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq3_xxs *b = group;
    const void *rows[16];

    (void)n;
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++)
        rows[j] = gb_grid_iq3_xxs[b->qs[16 * i + j]];
    u[0] = signed_rows(rows, gb_eight_signs(iq3_xxs_word(group, i)), 62);
}

static const struct gb_blocks iq3_xxs = {
    &gb_layout_iq3_xxs, iq3_xxs_scales, NULL, iq3_xxs_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq3_xxs)

GB_INLINE void
iq3_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq3_s *b = block;
    uint32_t w;

    (void)n;
    (void)m;
    memcpy(&w, b->scales, sizeof(w));
    gb_odd_scales(d, gb_nibbles(w), q_half(&b->d));
}

GB_INLINE void
iq3_s_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq3_s *b = group;
    const void *rows[16];
    uint64_t signs;

    (void)n;
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++) {
        const unsigned high = b->qh[2 * i + j / 8];

        rows[j] = gb_grid_iq3_s[b->qs[16 * i + j] |
                                (high << (8 - j % 8) & 256)];
    }
    memcpy(&signs, b->signs + 8 * i, sizeof(signs));
    u[0] = signed_rows(rows, signs, 15);
}

static const struct gb_blocks iq3_s = {
    &gb_layout_iq3_s, iq3_s_scales, NULL, iq3_s_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq3_s)
