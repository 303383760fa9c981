/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/quantize-blocks.c - rows of floats as blocks of 32 codes, which
 * caches of keys and values have.
 *
 * The bits are those that lib/type/ makes, so each step rounds as its step
 * does.  Four blocks go together, since what is found over the lanes of one
 * vector would be waited for.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"
#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define BLOCKS 4 /* at a time */

/* Of BLOCKS blocks. */
struct extremes {
    float max[BLOCKS];
    float min[BLOCKS];
};

/* Of N blocks from X on, 0 being one of the values of each, or not; of the
 * places behind anything. */
GB_INLINE void
find_extremes(int64_t n, const float *x, bool with_zero, struct extremes *out)
{
    vf high[BLOCKS];
    vf low[BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < BLOCKS; i++) {
        const float *block = x + (i < n ? i * GB_QK : 0);

        high[i] = with_zero ? vf_zero() : vf_set1(block[0]);
        low[i] = high[i];
#pragma GCC unroll 8
        for (int j = 0; j < GB_QK; j += VF_LEN) {
            high[i] = vf_max(vf_load(block + j), high[i]);
            low[i] = vf_min(vf_load(block + j), low[i]);
        }
        low[i] = vf_neg(low[i]);
    }
    vf_store_max4(out->max, high);
    vf_store_max4(out->min, low);
    for (int i = 0; i < BLOCKS; i++)
        out->min[i] = -out->min[i];
}

/* The first value of a block that is A or B, and one of them is there. */
static float
first_of(const float *x, float a, float b)
{
    while (*x != a && *x != b)
        x++;
    return *x;
}

/* The value of largest magnitude, of equals the first; MAX is 0 at least and
 * MIN at most. */
GB_INLINE float
largest_of(const float *x, float max, float min)
{
    if (max == -min && max != 0.0f)
        return first_of(x, max, min);
    return max > -min ? max : min;
}

GB_INLINE float
inverse_of(float d)
{
    return d != 0.0f ? 1.0f / d : 0.0f;
}

/* How codes come from values: (x - min) * inverse + shift, between 0 and TOP,
 * without a fraction. */
struct coding {
    float min;
    float inverse;
    float shift;
    int top;
};

GB_INLINE void
codes_of(const struct coding *c, const float *x, uint8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        vf v = vf_sub(vf_load(x + j), vf_set1(c->min));

        v = vf_add(vf_mul(v, vf_set1(c->inverse)), vf_set1(c->shift));
        v = vf_min(vf_max(v, vf_zero()), vf_set1((float)c->top));
        vf_store_i8((int8_t *)codes + j, vf_floor(v));
    }
}

/* The low four bits of codes j and j + 16 share a byte. */
GB_INLINE void
pack_nibbles(const uint8_t *codes, uint8_t *qs)
{
    const uint64_t mask = 0x0f0f0f0f0f0f0f0f;
    uint64_t w[4];

    memcpy(w, codes, sizeof(w));
    w[0] = (w[0] & mask) | (w[2] & mask) << 4;
    w[1] = (w[1] & mask) | (w[3] & mask) << 4;
    memcpy(qs, w, GB_QK / 2);
}

/* And the fifth bits a word: the product brings bit 8 * i to 56 + i. */
GB_INLINE void
pack_fifths(const uint8_t *codes, uint8_t *qh)
{
#pragma GCC unroll 4
    for (int i = 0; i < GB_QK / 8; i++) {
        uint64_t w;

        memcpy(&w, codes + 8 * i, sizeof(w));
        w = w >> 4 & 0x0101010101010101;
        qh[i] = (uint8_t)(w * 0x0102040810204080 >> 56);
    }
}

/* Codes of TOP + x / d; gives d, which makes the largest value code 0. */
GB_INLINE float
code_by_scale(const float *x, float max, float min, int top, uint8_t *codes)
{
    const float d = largest_of(x, max, min) / (float)-top;
    const struct coding coding = {
        .min = 0.0f,
        .inverse = inverse_of(d),
        .shift = (float)top + 0.5f,
        .top = 2 * top - 1,
    };

    codes_of(&coding, x, codes);
    return d;
}

