/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq1.c - weights iq1_s and iq1_m.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "backends/cpu/kernels/rows.h"
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

#ifdef GB_HAS_ROWS

#define R(row) (row)&255
static const uint8_t iq1_table[4096] = {
#include "lib/type/grid-iq1.def"
#undef R
#define R(row) (row) >> 8
#include "lib/type/grid-iq1.def"
#undef R
};

/* 128 bits of each block have the high bits of rows' numbers: those of eight
 * rows in the 32 that eight numbers meet. */
#define HIGH(i) ((i) / 16 * 4 + (i) % 4 + (i) / 8 % 2 * 64)
static const uint8_t high_order[64] = { GB_EACH64(HIGH) };

/* The rows of two blocks; three high bits of each are behind a bit that AT
 * tells for those of eight. */
GB_INLINE void
read_levels(const uint8_t *a, const uint8_t *b, const void *high_a,
            const void *high_b, uint64_t at, struct gb_rows *to)
{
    const q64 numbers = gb_rows_of_two(a, b);
    const q64 high = q64_fields(q64_pick2(q64_load16(high_a),
                                          q64_load16(high_b),
                                          q64_load(high_order)),
                                q64_repeat(at));
    q64 low_halves, high_halves;

    gb_rows_lookup(iq1_table, 16, numbers,
                   gb_rows_tables(high, numbers, 15), &low_halves,
                   &high_halves);
    to[0].levels[0] = q64_zip_low(low_halves, high_halves);
    to[1].levels[0] = q64_zip_high(low_halves, high_halves);
}

/* The 16 bits of each piece of 32, again and again. */
#define PIECE(i) ((i) / 8 * 2 + (i) % 2)
static const uint8_t piece_order[64] = { GB_EACH64(PIECE) };

/* Eight times the levels of row I, and what MORE has. */
GB_INLINE q64
eight_levels(const struct gb_rows *rows, int i, q64 more)
{
    return q64_where(q64_set1(24), gb_rows_pairs(rows, i, 3), more);
}

#endif

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

#ifdef GB_HAS_ROWS

/* Bits 12 to 14 are the scale's, 15 is set for minus. */
GB_INLINE void
iq1_s_read_one(const struct gb_block_iq1_s *b, struct gb_rows *to)
{
    const q64 pieces = q64_pick(q64_load16(b->qh), q64_load(piece_order));

    to->more = q64_and(q64_xor(q64_fields(pieces, q64_set1(14)), q64_set1(2)),
                       q64_set1(2));
    to->scales = gb_rows_odd(q64s_of_quads(pieces, 11), 14);
    to->d = q_half(&b->d);
}

GB_INLINE void
iq1_s_read(const void *block, const void *next, uint64_t *minus,
           struct gb_rows *to)
{
    const struct gb_block_iq1_s *a = block;
    const struct gb_block_iq1_s *b = next;

    (void)minus;
    read_levels(a->qs, b->qs, a->qh, b->qh, 0x1815120f0805023f, to);
    iq1_s_read_one(a, &to[0]);
    iq1_s_read_one(b, &to[1]);
}

GB_INLINE q64
iq1_s_unit(const struct gb_rows *rows, int i)
{
    return eight_levels(rows, i, rows->more);
}

static const struct gb_rows_type iq1_s_rows = {
    &gb_layout_iq1_s, 0.125f, false, false, iq1_s_read, iq1_s_unit,
};

GB_ROWS_WEIGHT(iq1_s)

#else

GB_BLOCK_WEIGHT(iq1_s)

#endif

/* The top bits of four words. */
GB_INLINE float
iq1_m_d(const uint16_t *w)
{
    const uint16_t half =
        (uint16_t)(w[0] >> 12 | (w[1] >> 8 & 0x00f0) | (w[2] >> 4 & 0x0f00) |
                   (w[3] & 0xf000));

    return q_half(&half);
}

GB_INLINE void
iq1_m_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq1_m *b = block;
    uint16_t w[4];
    float d8;

    (void)n;
    (void)m;
    memcpy(w, b->scales, sizeof(w));
    d8 = iq1_m_d(w) * 0.125f;
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

#ifdef GB_HAS_ROWS

/* The word that has a chunk's scale. */
#define SCALE(i) ((i) / 16 * 2 + (i) % 2)
static const uint8_t scale_order[64] = { GB_EACH64(SCALE) };

/* Where row i has its nibble's highest bit, which is set for minus, in unit
 * i. */
GB_INLINE void
iq1_m_read_one(const struct gb_block_iq1_m *b, struct gb_rows *to)
{
    static const int32_t by[16] = { 31, 2, 5, 8, 31, 2, 5, 8,
                                    31, 2, 5, 8, 31, 2, 5, 8 };
    uint64_t packed;
    uint16_t w[4];

    memcpy(&packed, b->scales, sizeof(packed));
    memcpy(w, b->scales, sizeof(w));
    to->more = q64_pick(q64_load16(b->qh), q64_load(piece_order));
    to->scales = gb_rows_odd(
        q64s_rotate(q64_pick(q64_repeat(packed), q64_load(scale_order)),
                    q64s_load(by)),
        14);
    to->d = iq1_m_d(w);
}

GB_INLINE void
iq1_m_read(const void *block, const void *next, uint64_t *minus,
           struct gb_rows *to)
{
    const struct gb_block_iq1_m *a = block;
    const struct gb_block_iq1_m *b = next;

    (void)minus;
    read_levels(a->qs, b->qs, a->qh, b->qh, 0x1b17130f0b07033f, to);
    iq1_m_read_one(a, &to[0]);
    iq1_m_read_one(b, &to[1]);
}

GB_INLINE q64
iq1_m_row(const struct gb_rows *rows, int i)
{
    const q64 minus = q64_fields(rows->more, q64_set1(4 * i + 2));
    const q64 plus = q64_and(q64_xor(minus, q64_set1(2)), q64_set1(2));

    return eight_levels(rows, i, plus);
}

/* Each chunk's values go to one lane (GB_ORDER_LANES). */
GB_INLINE q64
iq1_m_unit(const struct gb_rows *rows, int i)
{
    const q64 v = iq1_m_row(rows, i / 2);
    const q64 w = iq1_m_row(rows, i / 2 + 2);

    return i % 2 == 0 ? q64_low_quads(v, w) : q64_high_quads(v, w);
}

static const struct gb_rows_type iq1_m_rows = {
    &gb_layout_iq1_m, 0.125f, false, false, iq1_m_read, iq1_m_unit,
};

GB_ROWS_WEIGHT(iq1_m)

#else

GB_BLOCK_WEIGHT(iq1_m)

#endif
