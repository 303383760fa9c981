/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq1.c - weights iq1_s and iq1_m.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "backends/cpu/kernels/signs.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/*
 * Values are levels -1, 0, 1 plus or minus an eighth.  Eight times that plus 9
 * is the code, from 0 to 18; the scales take an eighth.  Eight grid rows, and a
 * bit for each value from which the eighth is taken.
 */
GB_INLINE q64
codes_of(const void *const *rows, uint64_t minus)
{
    const q64 levels = q64_add(q64_eights(rows), q64_set1(1));

    return q64_or_where(q64_shift_left(levels, 3), ~minus, 2);
}

GB_INLINE void
iq1_s_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq1_s *b = block;
    const uint64_t three = 0x0007000700070007;
    uint64_t w[2];

    (void)n;
    (void)m;
    memcpy(w, b->qh, sizeof(w));
    gb_odd_scales(d,
                  gb_low_bytes(w[0] >> 12 & three) |
                      (uint64_t)gb_low_bytes(w[1] >> 12 & three) << 32,
                  q_half(&b->d) * 0.125f);
}

GB_INLINE void
iq1_s_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq1_s *b = group;
    const uint32_t low = b->qh[2 * i];
    const uint32_t high = b->qh[2 * i + 1];
    const void *rows[8];

    (void)n;
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
        rows[l] = gb_grid_iq1[b->qs[8 * i + l] | (low >> 3 * l & 7) << 8];
        rows[4 + l] = gb_grid_iq1[b->qs[8 * i + 4 + l] |
                                  (high >> 3 * l & 7) << 8];
    }
    u[0] = codes_of(rows, (0 - (uint64_t)(high >> 15)) << 32 |
                              (uint32_t)(0 - (low >> 15)));
}

static const struct gb_blocks iq1_s = {
    &gb_layout_iq1_s, iq1_s_scales, NULL, iq1_s_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq1_s)

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
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        uint64_t s = w[2 * i] | (uint64_t)w[2 * i + 1] << 32;

        s = (s & 0x0000003f0000003f) | (s << 10 & 0x003f0000003f0000);
        s = (s & 0x0007000700070007) | (s << 5 & 0x0700070007000700);
        gb_odd_scales(d + 8 * i, s, d8);
    }
}

GB_INLINE void
iq1_m_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq1_m *b = group;
    const void *rows[8];
    uint32_t packed;
    uint64_t nibbles;

    (void)n;
    memcpy(&packed, b->qh + 4 * i, sizeof(packed));
    nibbles = gb_nibbles(packed);
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        rows[l] = gb_grid_iq1[b->qs[8 * i + l] |
                              (nibbles >> 8 * l & 7) << 8];
    u[0] = codes_of(rows, (nibbles >> 3 & 0x0101010101010101) * 255);
}

static const struct gb_blocks iq1_m = {
    &gb_layout_iq1_m, iq1_m_scales, NULL, iq1_m_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq1_m)
