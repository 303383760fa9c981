/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/ternary.c - GGML/GGUF TQ1_0 and TQ2_0: super-blocks of 256
 * values -1, 0 and 1 times one scale.
 *
 *     TQ1_0  | qs 48 | qh 4 | d f16 |   54 bytes, five ternary digits in a byte
 *     TQ2_0  | qs 64 | d f16 |          66 bytes, two bits a value
 *
 *     value e = d * (code - 1)
 *
 * TQ2_0 packs 32 bytes for 128 values, as Q2_K does (q2k-q3k.c).
 *
 * In TQ1_0 a byte b is the fraction b / 256, written with five digits to the
 * base of 3.  Multiplied with 3, its digit comes before the point and the
 * remainder is the next fraction:
 *
 *     3 * b = 256 * digit + remainder
 *
 * Digit k of qs[0] to qs[31] are values 32 * k on, of qs[32] to qs[47] values
 * 160 + 16 * k on; digit k < 4 of qh are values 240 + 4 * k on.
 *
 * GEMV, lane-interleaved: one scale for all, so a super-block is one sum of
 * integers from a zero-point correction on.  TQ2_0: the 64 bytes are four
 * vectors of codes by shifts and masks, 4 dot4.  TQ1_0, where wide codes are
 * unsigned: 52 bytes are one vector and its remainders five more; activations
 * are in five vectors, one for each digit (struct gb_q8_ternary).  Since 256 *
 * digit = 3 * b - remainder, the dot4 of bytes and of remainders give those of
 * digits: 10 dot4 and 10 additions a super-block, and no digit is ever
 * extracted.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

/* One scale for all sub-blocks of 32 values. */
GB_INLINE void
one_scale(const void *half, float *d)
{
    const float scale = q_half(half);

    for (int i = 0; i < GB_QK_K / 32; i++)
        d[i] = scale;
}

GB_INLINE void
tq1_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_tq1_0 *b = block;

    (void)n;
    (void)m;
    one_scale(&b->d, d);
}

/* Each byte times FACTOR, modulo 256. */
GB_INLINE uint32_t
bytes_times(uint32_t w, uint32_t factor)
{
    const uint32_t mask = 0x00ff00ff;

    return ((w & mask) * factor & mask) |
           ((w >> 8 & mask) * factor & mask) << 8;
}

GB_INLINE q32
triple(q32 v)
{
    return q32_add(v, q32_add(v, v));
}

/* Remainders before the digits of values 32 * i to 32 * i + 31: bytes times 3^k
 * modulo 256.  For i < 5 bytes 0 to 31 with k = i; for i = 5, 6 and the first
 * half of 7 bytes 32 to 47 with k = 0 to 4; then the four bytes of qh with k =
 * 0 to 3. */
GB_INLINE q32
tq1_0_remainders(const struct gb_block_tq1_0 *b, int i)
{
    static const uint8_t upper[32] = {
        [16] = 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255,
    };
    uint32_t last[4];
    q32 remainders;

    if (i < 5) {
        remainders = q32_load(b->qs);
#pragma GCC unroll 4
        for (int k = 0; k < i; k++)
            remainders = triple(remainders);
        return remainders;
    }
    remainders = q32_load2(b->qs + 32, b->qs + 32);
    if (i < 7)
        remainders = q32_add(
            remainders,
            q32_where(q32_load(upper), q32_add(remainders, remainders)));
#pragma GCC unroll 4
    for (int k = 0; k < 2 * (i - 5); k++)
        remainders = triple(remainders);
    if (i < 7)
        return remainders;
    memcpy(&last[0], b->qh, sizeof(last[0]));
    last[1] = bytes_times(last[0], 3);
    last[2] = bytes_times(last[0], 9);
    last[3] = bytes_times(last[0], 27);
    /* A load as wide as the store of LAST, so that the store is forwarded. */
    return q32_or(q32_load2(upper, last),
                  q32_xor(remainders, q32_where(q32_load(upper), remainders)));
}

GB_INLINE q32
tq1_0_codes32(const void *block, int i)
{
    return q32_thirds(tq1_0_remainders(block, i));
}

