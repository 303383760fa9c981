/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq1.c - GGML/GGUF IQ1_S and IQ1_M: super-blocks of 256
 * values, a codebook of 2048 entries of eight values -1, 0, 1.
 *
 *     IQ1_S  | d f16 | qs 32 | qh u16 x 8 |        50 bytes
 *     IQ1_M  | qs 32 | qh 16 | scales u16 x 4 |    56 bytes
 *
 *     value e = d * (2 * s + 1) * (entry[e % 8] +- 1/8)
 *
 * Entry i, of values 8 * i on, has eleven bits of index: the low eight are
 * qs[i].
 *
 *     IQ1_S, word qh[b], 32 values    | +- 1 | s 3 | high index bits 4 x 3 |
 *     IQ1_M, nibble i of qh           | +- 1 | high index bits 3 |
 *     IQ1_M, word of scales, 64 of e   | quarter of d 4 | s 4 x 3 |
 *
 * The top bit +- is set for -1/8.  The four top bits of the words of scales are
 * the half float d, the first word's being the lowest.
 *
 * Codes are 8 * (entry + 1), plus 2 for +1/8: from 0 to 18, with the bias 9, so
 * that
 *
 *     value = d / 8 * (2 * s + 1) * (code - 9)
 *
 * GEMV: codebook.h where tables of 128 are looked up at once (16 tables of
 * 128); the lanes of IQ1_M have sub-blocks of 16 (GB_ORDER_LANES).  Elsewhere
 * gemv.h in order, with a load for each entry.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "backends/cpu/kernels/format/bits.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/* Codes of the eight ENTRIES, one vector; bits of MINUS are set for values with
 * -1/8. */
GB_INLINE q64
iq1_codes(const void *const *entries, uint64_t minus)
{
    const q64 digits = q64_add(q64_eights(entries), q64_set1(1));

    return q64_or_where(q64_shift_left(digits, 3), ~minus, 2);
}

#if Q_HAS_TABLE_128

/* Two bits a value: 0, 1, 2 for -1, 0, 1.  Low bytes of all entries, then high
 * ones. */
#define R(entry) (entry) & 255
static const uint8_t iq1_table[4096] = {
#include "lib/type/grid-iq1.def"
#undef R
#define R(entry) (entry) >> 8
#include "lib/type/grid-iq1.def"
#undef R
};

/* For the eight indices in each eight bytes (gb_codebook_order): the four bytes
 * of qh with their high bits, twice; 64 stands for the second block's first
 * byte. */
#define HIGH(i) ((i) / 16 * 4 + (i) % 4 + (i) / 8 % 2 * 64)
static const uint8_t high_order[64] = { GB_EACH64(HIGH) };

/* Look up the entries of blocks whose qs is LOW and whose qh is HIGH bytes
 * behind their beginnings.  Byte j of AT is where, in 32 bits of qh, the three
 * high bits of entry j of eight are, less one. */
GB_INLINE void
lookup_ternary(const void *const *blocks, size_t low, size_t high, uint64_t at,
               struct gb_codebook_values *to)
{
    q64 indices[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const uint8_t *a = blocks[2 * i];
        const uint8_t *b = blocks[2 * i + 1];
        const q64 bits = q64_pick2(q64_load16(a + high), q64_load16(b + high),
                                   q64_load(high_order));

        indices[i] = gb_codebook_of_two(a + low, b + low);
        tables[i] = gb_codebook_tables(q64_fields(bits, q64_repeat(at)),
                                       indices[i], 15);
    }
    gb_codebook_lookup_eights(iq1_table, 16, indices, tables, to);
}

/* For each eight bytes, a sub-block of 32 values: its 16 bits of qh, four
 * times. */
#define WORD(i) ((i) / 8 * 2 + (i) % 2)
static const uint8_t words_order[64] = { GB_EACH64(WORD) };

/* 2 for values with +1/8, else 0: bit N of their words says minus. */
GB_INLINE q64
twos_but_where(q64 words, int n)
{
    return q64_and(q64_xor(q64_fields(words, q64_set1(n - 1)), q64_set1(2)),
                   q64_set1(2));
}

/* The codes of entry I of each sub-block of 32 values, from the entries' PACKED
 * bits and EIGHTHS as twos_but_where has them. */
GB_INLINE q64
ternary_codes(const uint8_t (*packed)[64], int i, q64 eighths)
{
    return q64_where(q64_set1(24), gb_codebook_bits2(packed, i, 3), eighths);
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
    gb_le_bytes(w, sizeof(w[0]), sizeof(w));
    gb_odd_scales(d,
                  gb_low_bytes(w[0] >> 12 & three) |
                      (uint64_t)gb_low_bytes(w[1] >> 12 & three) << 32,
                  q_half(&b->d) * 0.125f);
}

GB_INLINE void
iq1_s_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq1_s *b = super_block;
    const uint32_t low = gb_le16(b->qh[2 * i]);
    const uint32_t high = gb_le16(b->qh[2 * i + 1]);
    const void *entries[8];

    (void)n;
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
        entries[l] = gb_grid_iq1[b->qs[8 * i + l] | (low >> 3 * l & 7) << 8];
        entries[4 + l] =
            gb_grid_iq1[b->qs[8 * i + 4 + l] | (high >> 3 * l & 7) << 8];
    }
    u[0] = iq1_codes(entries, (0 - (uint64_t)(high >> 15)) << 32 |
                              (uint32_t)(0 - (low >> 15)));
}

