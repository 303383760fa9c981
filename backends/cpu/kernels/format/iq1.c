/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq1.c - weights iq1_s and iq1_m.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "backends/cpu/kernels/format/bits.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/*
 * Values are levels -1, 0, 1 plus or minus an eighth.  Eight times that plus 9
 * is the code, from 0 to 18; the scales take an eighth.  Eight codebook entries, and a
 * bit for each value from which the eighth is taken.
 */
GB_INLINE q64
codes_of(const void *const *rows, uint64_t minus)
{
    const q64 levels = q64_add(q64_eights(rows), q64_set1(1));

    return q64_or_where(q64_shift_left(levels, 3), ~minus, 2);
}

#if Q_HAS_TABLE_128

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

/* Three high bits of rows' numbers are behind a bit that AT tells for those of
 * eight, in 128 bits from HIGH on of a block; the low bits are from LOW on. */
GB_INLINE void
read_levels(const void *const *blocks, size_t low, size_t high, uint64_t at,
            struct gb_codebook_codes *to)
{
    q64 numbers[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const uint8_t *a = blocks[2 * i];
        const uint8_t *b = blocks[2 * i + 1];
        const q64 bits = q64_pick2(q64_load16(a + high), q64_load16(b + high),
                                   q64_load(high_order));

        numbers[i] = gb_codebook_of_two(a + low, b + low);
        tables[i] =
            gb_codebook_tables(q64_fields(bits, q64_repeat(at)), numbers[i], 15);
    }
    gb_codebook_read_eights(iq1_table, 16, numbers, tables, to);
}

/* The 16 bits of each sub-block of 32, again and again. */
#define PIECE(i) ((i) / 8 * 2 + (i) % 2)
static const uint8_t piece_order[64] = { GB_EACH64(PIECE) };

/* 2 in each byte whose bit from N on is not set. */
GB_INLINE q64
twos_but_where(q64 pieces, int n)
{
    return q64_and(q64_xor(q64_fields(pieces, q64_set1(n - 1)), q64_set1(2)),
                   q64_set1(2));
}

/* Eight times the levels of entry I, and what MORE has. */
GB_INLINE q64
eight_levels(const uint8_t (*levels)[64], int i, q64 more)
{
    return q64_where(q64_set1(24), gb_codebook_pairs(levels, i, 3), more);
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

static const struct gb_block_reader iq1_s = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 50,
        .sub_block = 32,
        .bias = 9,
        .dot4s = 4,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
        .gemv_bias = 9,
    },
    .scales = iq1_s_scales,
    .units = iq1_s_units,
};

#if Q_HAS_TABLE_128

GB_INLINE void
iq1_s_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    read_levels(blocks, offsetof(struct gb_block_iq1_s, qs),
                offsetof(struct gb_block_iq1_s, qh), 0x1815120f0805023f, to);
}

GB_INLINE q64
iq1_s_pieces(const void *block)
{
    const struct gb_block_iq1_s *b = block;

    return q64_pick(q64_load16(b->qh), q64_load(piece_order));
}

/* Bits 12 to 14 are the scale's, 15 is set for minus. */
GB_INLINE q64s
iq1_s_row_scales(const void *block)
{
    return gb_codebook_odd(q64_down(iq1_s_pieces(block), 11), 14);
}

GB_INLINE q64
iq1_s_unit(const void *block, const uint8_t (*levels)[64], int i)
{
    return eight_levels(levels, i, twos_but_where(iq1_s_pieces(block), 15));
}

static const struct gb_codebook_format iq1_s_entries = {
    &iq1_s.format, 0.125f, false, false,
    iq1_s_read, iq1_s_row_scales, gb_codebook_d, iq1_s_unit,
};

#endif

GB_CODEBOOK_FORMAT(iq1_s)

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

static const struct gb_block_reader iq1_m = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 56,
        .sub_block = 16,
        .bias = 9,
        .dot4s = 4,
        .order = GB_ORDER_CODEBOOK_LANES,
        .gemv = GB_GEMV_CODEBOOK,
        .gemv_bias = 9,
    },
    .scales = iq1_m_scales,
    .units = iq1_m_units,
};

#if Q_HAS_TABLE_128

/* The word that has a sub-block's scale. */
#define SCALE(i) ((i) / 16 * 2 + (i) % 2)
static const uint8_t scale_order[64] = { GB_EACH64(SCALE) };

GB_INLINE void
iq1_m_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    read_levels(blocks, offsetof(struct gb_block_iq1_m, qs),
                offsetof(struct gb_block_iq1_m, qh), 0x1b17130f0b07033f, to);
}

GB_INLINE q64s
iq1_m_row_scales(const void *block)
{
    static const int32_t by[16] = { 31, 2, 5, 8, 31, 2, 5, 8,
                                    31, 2, 5, 8, 31, 2, 5, 8 };
    const struct gb_block_iq1_m *b = block;
    uint64_t packed;

    memcpy(&packed, b->scales, sizeof(packed));
    return gb_codebook_odd(
        q64s_rotate(q64_pick(q64_repeat(packed), q64_load(scale_order)),
                    q64s_load(by)),
        14);
}

GB_INLINE float
iq1_m_row_d(const void *block)
{
    const struct gb_block_iq1_m *b = block;
    uint16_t w[4];

    memcpy(w, b->scales, sizeof(w));
    return iq1_m_d(w);
}

/* A nibble's highest bit is set for minus. */
GB_INLINE q64
iq1_m_row(const void *block, const uint8_t (*levels)[64], int i)
{
    const struct gb_block_iq1_m *b = block;
    const q64 pieces = q64_pick(q64_load16(b->qh), q64_load(piece_order));

    return eight_levels(levels, i, twos_but_where(pieces, 4 * i + 3));
}

/* Each sub-block's values go to one lane (GB_ORDER_LANES). */
GB_INLINE q64
iq1_m_unit(const void *block, const uint8_t (*levels)[64], int i)
{
    const q64 v = iq1_m_row(block, levels, i / 2);
    const q64 w = iq1_m_row(block, levels, i / 2 + 2);

    return i % 2 == 0 ? q64_low_dwords(v, w) : q64_high_dwords(v, w);
}

static const struct gb_codebook_format iq1_m_entries = {
    &iq1_m.format, 0.125f, false, false,
    iq1_m_read, iq1_m_row_scales, iq1_m_row_d, iq1_m_unit,
};

#endif

GB_CODEBOOK_FORMAT(iq1_m)
