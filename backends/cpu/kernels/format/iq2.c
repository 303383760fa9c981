/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq2.c - GGML/GGUF IQ2_XXS, IQ2_XS and IQ2_S: super-blocks
 * of 256 values, codebooks of 256, 512 and 1024 entries of eight magnitudes 8,
 * 25 or 43.
 *
 *     IQ2_XXS  | d f16 | 8 x (index 4, signs and s u32) |            66 bytes
 *     IQ2_XS   | d f16 | qs u16 x 32 | scales 8 |                    74 bytes
 *     IQ2_S    | d f16 | qs 32 | signs 32 | qh 8 | scales 8 |        82 bytes
 *
 *     value e = d / 8 * (2 * s + 1) * sign[e] * entry[e % 8]
 *
 *     IQ2_XXS, u32 for 32 values      | s 4 | signs 4 x 7 |
 *     IQ2_XS, word for 8 values       | signs 7 | index 9 |
 *     IQ2_S, byte qh[b], 32 values    | high index bits 4 x 2 |
 *
 * IQ2_XXS has one s for 32 values; the others have a nibble of scales for each
 * 16.  Of seven stored signs the eighth follows: the number of negative values
 * is even (bits.h).  The codebooks of ggml follow QuIP# (Tseng et al., 2024),
 * whose entries are points of the E8 lattice with the same rule of signs.
 *
 * Codes for GEMM and skinny GEMM are signed values with the bias 43.
 *
 * GEMV: codebook.h where tables of 128 are looked up at once (2, 4 and 8 tables
 * of 128), with magnitudes as codes and signs on the activations; elsewhere
 * gemv.h in order, with a load for each entry.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/bits.h"
#include "backends/cpu/kernels/format/codebook.h"
#include "lib/type/blocks.h"
#include "lib/type/grid.h"

#define LARGEST 43 /* magnitude in the codebooks, the bias of signed codes */

/* One vector of codes: eight codebook entries, with their sign masks. */
GB_INLINE q64
signed_codes(const void *const *entries, uint64_t signs)
{
    return q64_add(q64_negate_where(q64_eights(entries), signs),
                   q64_set1(LARGEST));
}

/* The eight bytes of values 32 * i on: four indices, then signs and s. */
GB_INLINE uint64_t
iq2_xxs_word(const void *block, int i)
{
    const struct gb_block_iq2_xxs *b = block;
    uint64_t w;

    memcpy(&w, b->qs + 4 * i, sizeof(w));
    return gb_le64(w);
}

GB_INLINE void
iq2_xxs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq2_xxs *b = block;

    (void)n;
    (void)m;
    gb_sign_word_scales(d, b->qs + 2, 8, q_half(&b->d) * 0.125f);
}

GB_INLINE void
iq2_xxs_codes64(const void *super_block, int i, int n, q64 *u)
{
    const uint64_t w[2] = { iq2_xxs_word(super_block, 2 * i),
                            iq2_xxs_word(super_block, 2 * i + 1) };
    const void *entries[8];

    (void)n;
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        entries[l] = gb_grid_iq2_xxs[w[l / 4] >> 8 * (l % 4) & 255];
    u[0] = signed_codes(entries,
                        gb_parity_signs_64(w[0] >> 32 | (w[1] >> 32 << 32)));
}

static const struct gb_format iq2_xxs_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 66,
    GB_MICRO_KERNEL_OF(32, 1, 0),
    .bias = LARGEST,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
};

static const struct gb_block_reader iq2_xxs = {
    .format = &iq2_xxs_format,
    .scales = iq2_xxs_scales,
    .codes64 = iq2_xxs_codes64,
};

#if Q_HAS_TABLE_128

/* Vector I of magnitudes; the table repeats, so only the low two bits of an
 * index count. */
GB_INLINE q64
iq2_codebook_codes(const void *block, const uint8_t (*packed)[64], int i)
{
    (void)block;
    return q64_pick(q64_repeat(0x2b2b19082b2b1908),
                    gb_codebook_bits2(packed, i, 0));
}

