/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q2k-q3k.c - GGML/GGUF Q2_K and Q3_K: super-blocks of 256
 * values, 16 sub-blocks of 16.
 *
 *     Q2_K  | scales 16 | qs 64 | d f16 | dmin f16 |      84 bytes
 *     Q3_K  | hmask 32 | qs 64 | scales 12 | d f16 |     110 bytes
 *
 *     Q2_K  value e = d * scale[b] * code - dmin * min[b],   b = e / 16
 *     Q3_K  value e = d * (scale[b] - 32) * (code - 4)
 *
 * 32 bytes of qs hold 128 values, the low two bits of their codes: values 0 to
 * 31 in bits 0 and 1 of each byte, 32 to 63 in bits 2 and 3, and so on.  The
 * third bit of Q3_K is bit e / 32 of hmask[e % 32].  Q2_K has its scales in low
 * nibbles, its mins in high nibbles.  Q3_K has scales of six bits: low four
 * bits of scales 0 to 7 and 8 to 15 in the low and high nibbles of bytes 0 to
 * 7; the high two bits in bytes 8 to 11, those of scale b from bit 2 * (b / 4)
 * of byte 8 + b % 4 on.
 *
 * GEMV (GB_ORDER_QUARTERS): all 64 bytes of qs are one vector, so that each
 * shift of it with a mask is one of the four vectors of codes; sub-blocks are
 * quarters of vectors.  Activations are lane-interleaved, and one sum becomes
 * floats:
 *
 *   Q2_K  4 dot4, whose sums stay below 2^15; pairs of sums are multiplied with
 *         their four-bit scales as 16-bit words, in two instructions a
 *         super-block.  Codes are masked in place where that saves a shift; the
 *         scales make up for their powers of 4.  Mins meet the sums of the
 *         activations in one dot4 of 32 bytes.
 *   Q3_K  where wide codes are unsigned: for each vector a table of the eight
 *         multiples of each scale; a lookup gives minus scale * (code - 4) as a
 *         wide code, then 4 dot4 and a zero-point correction.  Elsewhere gemv.h
 *         in order.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

GB_INLINE void
q2_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q2_k *b = block;
    const float super_scale = q_half(&b->d);
    const float super_min = -q_half(&b->dmin);
    uint64_t packed[2];
    uint64_t scales[2];
    uint64_t mins[2];

    (void)n;
    memcpy(packed, b->scales, sizeof(packed));
    for (int i = 0; i < 2; i++) {
        scales[i] = packed[i] & 0x0f0f0f0f0f0f0f0f;
        mins[i] = packed[i] >> 4 & 0x0f0f0f0f0f0f0f0f;
        q_floats_u8(d + 8 * i, &scales[i], super_scale);
        q_floats_u8(m + 8 * i, &mins[i], super_min);
    }
}

GB_INLINE q32
q2_k_codes32(const void *block, int i)
{
    const struct gb_block_q2_k *b = block;

    return q32_bits(q32_load(b->qs + 32 * (i / 4)), 2 * (i % 4), 3);
}

GB_INLINE void
q2_k_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_q2_k *b = super_block;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs), 2 * i, 3);
}

/* The scales of vectors 0 and 1 and of 2 and 3, as 16-bit words: QUARTER(s, t)
 * for a quarter of both, which have sub-blocks s and t.  255 gives a byte of
 * 0. */
#define WORD(s)       s, 255
#define WORDS(s)      WORD(s), WORD(s), WORD(s), WORD(s)
#define QUARTER(s, t) WORDS(s), WORDS(t)
static const uint8_t q2_k_words[2][64] = {
    { QUARTER(0, 2), QUARTER(1, 3), QUARTER(8, 10), QUARTER(9, 11) },
    { QUARTER(4, 6), QUARTER(5, 7), QUARTER(12, 14), QUARTER(13, 15) },
};

/* Codes are masked in place, as 1, 4 and 16 times the code (and 16 times,
 * shifted, in vector 3); these powers make all products 16 times as large. */
#define POWERS 16, 16, 16, 16, 4, 4, 4, 4
static const int16_t q2_k_powers[32] = { POWERS, POWERS, POWERS, POWERS };

/* 16 times the products of a super-block: before the scales a sum is 48 * 4 *
 * 127 at most, which fits 16 bits. */
GB_INLINE q64s
q2_k_dot(const q64 *u, const int8_t *y, const q64 *scales)
{
    q64s s[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s[i] = q64s_dot(q64s_zero(), u[i], q64_load(y + 64 * i));
    return q64s_dot_words(q64s_dot_words(q64s_zero(), s[0], s[1], scales[0]),
                          s[2], s[3], scales[1]);
}

GB_INLINE void
q2_k_add(struct gb_gemv_sums *sums, const void *block, const void *super_block)
{
    const struct gb_block_q2_k *b = block;
    const struct gb_q8_super_block *y = super_block;
    const q64 packed = q64_broadcast16(b->scales);
    const q64 codes = q64_load_once(b->qs);
    const q64 low = q64_bits(packed, 0, 15);
    const q64 scales[2] = {
        q64_times(q64_pick16(low, q2_k_words[0]), q2_k_powers),
        q64_pick16(low, q2_k_words[1]),
    };
    const q64 u[4] = {
        q64_bits(codes, 0, 3), q64_bits(codes, 0, 12), q64_bits(codes, 0, 48),
        q64_bits(codes, 2, 48),
    };
    const qs mins = qs_dot(
        qs_set_lane0(0), q32_bits(q64_low(packed), 4, 15),
        q32_load(y->sub_block_sums.codes));
    q64s s = q2_k_dot(u, y->high, scales);

    if (y->has_low[0] != 0)
        s = q64s_add_256(q2_k_dot(u, y->low, scales), s);
    gb_add_minima(sums, s, mins, y, &b->d);
}

static const struct gb_format q2_k_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 84,
    GB_MICRO_KERNEL_OF(16, 4, 1),
    .order = GB_ORDER_QUARTERS,
    .gemv = GB_GEMV_LANES_QUARTERS,
};

