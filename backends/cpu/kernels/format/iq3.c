/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq3.c - GGML/GGUF IQ3_XXS and IQ3_S: super-blocks of 256
 * values, codebooks of 256 and 512 entries of four magnitudes.
 *
 *     IQ3_XXS  | d f16 | qs 64 | signs and s u32 x 8 |              98 bytes
 *     IQ3_S    | d f16 | qs 64 | qh 8 | signs 32 | scales 4 |      110 bytes
 *
 *     IQ3_XXS  value e = d / 4 * (2 * s + 1) * sign[e] * entry[e % 4]
 *     IQ3_S    value e = d * (2 * s + 1) * sign[e] * entry[e % 4]
 *
 * Entry i, of values 4 * i on, has the index qs[i]; IQ3_S has a ninth bit, bit
 * i % 8 of qh[i / 8].  Magnitudes of IQ3_XXS are 4, 12 .. 52 and 62, of IQ3_S
 * 1, 3 .. 15.
 *
 *     IQ3_XXS, u32 for 32 values   | s 4 | signs 4 x 7 |
 *     IQ3_S, byte for 64 values    | s of the second 32 | s of the first 32 |
 *
 * Of seven stored signs the eighth follows: the number of negative values is
 * even (bits.h).  Codes for GEMM and skinny GEMM are signed values with the
 * largest magnitude as bias.
 *
 * GEMV: codebook.h where tables of 128 are looked up at once (2 and 4 tables of
 * 128), with magnitudes as codes and signs on the activations; elsewhere gemv.h
 * in order, with a load for each entry.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "backends/cpu/kernels/format/bits.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

/* One vector of codes: sixteen codebook entries, with their sign masks. */
GB_INLINE q64
signed_codes(const void *const *entries, uint64_t signs, int bias)
{
    return q64_add(q64_negate_where(q64_words(entries), signs), q64_set1(bias));
}

/* The two words with signs and s of vector I. */
GB_INLINE uint64_t
iq3_xxs_word(const void *block, int i)
{
    const struct gb_block_iq3_xxs *b = block;
    uint64_t w;

    memcpy(&w, b->qs + GB_QK_K / 4 + 8 * i, sizeof(w));
    return gb_le64(w);
}

GB_INLINE void
iq3_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq3_xxs *b = block;

    (void)n;
    (void)m;
    gb_sign_word_scales(d, b->qs + GB_QK_K / 4, 4, q_half(&b->d) * 0.25f);
}

GB_INLINE void
iq3_xxs_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq3_xxs *b = super_block;
    const void *entries[16];

    (void)n;
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++)
        entries[j] = gb_grid_iq3_xxs[b->qs[16 * i + j]];
    u[0] = signed_codes(entries,
                        gb_parity_signs_64(iq3_xxs_word(super_block, i)), 62);
}

static const struct gb_format iq3_xxs_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 98,
    GB_MICRO_KERNEL_OF(32, 1, 0),
    .bias = 62,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
};

static const struct gb_block_reader iq3_xxs = {
    .format = &iq3_xxs_format,
    .scales = iq3_xxs_scales,
    .codes64 = iq3_xxs_codes64,
};

#if Q_HAS_TABLE_128

/* Four bits a value, 0 to 7.  Low bytes of all entries, then high ones. */
#define NIBBLE(entry, i) ((entry) >> 3 * (i) & 7)
#define R(entry)         NIBBLE(entry, 0) | NIBBLE(entry, 1) << 4
static const uint8_t iq3_xxs_table[512] = {
#include "lib/type/grid-iq3-xxs.def"
#undef R
#define R(entry) NIBBLE(entry, 2) | NIBBLE(entry, 3) << 4
#include "lib/type/grid-iq3-xxs.def"
#undef R
};
#undef NIBBLE

/* The eight words with signs of each of two blocks, alternating. */
#define WORD(i) ((i) / 8 * 4 + (i) % 4 + (i) / 4 % 2 * 32)
static const uint8_t words_order[64] = { GB_EACH64(WORD) };

GB_INLINE void
iq3_xxs_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    q64 indices[GB_CODEBOOK_BLOCKS];
    q64 tables[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        const struct gb_block_iq3_xxs *b = blocks[i];

        indices[i] = q64_load(b->qs);
        tables[i] = q64_bits(indices[i], 7, 1);
        if (i % 2 != 0) {
            const struct gb_block_iq3_xxs *a = blocks[i - 1];

            gb_codebook_parity_signs_words(
                q64_pick(q64_load2(a->qs + 64, b->qs + 64),
                         q64_load(words_order)),
                to->signs[i - 1]);
        }
    }
    gb_codebook_lookup_fours(iq3_xxs_table, 2, indices, tables, to);
}

