/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq1.c - weights iq1_s and iq1_m.
 */
#include "backends/cpu/kernels/few.h"
#include "backends/cpu/kernels/turned.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/*
 * Values are levels -1, 0, 1 plus or minus an eighth.  Eight times that plus 9
 * is the code, from 0 to 18; the scales take an eighth.
 */
GB_INLINE q32
codes_of(const void *const *rows, uint32_t minus)
{
    const q32 levels = q32_eights(rows);
    const q32 twice = q32_add(levels, levels);
    const q32 four = q32_add(twice, twice);
    const q32 shifts = q32_negate(q32_spread(minus), q32_set1(1));

    return q32_add(q32_add(q32_add(four, four), shifts), q32_set1(9));
}

GB_INLINE void
iq1_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq1_s *b = block;
    const float d8 = q_half(&b->d) * 0.125f;

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++)
        d[g] = d8 * (float)(2 * (b->qh[g] >> 12 & 7) + 1);
}

GB_INLINE q32
iq1_s_codes(const void *block, int g)
{
    const struct gb_block_iq1_s *b = block;
    const unsigned high = b->qh[g];
    const void *rows[4];

#pragma GCC unroll 4
    for (int l = 0; l < 4; l++)
        rows[l] = gb_grid_iq1[b->qs[4 * g + l] | (high >> 3 * l & 7) << 8];
    return codes_of(rows, high >> 15 != 0 ? 0xffffffffu : 0);
}

static const struct gb_blocks iq1_s = {
    &gb_layout_iq1_s, iq1_s_scales, iq1_s_codes, NULL, NULL
};

void
GB_K(dots_iq1_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&iq1_s, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq1_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&iq1_s, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq1_s)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&iq1_s, k, rows, x, pitch, to);
}

GB_INLINE void
iq1_m_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq1_m *b = block;
    uint16_t w[4];
    uint16_t half;
    float d8;

    (void)n;
    (void)m;
    memcpy(w, b->scales, sizeof(w));
    half = (uint16_t)(w[0] >> 12 | (w[1] >> 8 & 0x00f0) |
                      (w[2] >> 4 & 0x0f00) | (w[3] & 0xf000));
    d8 = q_half(&half) * 0.125f;
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        d[i] = d8 * (float)(2 * (w[i / 4] >> 3 * (i % 4) & 7) + 1);
}

GB_INLINE q32
iq1_m_codes(const void *block, int g)
{
    const struct gb_block_iq1_m *b = block;
    const void *rows[4];
    uint32_t minus = 0;

#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
        const unsigned n = b->qh[2 * g + l / 2] >> 4 * (l % 2) & 15;

        rows[l] = gb_grid_iq1[b->qs[4 * g + l] | (n & 7) << 8];
        if (n > 7)
            minus |= 0xffu << 8 * l;
    }
    return codes_of(rows, minus);
}

static const struct gb_blocks iq1_m = {
    &gb_layout_iq1_m, iq1_m_scales, iq1_m_codes, NULL, NULL
};

void
GB_K(dots_iq1_m)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&iq1_m, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_iq1_m)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&iq1_m, k, rows, x, pitch, panel);
}

void
GB_K(turn_iq1_m)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&iq1_m, k, rows, x, pitch, to);
}