/* Codes of (x - *MIN) / d; gives d, which makes MAX the code TOP.  Zeros have
 * signs, which nobody needs but the block's bits. */
GB_INLINE float
code_by_range(const float *x, float max, float *min, int top, uint8_t *codes)
{
    const float d = (max - *min) / (float)top;
    const struct coding coding = {
        .min = *min,
        .inverse = inverse_of(d),
        .shift = 0.5f,
        .top = top,
    };

    if (*min == 0.0f)
        *min = first_of(x, 0.0f, 0.0f);
    codes_of(&coding, x, codes);
    return d;
}

void
GB_K(quantize_row_q4_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_0 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct extremes e;

        find_extremes(left, x, true, &e);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++) {
            uint8_t codes[GB_QK];

            block->d = q_to_half(
                code_by_scale(x, e.max[i], e.min[i], 8, codes));
            pack_nibbles(codes, block->qs);
        }
    }
}

void
GB_K(quantize_row_q5_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_0 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct extremes e;

        find_extremes(left, x, true, &e);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++) {
            uint8_t codes[GB_QK];

            block->d = q_to_half(
                code_by_scale(x, e.max[i], e.min[i], 16, codes));
            pack_nibbles(codes, block->qs);
            pack_fifths(codes, block->qh);
        }
    }
}

void
GB_K(quantize_row_q4_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q4_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct extremes e;

        find_extremes(left, x, false, &e);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++) {
            uint8_t codes[GB_QK];

            block->d = q_to_half(
                code_by_range(x, e.max[i], &e.min[i], 15, codes));
            block->m = q_to_half(e.min[i]);
            pack_nibbles(codes, block->qs);
        }
    }
}

void
GB_K(quantize_row_q5_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q5_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct extremes e;

        find_extremes(left, x, false, &e);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++) {
            uint8_t codes[GB_QK];

            block->d = q_to_half(
                code_by_range(x, e.max[i], &e.min[i], 31, codes));
            block->m = q_to_half(e.min[i]);
            pack_nibbles(codes, block->qs);
            pack_fifths(codes, block->qh);
        }
    }
}

/* To the nearest integer from -127 to 127, ties away from zero: what is added
 * is the largest float below a half. */
GB_INLINE vf
round_away(vf v)
{
    const vf limit = vf_set1(127.0f);

    v = vf_min(vf_max(v, vf_neg(limit)), limit);
    return vf_copysign(
        vf_floor(vf_add(vf_abs(v), vf_set1(0x1.fffffep-2f))), v);
}

/* Codes of one block whose largest magnitude is LARGEST; gives the scale. */
GB_INLINE float
code_bytes(const float *x, float largest, int8_t *codes)
{
    const float d = largest / 127.0f;
    const vf inverse = vf_set1(inverse_of(d));

#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN)
        vf_store_i8(codes + j,
                    round_away(vf_mul(vf_load(x + j), inverse)));
    return d;
}

/* The largest magnitudes of N blocks, as find_extremes. */
GB_INLINE void
find_magnitudes(int64_t n, const float *x, float *out)
{
    vf top[BLOCKS];

#pragma GCC unroll 4
    for (int i = 0; i < BLOCKS; i++) {
        const float *block = x + (i < n ? i * GB_QK : 0);

        top[i] = vf_zero();
#pragma GCC unroll 8
        for (int j = 0; j < GB_QK; j += VF_LEN)
            top[i] = vf_max(vf_abs(vf_load(block + j)), top[i]);
    }
    vf_store_max4(out, top);
}

void
GB_K(quantize_row_q8_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_0 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        float largest[BLOCKS];

        find_magnitudes(left, x, largest);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++)
            block->d = q_to_half(code_bytes(x, largest[i], block->qs));
    }
}

GB_INLINE int
sum_of_codes(const int8_t *q)
{
    int32_t s[8];
    int sum = 0;

    qs_store(s, qs_dot(qs_first(0), q32_set1(1), q32_load(q)));
    for (int i = 0; i < 8; i++)
        sum += s[i];
    return sum;
}