#define R(entry) (entry) & 255
static const uint8_t iq2_xxs_table[512] = {
#include "lib/type/grid-iq2-xxs.def"
#undef R
#define R(entry) (entry) >> 8
#include "lib/type/grid-iq2-xxs.def"
#undef R
};

GB_INLINE void
iq2_xxs_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    q64 indices[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_xxs *a = blocks[2 * i];
        const struct gb_block_iq2_xxs *b = blocks[2 * i + 1];
        const q64 wa = q64_load(a->qs);
        const q64 wb = q64_load(b->qs);

        indices[i] = q64_even_dwords(wa, wb);
        tables[i] = q64_bits(indices[i], 7, 1);
        gb_codebook_parity_signs_words(q64_high_dwords(wa, wb),
                                       to->signs[2 * i]);
    }
    gb_codebook_lookup_eights(iq2_xxs_table, 2, indices, tables, to);
}

/* s is the top four bits of the word with the signs, in an odd lane. */
GB_INLINE q64s
iq2_xxs_lane_scales(const void *block)
{
    const struct gb_block_iq2_xxs *b = block;

    return q64s_odd(
        q64s_or(q64_down(q64_load(b->qs), 27), q64s_set1(1)));
}

static const struct gb_codebook iq2_xxs_codebook = {
    .format = &iq2_xxs_format,
    .factor = 0.125f,
    .has_signs = true,
    .lookup = iq2_xxs_lookup,
    .lane_scales = iq2_xxs_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq2_codebook_codes,
};

#endif

GB_CODEBOOK_FORMAT(iq2_xxs)

/* Scales of sub-blocks of 16 values, from a nibble for each. */
GB_INLINE void
nibble_scales(const uint8_t *nibbles, const void *half, float *d)
{
    const float d8 = q_half(half) * 0.125f;
    uint32_t w[2];

    memcpy(w, nibbles, sizeof(w));
    gb_odd_scales(d, gb_nibbles(gb_le32(w[0])), d8);
    gb_odd_scales(d + 8, gb_nibbles(gb_le32(w[1])), d8);
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
iq2_xs_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq2_xs *b = super_block;
    const uint64_t seven = 0x007f007f007f007f;
    const void *entries[8];
    uint64_t w[2];

    (void)n;
    memcpy(w, b->qs + 8 * i, sizeof(w));
    gb_le_bytes(w, sizeof(w[0]), sizeof(w));
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++)
        entries[l] = gb_grid_iq2_xs[w[l / 4] >> 16 * (l % 4) & 511];
    u[0] = signed_codes(
        entries,
        gb_parity_signs(gb_low_bytes(w[0] >> 9 & seven) |
                        (uint64_t)gb_low_bytes(w[1] >> 9 & seven) << 32));
}

static const struct gb_format iq2_xs_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 74,
    GB_MICRO_KERNEL_OF(16, 1, 0),
    .bias = LARGEST,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
};

static const struct gb_block_reader iq2_xs = {
    .format = &iq2_xs_format,
    .scales = iq2_xs_scales,
    .codes64 = iq2_xs_codes64,
};

#if Q_HAS_TABLE_128

#define R(entry) (entry) & 255
static const uint8_t iq2_xs_table[1024] = {
#include "lib/type/grid-iq2-xs.def"
#undef R
#define R(entry) (entry) >> 8
#include "lib/type/grid-iq2-xs.def"
#undef R
};

/* High bytes of the 32 words of two blocks in the order of sign masks, a vector
 * after the other: seven signs above the ninth bit of the index. */
#define SIGNS(i) ((i) % 8 * 8 + (i) / 8 % 4 * 2 + 1 + (i) / 32 * 64)
static const uint8_t signs_order[64] = { GB_EACH64(SIGNS) };

GB_INLINE void
iq2_xs_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    /* Of four words the low eight bits of the index, then the bits from 7
     * on. */
    const q64 at = q64_repeat(0x3727170730201000);
    q64 indices[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_xs *a = blocks[2 * i];
        const struct gb_block_iq2_xs *b = blocks[2 * i + 1];
        const q64 wa = q64_load(a->qs);
        const q64 wb = q64_load(b->qs);
        const q64 fa = q64_fields(wa, at);
        const q64 fb = q64_fields(wb, at);
        const q64 high = q64_pick2(wa, wb, q64_load(signs_order));

        indices[i] = q64_even_dwords(fa, fb);
        tables[i] = q64_and(q64_odd_dwords(fa, fb), q64_set1(3));
        gb_codebook_parity_signs(q64_down(high, 1), to->signs[2 * i]);
    }
    gb_codebook_lookup_eights(iq2_xs_table, 4, indices, tables, to);
}

