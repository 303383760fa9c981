/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q2k-q3k.c - weights q2_K and q3_K.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

GB_INLINE void
q2_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q2_k *b = block;
    const float factor = q_half(&b->d);
    const float factor_min = -q_half(&b->dmin);
    uint64_t packed[2];
    uint64_t scales[2];
    uint64_t mins[2];

    (void)n;
    memcpy(packed, b->scales, sizeof(packed));
    for (int i = 0; i < 2; i++) {
        scales[i] = packed[i] & 0x0f0f0f0f0f0f0f0f;
        mins[i] = packed[i] >> 4 & 0x0f0f0f0f0f0f0f0f;
        q_floats_u8(d + 8 * i, &scales[i], factor);
        q_floats_u8(m + 8 * i, &mins[i], factor_min);
    }
}

GB_INLINE q32
q2_k_codes(const void *block, int g)
{
    const struct gb_block_q2_k *b = block;

    return q32_bits(q32_load(b->qs + 32 * (g / 4)), 2 * (g % 4), 3);
}

GB_INLINE void
q2_k_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_q2_k *b = group;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs), 2 * i, 3);
}

/* The scales that quarters of two units have, as words for each; 255 is 0. */
#define WORD(s)       s, 255
#define WORDS(s)      WORD(s), WORD(s), WORD(s), WORD(s)
#define QUARTER(s, t) WORDS(s), WORDS(t)
static const uint8_t q2_k_words[2][64] = {
    { QUARTER(0, 2), QUARTER(1, 3), QUARTER(8, 10), QUARTER(9, 11) },
    { QUARTER(4, 6), QUARTER(5, 7), QUARTER(12, 14), QUARTER(13, 15) },
};

/* What makes up for codes that are read where they lie, two bits above those of
 * the unit before, up to 48. */
#define FACTORS 16, 16, 16, 16, 4, 4, 4, 4
static const int16_t q2_k_factors[32] = { FACTORS, FACTORS, FACTORS, FACTORS };

/* Sixteen times the products of units with a super-block, which are 48 * 4 * 127 at
 * most before they meet scales. */
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
q2_k_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const struct gb_block_q2_k *b = block;
    const struct gb_q8_super_block *y = group;
    const q64 packed = q64_broadcast16(b->scales);
    const q64 codes = q64_load_once(b->qs);
    const q64 low = q64_bits(packed, 0, 15);
    const q64 scales[2] = {
        q64_times(q64_pick16(low, q2_k_words[0]), q2_k_factors),
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

static const struct gb_block_reader q2_k = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 84,
        .sub_block = 16,
        .has_min = 1,
        .dot4s = 4,
        .order = GB_ORDER_QUARTERS,
        .gemv = GB_GEMV_LANES_QUARTERS,
    },
    .scales = q2_k_scales,
    .codes = q2_k_codes,
    .units = q2_k_units,
    .add = q2_k_add,
};

GB_FORMAT_KERNELS(q2_k)

/* Sixteen scales of six bits minus 32, four at a time. */
GB_INLINE void
q3_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q3_k *b = block;
    const float factor = q_half(&b->d);
    uint32_t w[3];
    uint32_t scales[4];

    (void)n;
    (void)m;
    memcpy(w, b->scales, sizeof(w));
    for (int i = 0; i < 4; i++) {
        const uint32_t low = w[i % 2] >> 4 * (i / 2) & 0x0f0f0f0f;
        const uint32_t high = w[2] >> 2 * i & 0x03030303;

        /* x - 32 in a byte, for x < 64: the upper bits are those of x ^ 32,
         * bit 5 being the sign; no byte borrows from its neighbour. */
        scales[i] = (low | high << 4) ^ 0x20202020;
        scales[i] |= (scales[i] & 0x20202020) * 6;
    }
    q_floats_i8(d, scales, factor);
    q_floats_i8(d + 8, scales + 2, factor);
}

GB_INLINE q32
q3_k_codes(const void *block, int g)
{
    const struct gb_block_q3_k *b = block;
    const q32 low = q32_bits(q32_load(b->qs + 32 * (g / 4)), 2 * (g % 4), 3);
    const q32 high = q32_bits(q32_load(b->hmask), g, 1);

    return q32_or(low, q32_shift_left(high, 2));
}

GB_INLINE void
q3_k_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_q3_k *b = group;
    const q64 low = q64_bits(q64_load(b->qs), 2 * i, 3);
    const q64 high = q64_bits2(q64_load2(b->hmask, b->hmask), i, i + 4, 1);

    (void)n;
    u[0] = q64_or(low, q64_shift_left(high, 2));
}

#if Q_WIDE_BIAS == 128

/* Which scale quarter l of unit i has, at 4 * l + i. */
static const uint8_t places[16] = {
    0, 2, 4, 6, 1, 3, 5, 7, 8, 10, 12, 14, 9, 11, 13, 15,
};

/* Codes times their scales are from -128 to 124 when these are negated. */
GB_INLINE void
q3_k_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const uint64_t four = 0x0f0f0f0f0f0f0f0f;
    const uint64_t two = 0x3030303030303030;
    const struct gb_block_q3_k *b = block;
    const struct gb_q8_super_block *y = group;
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
                                          places));
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = q64_multiple8(multiples, i, q64_bits(codes, 2 * i, 3), third);
    gb_add_scaled(&sums->acc[0],
                  gb_add_units(q64s_load(y->correction[0]), true, u, y), y->scale,
                  q64f_set1(-q_half(&b->d)));
}

#define Q3_K_ADD q3_k_add
#else
#define Q3_K_ADD NULL
#endif

static const struct gb_block_reader q3_k = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 110,
        .sub_block = 16,
        .bias = 4,
        .dot4s = 4,
        .order = GB_ORDER_QUARTERS,
        .gemv = GB_GEMV_WIDE,
        .gemv_bias = Q_WIDE_BIAS,
    },
    .scales = q3_k_scales,
    .codes = q3_k_codes,
    .units = q3_k_units,
    .add = Q3_K_ADD,
};

GB_FORMAT_KERNELS(q3_k)