static const struct gb_block_reader q2_k = {
    .format = &q2_k_format,
    .scales = q2_k_scales,
    .codes32 = q2_k_codes32,
    .codes64 = q2_k_codes64,
    .add = q2_k_add,
};

GB_FORMAT_KERNELS(q2_k)

/* The sixteen scales, six bits each, minus 32; four in a 32-bit word. */
GB_INLINE void
q3_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q3_k *b = block;
    const float super_scale = q_half(&b->d);
    uint32_t w[3];
    uint32_t scales[4];

    (void)n;
    (void)m;
    memcpy(w, b->scales, sizeof(w));
    for (int i = 0; i < 4; i++) {
        const uint32_t low = w[i % 2] >> 4 * (i / 2) & 0x0f0f0f0f;
        const uint32_t high = w[2] >> 2 * i & 0x03030303;

        /* x - 32 in each byte, for x < 64: x ^ 32 with its bit 5, the sign,
         * copied to bits 6 and 7; no byte borrows from its neighbour. */
        scales[i] = (low | high << 4) ^ 0x20202020;
        scales[i] |= (scales[i] & 0x20202020) * 6;
    }
    q_floats_i8(d, scales, super_scale);
    q_floats_i8(d + 8, scales + 2, super_scale);
}

GB_INLINE q32
q3_k_codes32(const void *block, int i)
{
    const struct gb_block_q3_k *b = block;
    const q32 low = q32_bits(q32_load(b->qs + 32 * (i / 4)), 2 * (i % 4), 3);
    const q32 high = q32_bits(q32_load(b->hmask), i, 1);

    return q32_or(low, q32_shift_left(high, 2));
}

GB_INLINE void
q3_k_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_q3_k *b = super_block;
    const q64 low = q64_bits(q64_load(b->qs), 2 * i, 3);
    const q64 high = q64_bits2(q64_load2(b->hmask, b->hmask), i, i + 4, 1);

    (void)n;
    u[0] = q64_or(low, q64_shift_left(high, 2));
}

#if Q_WIDE_BIAS == 128

/* At 4 * l + i: the sub-block in quarter l of vector i. */
static const uint8_t lane_scales[16] = {
    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
};

/* Minus scale * (code - 4) is from -128 to 124 and fits a wide code; scale
 * times (code - 4) does not.  So the product is subtracted. */
GB_INLINE void
q3_k_add(struct gb_gemv_sums *sums, const void *block, const void *super_block)
{
    const uint64_t four = 0x0f0f0f0f0f0f0f0f;
    const uint64_t two = 0x3030303030303030;
    const struct gb_block_q3_k *b = block;
    const struct gb_q8_super_block *y = super_block;
    const q64 codes = q64_load_once(b->qs);
    const q64 third = q64_bits2(q64_load2(b->hmask, b->hmask), 0, 4, 255);
    uint64_t low;
    uint32_t w;
    uint64_t high;
    q64t8 multiples;
    q64 u[4];

    memcpy(&low, b->scales, sizeof(low));
    memcpy(&w, b->scales + 8, sizeof(w));
    high = w | (uint64_t)w << 30; /* scales 4 to 7 beside 0 to 3 */
    multiples = q64_multiples8(q64s_of_16((low & four) | (high << 4 & two),
                                          (low >> 4 & four) | (high & two),
                                          lane_scales));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = q64_multiple8(multiples, i, q64_bits(codes, 2 * i, 3), third);
    gb_add_scaled(&sums->acc[0],
                  gb_add_vectors(q64s_load(y->correction[0]), true, u, y),
                  y->scale, q64f_set1(-q_half(&b->d)));
}

#define Q3_K_ADD q3_k_add
#else
#define Q3_K_ADD NULL
#endif

static const struct gb_format q3_k_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 110,
    GB_MICRO_KERNEL_OF(16, 4, 0),
    .bias = 4,
    .order = GB_ORDER_QUARTERS,
    .gemv = GB_GEMV_WIDE,
    .gemv_bias = Q_WIDE_BIAS,
};

static const struct gb_block_reader q3_k = {
    .format = &q3_k_format,
    .scales = q3_k_scales,
    .codes32 = q3_k_codes32,
    .codes64 = q3_k_codes64,
    .add = Q3_K_ADD,
};

GB_FORMAT_KERNELS(q3_k)
