/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq4.c - GGML/GGUF IQ4_NL, blocks of 32 values, and IQ4_XS,
 * super-blocks of 256 with 8 sub-blocks of 32.
 *
 *     IQ4_NL  | d f16 | qs 16 |                                      18 bytes
 *     IQ4_XS  | d f16 | scales_h u16 | scales_l 4 | qs 128 |        136 bytes
 *
 *     IQ4_NL  value e = d * table[nibble]
 *     IQ4_XS  value e = d * (scale[b] - 32) * table[nibble],   b = e / 32
 *
 * Nibbles are packed as in Q4_0 (q4.c), 16 bytes for 32 values.  They are
 * indices of a table of 16 non-uniform values from -127 to 113
 * (lib/type/iq4.h).  The scales of IQ4_XS have six bits: the low four of scale
 * b are nibble b of scales_l, the high two are bits 2 * b and 2 * b + 1 of
 * scales_h.
 *
 * The table has wide codes (simd/q32.h), so that a lookup of 64 nibbles, one
 * byte shuffle, gives codes for dot4.
 *
 * GEMV of IQ4_NL: gemv.h in order, as q4.c with 4 lookups more a super-block.
 *
 * GEMV of IQ4_XS, where wide codes are unsigned: lane-interleaved.  64 bytes of
 * qs are two vectors with the same sub-blocks in their lanes: 2 dot4, which
 * begin with their zero-point correction, and a product with the integer
 * scales; the two sums of a super-block are added and become floats once.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/repacked.h"
#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"

#include <stddef.h>

/* The table, as wide codes. */
#define WIDE(v) (uint8_t)((v) + Q_WIDE_BIAS)
static const uint8_t wide_values[16] = { GB_IQ4_VALUES(WIDE) };

/* Two vectors of nibbles become codes. */
GB_INLINE void
lookup_codes(q64 *u)
{
    for (int j = 0; j < 2; j++)
        u[j] = q64_lookup(wide_values, u[j]);
}

GB_INLINE void
iq4_nl_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq4_nl *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
iq4_nl_codes32(const void *block, int i)
{
    const struct gb_block_iq4_nl *b = block;

    (void)i;
    return q32_lookup(wide_values, q32_nibbles(b->qs));
}

GB_INLINE void
iq4_nl_codes64(const void *super_block, int i, int n, q64 *u)
{
    gb_nibble_codes64(super_block, sizeof(struct gb_block_iq4_nl),
                      offsetof(struct gb_block_iq4_nl, qs), i, n, u);
    lookup_codes(u);
}

GB_INLINE void
iq4_nl_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_block_halves(super_block, sizeof(struct gb_block_iq4_nl), n);
}

static const struct gb_format iq4_nl_format = {
    .activation = GGML_TYPE_Q8_0,
    .block = 32,
    .bytes = 18,
    GB_MICRO_KERNEL_OF(32, 0, 0),
    .bias = Q_WIDE_BIAS,
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_windows iq4_nl_windows =
    GB_WINDOWS(gb_block_iq4_nl, wide_values);

static const struct gb_block_reader iq4_nl = {
    .format = &iq4_nl_format,
    .scales = iq4_nl_scales,
    .codes32 = iq4_nl_codes32,
    .codes64 = iq4_nl_codes64,
    .scale_vectors = iq4_nl_scale_vectors,
    .windows = &iq4_nl_windows,
};

GB_FORMAT_KERNELS(iq4_nl)

GB_INLINE void
iq4_nl_repacked_codes(const char *x, vq *u)
{
    repacked_nibbles(x, u);
#pragma GCC unroll 8
    for (int j = 0; j < REPACKED_DOT4S; j++)
        u[j] = vq_lookup(wide_values, u[j]);
}

GB_REPACKED_KERNELS(iq4_nl, iq4_nl_repacked_codes)

/* The eight scales, six bits each, minus 32. */
GB_INLINE void
iq4_xs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq4_xs *b = block;
    int8_t scales[8];

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        scales[i] = (int8_t)((b->scales_l[i / 2] >> 4 * (i % 2) & 15) +
                             (gb_le16(b->scales_h) >> 2 * i & 3) * 16 - 32);
    q_floats_i8(d, scales, q_half(&b->d));
}

GB_INLINE q32
iq4_xs_codes32(const void *block, int i)
{
    const struct gb_block_iq4_xs *b = block;

    return q32_lookup(wide_values, q32_nibbles(b->qs + 16 * i));
}

/* The codes of 64 bytes of nibbles. */
GB_INLINE void
codes_of_nibbles(q64 both, q64 *u)
{
    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
    lookup_codes(u);
}

GB_INLINE void
iq4_xs_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_iq4_xs *b = super_block;

    (void)n;
    codes_of_nibbles(q64_load_once(b->qs + 64 * i), u);
}

#if Q_WIDE_BIAS == 128

/* The sub-block of each lane, in vectors 0 and 1 and in 2 and 3. */
static const int32_t lane_sub_blocks[2][16] = {
    { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 },
    { 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7 },
};

/* Where the bits of each scale are: the low four in scales_l; the high two in
 * the word of d and scales_h, shifted so that they come out as bits 4 and 5. */
static const int32_t low_at[8] = { 0, 4, 8, 12, 16, 20, 24, 28 };
static const int32_t high_at[8] = { 12, 14, 16, 18, 20, 22, 24, 26 };

/* No sum overflows: 16 codes of magnitude 127 times activations of 127 * 257
 * (high and low part) times a scale of 32 are below 2^31. */
GB_INLINE void
iq4_xs_add(struct gb_gemv_sums *sums, const void *block,
           const void *super_block)
{
    const struct gb_block_iq4_xs *b = block;
    const struct gb_q8_super_block *y = super_block;
    /* Both loads stand first: the hardware prefetcher follows addresses in
     * order. */
    const q64 codes[2] = { q64_load_once(b->qs), q64_load_once(b->qs + 64) };
    uint32_t low;
    uint32_t high;
    qs scales;
    q64s s[2];
    q64 u[4];

    memcpy(&low, b->scales_l, sizeof(low));
    memcpy(&high, b, sizeof(high));
    scales = qs_add(qs_add(qs_fields(low, low_at, 15),
                           qs_fields(high, high_at, 48)),
                    qs_set1(-32));
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        codes_of_nibbles(codes[i], u + 2 * i);
        s[i] = gb_add_vectors_of(q64s_load(y->correction[i]), true, u, 2 * i,
                                 2 * i + 2, y);
        s[i] = q64s_mul(s[i], q64s_pick(scales, lane_sub_blocks[i]));
    }
    gb_add_scaled(&sums->acc[0], q64s_add(s[0], s[1]), y->scale,
                  q64f_set1(q_half(&b->d)));
}

#define IQ4_XS_ADD iq4_xs_add
#else
#define IQ4_XS_ADD NULL
#endif

static const struct gb_format iq4_xs_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 136,
    GB_MICRO_KERNEL_OF(32, 0, 0),
    .bias = Q_WIDE_BIAS,
    .order = GB_ORDER_NIBBLES,
    .gemv = GB_GEMV_WIDE_PAIRS,
    .gemv_bias = Q_WIDE_BIAS,
};

static const struct gb_block_reader iq4_xs = {
    .format = &iq4_xs_format,
    .scales = iq4_xs_scales,
    .codes32 = iq4_xs_codes32,
    .codes64 = iq4_xs_codes64,
    .add = IQ4_XS_ADD,
};

GB_FORMAT_KERNELS(iq4_xs)
