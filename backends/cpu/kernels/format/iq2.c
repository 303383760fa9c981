/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq2.c - weights iq2_xxs, iq2_xs and iq2_s.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/bits.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

#define LARGEST 43 /* magnitude in the iq2 codebooks, the codes' bias */

/* Codes of eight codebook entries, one for eight values, with their signs. */
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

static const struct gb_block_reader iq2_xxs = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 66,
        .sub_block = 32,
        .bias = 43,
        .dot4s = 1,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
    },
    .scales = iq2_xxs_scales,
    .units = iq2_xxs_units,
};

#if Q_HAS_TABLE_128

GB_INLINE q64
magnitudes(const void *block, const uint8_t (*levels)[64], int i)
{
    (void)block;
    return q64_pick(q64_repeat(0x2b2b19082b2b1908),
                    gb_codebook_pairs(levels, i, 0));
}

#define R(row) (row)&255
static const uint8_t iq2_xxs_table[512] = {
#include "lib/type/grid-iq2-xxs.def"
#undef R
#define R(row) (row) >> 8
#include "lib/type/grid-iq2-xxs.def"
#undef R
};

GB_INLINE void
iq2_xxs_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    q64 numbers[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_xxs *a = blocks[2 * i];
        const struct gb_block_iq2_xxs *b = blocks[2 * i + 1];
        const q64 wa = q64_load(a->qs);
        const q64 wb = q64_load(b->qs);

        numbers[i] = q64_even_dwords(wa, wb);
        tables[i] = q64_bits(numbers[i], 7, 1);
        gb_codebook_four_sevens(q64_high_dwords(wa, wb), to->minus[2 * i]);
    }
    gb_codebook_read_eights(iq2_xxs_table, 2, numbers, tables, to);
}

/* A scale's four bits are on top of the signs. */
GB_INLINE q64s
iq2_xxs_row_scales(const void *block)
{
    const struct gb_block_iq2_xxs *b = block;

    return q64s_odd(
        q64s_or(q64_down(q64_load(b->qs), 27), q64s_set1(1)));
}

static const struct gb_codebook_format iq2_xxs_entries = {
    &iq2_xxs.format, 0.125f, true, false,
    iq2_xxs_read, iq2_xxs_row_scales, gb_codebook_d, magnitudes,
};

#endif

GB_CODEBOOK_FORMAT(iq2_xxs)

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

static const struct gb_block_reader iq2_xs = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 74,
        .sub_block = 16,
        .bias = 43,
        .dot4s = 1,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
    },
    .scales = iq2_xs_scales,
    .units = iq2_xs_units,
};

#if Q_HAS_TABLE_128

#define R(row) (row)&255
static const uint8_t iq2_xs_table[1024] = {
#include "lib/type/grid-iq2-xs.def"
#undef R
#define R(row) (row) >> 8
#include "lib/type/grid-iq2-xs.def"
#undef R
};

/* Seven signs of each row are above its number's nine bits. */
#define SEVEN(i) ((i) % 8 * 8 + (i) / 8 % 4 * 2 + 1 + (i) / 32 * 64)
static const uint8_t sevens_order[64] = { GB_EACH64(SEVEN) };

GB_INLINE void
iq2_xs_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    const q64 at = q64_repeat(0x3727170730201000);
    q64 numbers[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_xs *a = blocks[2 * i];
        const struct gb_block_iq2_xs *b = blocks[2 * i + 1];
        const q64 wa = q64_load(a->qs);
        const q64 wb = q64_load(b->qs);
        const q64 fa = q64_fields(wa, at);
        const q64 fb = q64_fields(wb, at);
        const q64 high = q64_pick2(wa, wb, q64_load(sevens_order));

        numbers[i] = q64_even_dwords(fa, fb);
        tables[i] = q64_and(q64_odd_dwords(fa, fb), q64_set1(3));
        gb_codebook_sevens(q64_down(high, 1), to->minus[2 * i]);
    }
    gb_codebook_read_eights(iq2_xs_table, 4, numbers, tables, to);
}

GB_INLINE q64s
iq2_xs_row_scales(const void *block)
{
    const struct gb_block_iq2_xs *b = block;

    return gb_codebook_nibble_scales(b->scales);
}

static const struct gb_codebook_format iq2_xs_entries = {
    &iq2_xs.format, 0.125f, true, true,
    iq2_xs_read, iq2_xs_row_scales, gb_codebook_d, magnitudes,
};

#endif

GB_CODEBOOK_FORMAT(iq2_xs)

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

static const struct gb_block_reader iq2_s = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 82,
        .sub_block = 16,
        .bias = 43,
        .dot4s = 1,
        .order = GB_ORDER_CODEBOOK,
        .gemv = GB_GEMV_CODEBOOK,
    },
    .scales = iq2_s_scales,
    .units = iq2_s_units,
};

#if Q_HAS_TABLE_128

#define R(row) (row)&255
static const uint8_t iq2_s_table[2048] = {
#include "lib/type/grid-iq2-s.def"
#undef R
#define R(row) (row) >> 8
#include "lib/type/grid-iq2-s.def"
#undef R
};

/* Where the high two bits of rows' numbers are, with a bit before them. */
#define HIGH(i) (((i) / 16 * 2 + (i) / 4 % 2) * 8 + (i) % 4 * 2 - 1)
static const int8_t high_order[64] = { GB_EACH64(HIGH) };

GB_INLINE void
iq2_s_read(const void *const *blocks, struct gb_codebook_codes *to)
{
    q64 numbers[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_s *a = blocks[2 * i];
        const struct gb_block_iq2_s *b = blocks[2 * i + 1];
        const q64 high = q64_fields(q64_two_words(a->qh, b->qh),
                                    q64_load(high_order));

        numbers[i] = gb_codebook_of_two(a->qs, b->qs);
        tables[i] = gb_codebook_tables(high, numbers[i], 7);
        gb_codebook_signs(a->qs + 32, b->qs + 32, to->minus[2 * i]);
    }
    gb_codebook_read_eights(iq2_s_table, 8, numbers, tables, to);
}

GB_INLINE q64s
iq2_s_row_scales(const void *block)
{
    const struct gb_block_iq2_s *b = block;

    return gb_codebook_nibble_scales(b->scales);
}

static const struct gb_codebook_format iq2_s_entries = {
    &iq2_s.format, 0.125f, true, true,
    iq2_s_read, iq2_s_row_scales, gb_codebook_d, magnitudes,
};

#endif

GB_CODEBOOK_FORMAT(iq2_s)