void
GB_K(quantize_row_q8_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        float largest[BLOCKS];

        find_magnitudes(left, x, largest);
        for (int i = 0; i < BLOCKS && i < left; i++, x += GB_QK, block++) {
            const float d = code_bytes(x, largest[i], block->qs);

            block->d = q_to_half(d);
            block->s = q_to_half(d * (float)sum_of_codes(block->qs));
        }
    }
}

/* The numbers of those of the sixteen values that are nearest to x * INVERSE,
 * of two the upper one; 0 for a NaN.  Twice the middle between two values is
 * whole, so nothing is rounded. */
GB_INLINE void
nearest_values(const float *x, float inverse, uint8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf v = vf_mul(vf_load(x + j), vf_set1(inverse));
        const vf twice = vf_add(v, v);
        vf code = vf_zero();

#pragma GCC unroll 15
        for (int k = 0; k < 15; k++) {
            const vf middle = vf_set1(
                (float)(gb_iq4_values[k] + gb_iq4_values[k + 1]));

            code = vf_select(vf_le(middle, twice), vf_set1((float)(k + 1)),
                             code);
        }
        vf_store_i8((int8_t *)codes + j, code);
    }
}

/* The terms of a scale's least squares, weighted with x^2: of w v x and w v^2
 * for the values V that CODES name. */
GB_INLINE void
fit_terms(const float *x, const uint8_t *codes, float *xq, float *qq)
{
    int8_t values[GB_QK];

    q32_store(values, q32_lookup(gb_iq4_values, q32_load(codes)));
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf a = vf_load(x + j);
        const vf v = vf_from_i8(values + j);
        const vf wv = vf_mul(vf_mul(a, a), v);

        vf_store(xq + j, vf_mul(wv, a));
        vf_store(qq + j, vf_mul(wv, v));
    }
}

/* The sum of each row, one term after the other. */
GB_INLINE void
sums_in_order(float rows[VF_LEN][GB_QK], float *sums)
{
    vf s = vf_zero();

    for (int j = 0; j < GB_QK; j += VF_LEN) {
        float turned[VF_LEN * VF_LEN];

        vq_transpose(turned, &rows[0][j], sizeof(rows[0]));
        for (int i = 0; i < VF_LEN; i++)
            s = vf_add(s, vf_load(turned + i * VF_LEN));
    }
    vf_store(sums, s);
}

/* Up to VF_LEN blocks. */
static void
quantize_iq4_nl(int n, const float *x, struct gb_block_iq4_nl *block)
{
    float xq[VF_LEN][GB_QK] = { { 0.0f } };
    float qq[VF_LEN][GB_QK] = { { 0.0f } };
    float sum_xq[VF_LEN];
    float sum_qq[VF_LEN];
    struct extremes e;

    for (int i = 0; i < n; i++) {
        const float *values = x + i * GB_QK;
        uint8_t codes[GB_QK];
        float largest;

        if (i % BLOCKS == 0)
            find_extremes(n - i, values, true, &e);
        largest = largest_of(values, e.max[i % BLOCKS], e.min[i % BLOCKS]);
        if (fabsf(largest) < GB_SEARCH_TINY) {
            memset(block[i].qs, 0, sizeof(block[i].qs));
            continue;
        }
        nearest_values(values,
                       inverse_of(largest / (float)gb_iq4_values[0]), codes);
        fit_terms(values, codes, xq[i], qq[i]);
        pack_nibbles(codes, block[i].qs);
    }
    sums_in_order(xq, sum_xq);
    sums_in_order(qq, sum_qq);
    for (int i = 0; i < n; i++)
        block[i].d = q_to_half(
            gb_fit_scale((struct gb_fit){ sum_xq[i], sum_qq[i] }));
}

void
GB_K(quantize_row_iq4_nl)(const float *x, void *y, int64_t n)
{
    struct gb_block_iq4_nl *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= VF_LEN) {
        quantize_iq4_nl(left < VF_LEN ? (int)left : VF_LEN, x, block);
        x += VF_LEN * GB_QK;
        block += VF_LEN;
    }
}