static const struct gb_format iq1_s_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 50,
    GB_MICRO_KERNEL_OF(32, 4, 0),
    .bias = 9,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
    .gemv_bias = 9,
};

static const struct gb_block_reader iq1_s = {
    .format = &iq1_s_format,
    .scales = iq1_s_scales,
    .codes64 = iq1_s_codes64,
};

#if Q_HAS_TABLE_128

GB_INLINE void
iq1_s_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    lookup_ternary(blocks, offsetof(struct gb_block_iq1_s, qs),
                   offsetof(struct gb_block_iq1_s, qh), 0x1815120f0805023f, to);
}

GB_INLINE q64
iq1_s_words(const void *block)
{
    const struct gb_block_iq1_s *b = block;

    return q64_pick(q64_load16(b->qh), q64_load(words_order));
}

/* s is bits 12 to 14 of a word. */
GB_INLINE q64s
iq1_s_lane_scales(const void *block)
{
    return gb_codebook_odd(q64_down(iq1_s_words(block), 11), 14);
}

GB_INLINE q64
iq1_s_codebook_codes(const void *block, const uint8_t (*packed)[64], int i)
{
    return ternary_codes(packed, i, twos_but_where(iq1_s_words(block), 15));
}

static const struct gb_codebook iq1_s_codebook = {
    .format = &iq1_s_format,
    .factor = 0.125f,
    .lookup = iq1_s_lookup,
    .lane_scales = iq1_s_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq1_s_codebook_codes,
};

#endif

GB_CODEBOOK_FORMAT(iq1_s)

/* d, from the top four bits of the four words of scales; q_half is for halves
 * that are in blocks. */
GB_INLINE float
iq1_m_d(const uint16_t *w)
{
    const uint16_t half = gb_le16(
        (uint16_t)(w[0] >> 12 | (w[1] >> 8 & 0x00f0) | (w[2] >> 4 & 0x0f00) |
                   (w[3] & 0xf000)));

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
    gb_le_bytes(w, sizeof(w[0]), sizeof(w));
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
iq1_m_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq1_m *b = super_block;
    const void *entries[8];
    uint32_t packed;
    uint64_t nibbles;

    (void)n;
    memcpy(&packed, b->qh + 4 * i, sizeof(packed));
    nibbles = gb_nibbles(gb_le32(packed));
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        entries[l] =
            gb_grid_iq1[b->qs[8 * i + l] | (nibbles >> 8 * l & 7) << 8];
    u[0] = iq1_codes(entries, (nibbles >> 3 & 0x0101010101010101) * 255);
}

static const struct gb_format iq1_m_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 56,
    GB_MICRO_KERNEL_OF(16, 4, 0),
    .bias = 9,
    .order = GB_ORDER_CODEBOOK_LANES,
    .gemv = GB_GEMV_CODEBOOK,
    .gemv_bias = 9,
};

static const struct gb_block_reader iq1_m = {
    .format = &iq1_m_format,
    .scales = iq1_m_scales,
    .codes64 = iq1_m_codes64,
};

#if Q_HAS_TABLE_128

/* For each lane, a sub-block of 16 values: the word that has its scale,
 * twice. */
#define SCALE(i) ((i) / 16 * 2 + (i) % 2)
static const uint8_t scale_order[64] = { GB_EACH64(SCALE) };

GB_INLINE void
iq1_m_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    lookup_ternary(blocks, offsetof(struct gb_block_iq1_m, qs),
                   offsetof(struct gb_block_iq1_m, qh), 0x1b17130f0b07033f, to);
}

GB_INLINE q64s
iq1_m_lane_scales(const void *block)
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
iq1_m_block_d(const void *block)
{
    const struct gb_block_iq1_m *b = block;
    uint16_t w[4];

    memcpy(w, b->scales, sizeof(w));
    return iq1_m_d(w);
}

/* The codes of entry I of each sub-block of 32 values. */
GB_INLINE q64
iq1_m_entry(const void *block, const uint8_t (*packed)[64], int i)
{
    const struct gb_block_iq1_m *b = block;
    const q64 words = q64_pick(q64_load16(b->qh), q64_load(words_order));

    return ternary_codes(packed, i, twos_but_where(words, 4 * i + 3));
}

/* GB_ORDER_LANES: each sub-block of 16 values, which is two entries, goes to
 * one lane. */
GB_INLINE q64
iq1_m_codebook_codes(const void *block, const uint8_t (*packed)[64], int i)
{
    const q64 v = iq1_m_entry(block, packed, i / 2);
    const q64 w = iq1_m_entry(block, packed, i / 2 + 2);

    return i % 2 == 0 ? q64_low_dwords(v, w) : q64_high_dwords(v, w);
}

static const struct gb_codebook iq1_m_codebook = {
    .format = &iq1_m_format,
    .factor = 0.125f,
    .lookup = iq1_m_lookup,
    .lane_scales = iq1_m_lane_scales,
    .d = iq1_m_block_d,
    .codes64 = iq1_m_codebook_codes,
};

#endif

GB_CODEBOOK_FORMAT(iq1_m)