/* s is the top four bits of the words with the signs. */
GB_INLINE q64s
iq3_xxs_lane_scales(const void *block)
{
    const struct gb_block_iq3_xxs *b = block;

    return q64s_or(q64_down(q64_dup_dwords(b->qs + 64), 27),
                   q64s_set1(1));
}

GB_INLINE q64
iq3_xxs_codebook_codes(const void *block, const uint8_t (*packed)[64], int i)
{
    (void)block;
    return q64_pick(q64_repeat(0x3e342c241c140c04),
                    gb_codebook_bits4(packed, i));
}

static const struct gb_codebook iq3_xxs_codebook = {
    .format = &iq3_xxs_format,
    .factor = 0.25f,
    .has_signs = true,
    .lookup = iq3_xxs_lookup,
    .lane_scales = iq3_xxs_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq3_xxs_codebook_codes,
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
    gb_odd_scales(d, gb_nibbles(gb_le32(w)), q_half(&b->d));
}

GB_INLINE void
iq3_s_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq3_s *b = super_block;
    const void *entries[16];
    uint64_t signs;

    (void)n;
#pragma GCC unroll 16
    for (int j = 0; j < 16; j++) {
        const unsigned high = b->qh[2 * i + j / 8];

        entries[j] =
            gb_grid_iq3_s[b->qs[16 * i + j] | (high << (8 - j % 8) & 256)];
    }
    memcpy(&signs, b->signs + 8 * i, sizeof(signs));
    u[0] = signed_codes(entries, gb_le64(signs), 15);
}

static const struct gb_format iq3_s_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 110,
    GB_MICRO_KERNEL_OF(32, 4, 0),
    .bias = 15,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
};

static const struct gb_block_reader iq3_s = {
    .format = &iq3_s_format,
    .scales = iq3_s_scales,
    .codes64 = iq3_s_codes64,
};

#if Q_HAS_TABLE_128

/* Four bits a value, the magnitude itself. */
#define NIBBLE(entry, i) (((entry) >> 3 * (i) & 7) * 2 + 1)
#define R(entry)         NIBBLE(entry, 0) | NIBBLE(entry, 1) << 4
static const uint8_t iq3_s_table[1024] = {
#include "lib/type/grid-iq3-s.def"
#undef R
#define R(entry) NIBBLE(entry, 2) | NIBBLE(entry, 3) << 4
#include "lib/type/grid-iq3-s.def"
#undef R
};
#undef NIBBLE

/* Both lanes of a sub-block of 32 values have its nibble. */
GB_INLINE q64s
iq3_s_lane_scales(const void *block)
{
    static const int32_t by[16] = { 31, 31, 3,  3,  7,  7,  11, 11,
                                    15, 15, 19, 19, 23, 23, 27, 27 };
    const struct gb_block_iq3_s *b = block;
    int32_t w;

    memcpy(&w, b->scales, sizeof(w));
    return gb_codebook_odd(q64s_rotate(q64s_set1(w), q64s_load(by)), 30);
}

GB_INLINE void
iq3_s_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    q64 indices[GB_CODEBOOK_BLOCKS];
    q64 tables[GB_CODEBOOK_BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < GB_CODEBOOK_BLOCKS; i++) {
        const struct gb_block_iq3_s *b = blocks[i];
        uint64_t high;

        memcpy(&high, b->qh, sizeof(high));
        indices[i] = q64_load(b->qs);
        tables[i] = q64_or_where(q64_bits(indices[i], 7, 1), high, 2);
        if (i % 2 != 0) {
            const struct gb_block_iq3_s *a = blocks[i - 1];

            gb_codebook_signs(a->signs, b->signs, to->signs[i - 1]);
        }
    }
    gb_codebook_lookup_fours(iq3_s_table, 4, indices, tables, to);
}

GB_INLINE q64
iq3_s_codebook_codes(const void *block, const uint8_t (*packed)[64], int i)
{
    (void)block;
    return q64_and(q64_set1(15), gb_codebook_bits4(packed, i));
}

static const struct gb_codebook iq3_s_codebook = {
    .format = &iq3_s_format,
    .factor = 1.0f,
    .has_signs = true,
    .lookup = iq3_s_lookup,
    .lane_scales = iq3_s_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq3_s_codebook_codes,
};

#endif

GB_CODEBOOK_FORMAT(iq3_s)