GB_INLINE q64s
iq2_xs_lane_scales(const void *block)
{
    const struct gb_block_iq2_xs *b = block;

    return gb_codebook_nibble_scales(b->scales);
}

static const struct gb_codebook iq2_xs_codebook = {
    .format = &iq2_xs_format,
    .factor = 0.125f,
    .has_signs = true,
    .has_two_scales = true,
    .lookup = iq2_xs_lookup,
    .lane_scales = iq2_xs_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq2_codebook_codes,
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
iq2_s_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq2_s *b = super_block;
    const uint8_t *low = b->qs + 8 * i;
    const void *entries[8];
    uint64_t signs;

    (void)n;
#pragma GCC unroll 8
    for (int l = 0; l < 8; l++) {
        const unsigned high = b->qh[2 * i + l / 4];

        entries[l] =
            gb_grid_iq2_s[low[l] | (high << (8 - 2 * (l % 4)) & 0x300)];
    }
    memcpy(&signs, b->qs + 32 + 8 * i, sizeof(signs));
    u[0] = signed_codes(entries, gb_le64(signs));
}

static const struct gb_format iq2_s_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 82,
    GB_MICRO_KERNEL_OF(16, 1, 0),
    .bias = LARGEST,
    .order = GB_ORDER_CODEBOOK,
    .gemv = GB_GEMV_CODEBOOK,
};

static const struct gb_block_reader iq2_s = {
    .format = &iq2_s_format,
    .scales = iq2_s_scales,
    .codes64 = iq2_s_codes64,
};

#if Q_HAS_TABLE_128

#define R(entry) (entry) & 255
static const uint8_t iq2_s_table[2048] = {
#include "lib/type/grid-iq2-s.def"
#undef R
#define R(entry) (entry) >> 8
#include "lib/type/grid-iq2-s.def"
#undef R
};

/* Where in qh the high two bits of each index are, less one. */
#define HIGH(i) (((i) / 16 * 2 + (i) / 4 % 2) * 8 + (i) % 4 * 2 - 1)
static const int8_t high_order[64] = { GB_EACH64(HIGH) };

GB_INLINE void
iq2_s_lookup(const void *const *blocks, struct gb_codebook_values *to)
{
    q64 indices[GB_CODEBOOK_PAIRS];
    q64 tables[GB_CODEBOOK_PAIRS];

#pragma GCC unroll 2
    for (int i = 0; i < GB_CODEBOOK_PAIRS; i++) {
        const struct gb_block_iq2_s *a = blocks[2 * i];
        const struct gb_block_iq2_s *b = blocks[2 * i + 1];
        const q64 high = q64_fields(q64_two_words(a->qh, b->qh),
                                    q64_load(high_order));

        indices[i] = gb_codebook_of_two(a->qs, b->qs);
        tables[i] = gb_codebook_tables(high, indices[i], 7);
        gb_codebook_signs(a->qs + 32, b->qs + 32, to->signs[2 * i]);
    }
    gb_codebook_lookup_eights(iq2_s_table, 8, indices, tables, to);
}

GB_INLINE q64s
iq2_s_lane_scales(const void *block)
{
    const struct gb_block_iq2_s *b = block;

    return gb_codebook_nibble_scales(b->scales);
}

static const struct gb_codebook iq2_s_codebook = {
    .format = &iq2_s_format,
    .factor = 0.125f,
    .has_signs = true,
    .has_two_scales = true,
    .lookup = iq2_s_lookup,
    .lane_scales = iq2_s_lane_scales,
    .d = gb_codebook_d,
    .codes64 = iq2_codebook_codes,
};

#endif

GB_CODEBOOK_FORMAT(iq2_s)
