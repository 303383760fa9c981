/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/ternary.c - weights tq1_0 and tq2_0.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

/* The same scale for all sub-blocks. */
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

/* FACTOR times each byte, but for what does not fit. */
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

/* Digit k of a byte is what is above the point in three times the rest that
 * multiplying with 3^k leaves.  Those rests of thirty-two values: of the first
 * 32 bytes for k = 0 to 4, of the next 16 for 0 to 4, then of the four of qh
 * for 0 to 3. */
GB_INLINE q32
tq1_0_rests(const struct gb_block_tq1_0 *b, int g)
{
    static const uint8_t upper[32] = {
        [16] = 255, 255, 255, 255, 255, 255, 255, 255,
        255, 255, 255, 255, 255, 255, 255, 255,
    };
    uint32_t last[4];
    q32 rests;

    if (g < 5) {
        rests = q32_load(b->qs);
#pragma GCC unroll 4
        for (int k = 0; k < g; k++)
            rests = triple(rests);
        return rests;
    }
    rests = q32_load2(b->qs + 32, b->qs + 32);
    if (g < 7)
        rests = q32_add(rests, q32_where(q32_load(upper),
                                         q32_add(rests, rests)));
#pragma GCC unroll 4
    for (int k = 0; k < 2 * (g - 5); k++)
        rests = triple(rests);
    if (g < 7)
        return rests;
    memcpy(&last[0], b->qh, sizeof(last[0]));
    last[1] = bytes_times(last[0], 3);
    last[2] = bytes_times(last[0], 9);
    last[3] = bytes_times(last[0], 27);
    /* Sixteen bytes: a load as wide as the stores need not wait for them. */
    return q32_or(q32_load2(upper, last),
                  q32_xor(rests, q32_where(q32_load(upper), rests)));
}

GB_INLINE q32
tq1_0_codes(const void *block, int g)
{
    return q32_thirds(tq1_0_rests(block, g));
}

#if Q_WIDE_BIAS == 128

/* S + 256 times the products of digits with the units at Y.  A digit and the
 * next rest are three times a rest, so those of rests say it: two instructions
 * where to find a digit takes five. */
GB_INLINE q64s
add_digits(q64s s, const q64 *rests, const int8_t *y)
{
    q64s sum = q64s_zero();
    q64s next = q64s_zero();

#pragma GCC unroll 5
    for (int i = 0; i < GB_TERNARY_DIGITS; i++) {
        const q64 unit = q64_load_once(y + 64 * i);

        sum = q64s_dot_wide(sum, rests[i], unit);
        next = q64s_dot_wide(next, rests[i + 1], unit);
    }
    sum = q64s_add(sum, q64s_add(sum, sum));
    return q64s_add(s, q64s_sub(sum, next));
}

/* The last four bytes have four digits: the fifth one meets zeros. */
GB_INLINE void
tq1_0_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const struct gb_block_tq1_0 *b = block;
    const struct gb_q8_ternary *y = group;
    const int8_t *codes = y->high;
    q64s s = q64s_load(y->correction);
    q64 rests[GB_TERNARY_DIGITS + 1];

    rests[0] = q64_load_fours(b->qs, 13);
#pragma GCC unroll 5
    for (int i = 0; i < GB_TERNARY_DIGITS; i++)
        rests[i + 1] = q64_add(rests[i], q64_add(rests[i], rests[i]));
    if (y->has_low != 0) {
        s = q64s_add_256(s, add_digits(q64s_zero(), rests, codes));
        codes = y->low;
    }
    gb_add_scaled(&sums->acc[0], add_digits(s, rests, codes), y->scale,
                  q64f_set1(q_half(&b->d) / 256.0f));
}

#define TQ1_0_ADD tq1_0_add
#else
#define TQ1_0_ADD NULL
#endif

static const struct gb_block_reader tq1_0 = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 54,
        .sub_block = 32,
        .bias = 1,
        .dot4s = 8,
        .gemv = GB_GEMV_TERNARY,
        .gemv_bias = 256,
    },
    .scales = tq1_0_scales,
    .codes = tq1_0_codes,
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
tq2_0_codes(const void *block, int g)
{
    const struct gb_block_tq2_0 *b = block;

    return q32_bits(q32_load(b->qs + 32 * (g / 4)), 2 * (g % 4), 3);
}

GB_INLINE void
tq2_0_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_tq2_0 *b = group;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs), 2 * i, 3);
}

GB_INLINE void
tq2_0_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const struct gb_block_tq2_0 *b = block;
    const struct gb_q8_super_block *y = group;
    const q64 codes = q64_load_once(b->qs);
    q64 u[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        u[i] = q64_bits(codes, 2 * i, 3);
    gb_add_scaled(&sums->acc[0],
                  gb_add_units(q64s_load(y->correction[0]), false, u, y), y->scale,
                  q64f_set1(q_half(&b->d)));
}

static const struct gb_block_reader tq2_0 = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 66,
        .sub_block = 32,
        .bias = 1,
        .dot4s = 8,
        .order = GB_ORDER_QUARTERS,
        .gemv = GB_GEMV_LANES_BIAS,
        .gemv_bias = 1,
    },
    .scales = tq2_0_scales,
    .codes = tq2_0_codes,
    .units = tq2_0_units,
    .add = tq2_0_add,
};

GB_FORMAT_KERNELS(tq2_0)