#if Q_WIDE_BIAS == 128

/* S + 256 times the products of the digits with the activations at Y: three
 * times the products of each vector of remainders, minus those of the next one.
 * A digit costs two dot4 so; to extract it and multiply takes five
 * instructions. */
GB_INLINE q64s
add_digits(q64s s, const q64 *remainders, const int8_t *y)
{
    q64s sum = q64s_zero();
    q64s next = q64s_zero();

#pragma GCC unroll 5
    for (int i = 0; i < GB_TERNARY_DIGITS; i++) {
        const q64 activations = q64_load_once(y + 64 * i);

        sum = q64s_dot_wide(sum, remainders[i], activations);
        next = q64s_dot_wide(next, remainders[i + 1], activations);
    }
    sum = q64s_add(sum, q64s_add(sum, sum));
    return q64s_add(s, q64s_sub(sum, next));
}

/* The bytes of qh have four digits; activations are 0 for a fifth one. */
GB_INLINE void
tq1_0_add(struct gb_gemv_sums *sums, const void *block, const void *super_block)
{
    const struct gb_block_tq1_0 *b = block;
    const struct gb_q8_ternary *y = super_block;
    const int8_t *codes = y->high;
    q64s s = q64s_load(y->correction);
    q64 remainders[GB_TERNARY_DIGITS + 1];

    remainders[0] = q64_load_fours(b->qs, 13);
#pragma GCC unroll 5
    for (int i = 0; i < GB_TERNARY_DIGITS; i++)
        remainders[i + 1] = q64_add(remainders[i],
                                    q64_add(remainders[i], remainders[i]));
    if (y->has_low != 0) {
        s = q64s_add_256(s, add_digits(q64s_zero(), remainders, codes));
        codes = y->low;
    }
    gb_add_scaled(&sums->acc[0], add_digits(s, remainders, codes), y->scale,
                  q64f_set1(q_half(&b->d) / 256.0f));
}

#define TQ1_0_ADD tq1_0_add
#else
#define TQ1_0_ADD NULL
#endif

static const struct gb_format tq1_0_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 54,
    GB_MICRO_KERNEL_OF(32, 8, 0),
    .bias = 1,
    .gemv = GB_GEMV_TERNARY,
    .gemv_bias = 256,
};

static const struct gb_block_reader tq1_0 = {
    .format = &tq1_0_format,
    .scales = tq1_0_scales,
    .codes32 = tq1_0_codes32,
    .add = TQ1_0_ADD,
};

GB_FORMAT_KERNELS(tq1_0)

GB_INLINE void
tq2_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_tq2_0 *b = block;

    (void)n;
    (void)m;
    one_scale(&b->d, d);
}

GB_INLINE q32
tq2_0_codes32(const void *block, int i)
{
    const struct gb_block_tq2_0 *b = block;

    return q32_bits(q32_load(b->qs + 32 * (i / 4)), 2 * (i % 4), 3);
}

GB_INLINE void
tq2_0_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_tq2_0 *b = super_block;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs), 2 * i, 3);
}

GB_INLINE void
tq2_0_add(struct gb_gemv_sums *sums, const void *block, const void *super_block)
{
    const struct gb_block_tq2_0 *b = block;
    const struct gb_q8_super_block *y = super_block;
    const q64 codes = q64_load_once(b->qs);
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = q64_bits(codes, 2 * i, 3);
    gb_add_scaled(&sums->acc[0],
                  gb_add_vectors(q64s_load(y->correction[0]), false, u, y),
                  y->scale, q64f_set1(q_half(&b->d)));
}

static const struct gb_format tq2_0_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 66,
    GB_MICRO_KERNEL_OF(32, 8, 0),
    .bias = 1,
    .order = GB_ORDER_QUARTERS,
    .gemv = GB_GEMV_LANES_BIAS,
    .gemv_bias = 1,
};

static const struct gb_block_reader tq2_0 = {
    .format = &tq2_0_format,
    .scales = tq2_0_scales,
    .codes32 = tq2_0_codes32,
    .codes64 = tq2_0_codes64,
    .add = tq2_0_add,
};

GB_FORMAT_KERNELS(tq2_0)
