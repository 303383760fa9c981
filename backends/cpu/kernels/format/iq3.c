/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq3.c - weights iq3_xxs and iq3_s.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "backends/cpu/kernels/format/bits.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/* Codes of sixteen codebook entries, one for four values, with their signs. */
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

static const struct gb_block_reader iq3_xxs = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 98,
        .sub_block = 32,
        .bias = 62,
        .dot4s = 1,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
    },
    .scales = iq3_xxs_scales,
    .units = iq3_xxs_units,
};

#if Q_HAS_TABLE_128

#define NIBBLE(row, i) ((row) >> 3 * (i) & 7)
#define R(row) NIBBLE(row, 0) | NIBBLE(row, 1) << 4
static const uint8_t iq3_xxs_table[512] = {
#include "lib/type/grid-iq3-xxs.def"
#undef R
#define R(row) NIBBLE(row, 2) | NIBBLE(row, 3) << 4
#include "lib/type/grid-iq3-xxs.def"
#undef R
};
#undef NIBBLE

/* The words that are behind the entries of two blocks, one after the other. */
#define WORD(i) ((i) / 8 * 4 + (i) % 4 + (i) / 4 % 2 * 32)
static const uint8_t words_order[64] = { GB_EACH64(WORD) };

GB_INLINE void
iq3_xxs_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    q64 numbers[GB_CODEBOOK_BLOCKS];
    q64 tables[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        const struct gb_block_iq3_xxs *b = blocks[i];

        numbers[i] = q64_load(b->qs);
        tables[i] = q64_bits(numbers[i], 7, 1);
        if (i % 2 != 0) {
            const struct gb_block_iq3_xxs *a = blocks[i - 1];

            gb_codebook_four_sevens(q64_pick(q64_load2(a->qs + 64, b->qs + 64),
                                         q64_load(words_order)),
                                to->minus[i - 1]);
        }
    }
    gb_codebook_read_fours(iq3_xxs_table, 2, numbers, tables, to);
}

/* The words that have the signs have the scales on top. */
GB_INLINE q64s
iq3_xxs_row_scales(const void *block)
{
    const struct gb_block_iq3_xxs *b = block;

    return q64s_or(q64_down(q64_dup_dwords(b->qs + 64), 27),
                   q64s_set1(1));
}

GB_INLINE q64
iq3_xxs_unit(const void *block, const uint8_t (*levels)[64], int i)
{
    (void)block;
    return q64_pick(q64_repeat(0x3e342c241c140c04),
                    gb_codebook_nibbles(levels, i));
}

static const struct gb_codebook_format iq3_xxs_entries = {
    &iq3_xxs.format, 0.25f, true, false,
    iq3_xxs_read, iq3_xxs_row_scales, gb_codebook_d, iq3_xxs_unit,
};

#endif

GB_CODEBOOK_FORMAT(iq3_xxs)

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

static const struct gb_block_reader iq3_s = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 110,
        .sub_block = 32,
        .bias = 15,
        .dot4s = 4,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
    },
    .scales = iq3_s_scales,
    .units = iq3_s_units,
};

#if Q_HAS_TABLE_128

/* Levels are magnitudes. */
#define NIBBLE(row, i) (((row) >> 3 * (i) & 7) * 2 + 1)
#define R(row) NIBBLE(row, 0) | NIBBLE(row, 1) << 4
static const uint8_t iq3_s_table[1024] = {
#include "lib/type/grid-iq3-s.def"
#undef R
#define R(row) NIBBLE(row, 2) | NIBBLE(row, 3) << 4
#include "lib/type/grid-iq3-s.def"
#undef R
};
#undef NIBBLE

/* A scale's nibble is for two sub-blocks. */
GB_INLINE q64s
iq3_s_row_scales(const void *block)
{
    static const int32_t by[16] = { 31, 31, 3,  3,  7,  7,  11, 11,
                                    15, 15, 19, 19, 23, 23, 27, 27 };
    const struct gb_block_iq3_s *b = block;
    int32_t w;

    memcpy(&w, b->scales, sizeof(w));
    return gb_codebook_odd(q64s_rotate(q64s_set1(w), q64s_load(by)), 30);
}

GB_INLINE void
iq3_s_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    q64 numbers[GB_CODEBOOK_BLOCKS];
    q64 tables[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        const struct gb_block_iq3_s *b = blocks[i];
        uint64_t high;

        memcpy(&high, b->qh, sizeof(high));
        numbers[i] = q64_load(b->qs);
        tables[i] = q64_or_where(q64_bits(numbers[i], 7, 1), high, 2);
        if (i % 2 != 0) {
            const struct gb_block_iq3_s *a = blocks[i - 1];

            gb_codebook_signs(a->signs, b->signs, to->minus[i - 1]);
        }
    }
    gb_codebook_read_fours(iq3_s_table, 4, numbers, tables, to);
}

GB_INLINE q64
iq3_s_unit(const void *block, const uint8_t (*levels)[64], int i)
{
    (void)block;
    return q64_and(q64_set1(15), gb_codebook_nibbles(levels, i));
}

static const struct gb_codebook_format iq3_s_entries = {
    &iq3_s.format, 1.0f, true, false,
    iq3_s_read, iq3_s_row_scales, gb_codebook_d, iq3_s_unit,
};

#endif

GB_CODEBOOK_FORMAT(iq3_s)
