/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/quantize.c - rows of floats quantised to blocks of 32
 * values, as KV caches need: GGML/GGUF Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q8_1 and
 * IQ4_NL.
 *
 * For each block, with M its value of largest magnitude:
 *
 *     Q4_0, Q5_0   d = M / -8 or / -16;   code = min(x / d + 8 or 16, 15 or 31)
 *     Q4_1, Q5_1   m = min, d = (max - min) / 15 or / 31;   code = (x - m) / d
 *     Q8_0, Q8_1   d = |M| / 127;         code = x / d, ties away from zero
 *     IQ4_NL       d0 = M / -127; code of the table's value nearest to x / d0;
 *                  d by least squares with the weights x^2 (lib/type/search.h)
 *
 * q4.c, q5.c, q8.c and iq4.c say how blocks are packed; Q8_1 is Q8_0 with s, d
 * times the sum of the codes, behind d.
 *
 * The bits are those that lib/type/ makes, so each operation rounds as its
 * does.  They are ggml's too, but that its vectors for x86-64 round ties of
 * Q8_0 and Q8_1 to even numbers: of whole eighths one block in 30 differs, by
 * at most 2 % of its error.
 *
 * Sixteen blocks are a batch and go through each pass together, so that the
 * latency of horizontal maxima and of two divisions a block is hidden by the
 * others.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"
#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define BLOCKS 16 /* in a batch: a multiple of VF_LEN and of four */

_Static_assert(BLOCKS % VF_LEN == 0, "blocks fill vectors");

/* What is found out about each block of a batch. */
struct batch {
    int n;
    float max[BLOCKS];
    float min[BLOCKS];
    float inverse[BLOCKS]; /* of the scale, 0 for none */
    uint16_t d[BLOCKS];    /* the scale as blocks have it */
    uint16_t m[BLOCKS];    /* the min, where the format has one */
};

/* Blocks of the next batch when so many are LEFT. */
GB_INLINE int
blocks_of(int64_t left)
{
    return left < BLOCKS ? (int)left : BLOCKS;
}

/* The largest and least value of each block, and of 0 if WITH_ZERO. */
GB_INLINE void
find_extremes(struct batch *b, const float *x, bool with_zero)
{
    for (int i = 0; i < b->n; i += 4) {
        vf high[4];
        vf low[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *block = x + (i + j < b->n ? i + j : i) * GB_QK;

            high[j] = with_zero ? vf_zero() : vf_set1(block[0]);
            low[j] = high[j];
#pragma GCC unroll 8
            for (int k = 0; k < GB_QK; k += VF_LEN) {
                high[j] = vf_max(vf_load(block + k), high[j]);
                low[j] = vf_min(vf_load(block + k), low[j]);
            }
            low[j] = vf_neg(low[j]);
        }
        vf_store_max4(b->max + i, high);
        vf_store_max4(b->min + i, low);
    }
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        vf_store(b->min + i, vf_neg(vf_load(b->min + i)));
}

/* The largest magnitude of each block, as max. */
GB_INLINE void
find_magnitudes(struct batch *b, const float *x)
{
    for (int i = 0; i < b->n; i += 4) {
        vf top[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *block = x + (i + j < b->n ? i + j : i) * GB_QK;

            top[j] = vf_zero();
#pragma GCC unroll 8
            for (int k = 0; k < GB_QK; k += VF_LEN)
                top[j] = vf_max(vf_abs(vf_load(block + k)), top[j]);
        }
        vf_store_max4(b->max + i, top);
    }
}

/* The first value from X on that is A or B; there is one. */
static float
first_of(const float *x, float a, float b)
{
    while (*x != a && *x != b)
        x++;
    return *x;
}

/* The value of largest magnitude of each block, of equals the first, as max. */
GB_INLINE void
find_largest(struct batch *b, const float *x)
{
    find_extremes(b, x, true);
    for (int i = 0; i < BLOCKS; i += VF_LEN) {
        const vf max = vf_load(b->max + i);
        const vf min = vf_load(b->min + i);
        const vf low = vf_neg(min);
        const vm is_tie = vm_and(vf_eq(max, low), vf_gt(max, vf_zero()));

        vf_store(b->max + i, vf_select(vf_gt(max, low), max, min));
        if (!vm_any(is_tie))
            continue;
        for (int j = i; j < i + VF_LEN && j < b->n; j++)
            if (b->max[j] < 0.0f)
                b->max[j] = first_of(x + j * GB_QK, b->max[j], -b->max[j]);
    }
}

/* Scales V / PARTS of the blocks from I on. */
GB_INLINE void
set_scales(struct batch *b, int i, vf v, float parts)
{
    const vf d = vf_div(v, vf_set1(parts));
    const vf inverse = vf_div(vf_set1(1.0f), d);

    vf_store_f16(b->d + i, d);
    gb_le_bytes(b->d + i, sizeof(*b->d), VF_LEN * sizeof(*b->d));
    vf_store(b->inverse + i,
             vf_select(vf_eq(d, vf_zero()), vf_zero(), inverse));
}

GB_INLINE void
set_scales_by_max(struct batch *b, float parts)
{
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        set_scales(b, i, vf_load(b->max + i), parts);
}

/* Codes (x - min) * inverse + bias, from 0 to TOP, truncated. */
GB_INLINE void
code_block(const float *x, float min, float inverse, float bias, int top,
           uint8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        vf v = vf_sub(vf_load(x + j), vf_set1(min));

        v = vf_add(vf_mul(v, vf_set1(inverse)), vf_set1(bias));
        v = vf_min(vf_max(v, vf_zero()), vf_set1((float)top));
        vf_store_i8_trunc((int8_t *)codes + j, v);
    }
}

/* The low four bits of codes j and j + 16 share a byte.  Loads are within one
 * of the stores that wrote the codes, so that the store is forwarded. */
GB_INLINE void
pack_nibbles(const uint8_t *codes, uint8_t *qs)
{
    const uint64_t mask = 0x0f0f0f0f0f0f0f0f;

#pragma GCC unroll 2
    for (int i = 0; i < GB_QK / 2; i += 8) {
        uint64_t low;
        uint64_t high;

        memcpy(&low, codes + i, sizeof(low));
        memcpy(&high, codes + GB_QK / 2 + i, sizeof(high));
        low = (low & mask) | (high & mask) << 4;
        memcpy(qs + i, &low, sizeof(low));
    }
}

/* The fifth bits of the codes, a word: the product takes bit 8 * i to bit 56 +
 * i. */
GB_INLINE void
pack_fifths(const uint8_t *codes, uint8_t *qh)
{
#pragma GCC unroll 4
    for (int i = 0; i < GB_QK / 8; i++) {
        uint64_t w;

        memcpy(&w, codes + 8 * i, sizeof(w));
        w = gb_le64(w) >> 4 & 0x0101010101010101;
        qh[i] = (uint8_t)(w * 0x0102040810204080 >> 56);
    }
}

/* Codes with the bias TOP: the value of largest magnitude gets the code 0. */
GB_INLINE void
code_by_scale(struct batch *b, const float *x, int top,
              uint8_t codes[BLOCKS][GB_QK])
{
    find_largest(b, x);
    set_scales_by_max(b, (float)-top);
    for (int i = 0; i < b->n; i++)
        code_block(x + i * GB_QK, 0.0f, b->inverse[i], (float)top + 0.5f,
                   2 * top - 1, codes[i]);
}

/* Codes from 0, for the least value, to TOP, for the largest. */
GB_INLINE void
code_by_range(struct batch *b, const float *x, int top,
              uint8_t codes[BLOCKS][GB_QK])
{
    find_extremes(b, x, false);
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        set_scales(b, i, vf_sub(vf_load(b->max + i), vf_load(b->min + i)),
                   (float)top);
    for (int i = 0; i < b->n; i++) {
        code_block(x + i * GB_QK, b->min[i], b->inverse[i], 0.5f, top,
                   codes[i]);
        /* Of -0 and 0 the first counts, so that the block's bits are the
         * same. */
        if (b->min[i] == 0.0f)
            b->min[i] = first_of(x + i * GB_QK, 0.0f, 0.0f);
    }
    for (int i = 0; i < BLOCKS; i += VF_LEN)
        vf_store_f16(b->m + i, vf_load(b->min + i));
    gb_le_bytes(b->m, sizeof(*b->m), sizeof(b->m));
}

/* A format of four or five bits.  Blocks have d, then m if has_min; then the
 * fifth bits if there are 32 codes; then nibbles. */
struct nibble_format {
    int codes; /* 16 or 32 */
    bool has_min;
    size_t bytes; /* of a block */
};

GB_INLINE void
quantize_row(const struct nibble_format *format, const float *x, uint8_t *y,
             int64_t n)
{
    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct batch b = { .n = blocks_of(left) };
        uint8_t codes[BLOCKS][GB_QK];

        if (format->has_min)
            code_by_range(&b, x, format->codes - 1, codes);
        else
            code_by_scale(&b, x, format->codes / 2, codes);
        for (int i = 0; i < b.n; i++, y += format->bytes) {
            memcpy(y, &b.d[i], sizeof(b.d[i]));
            if (format->has_min)
                memcpy(y + sizeof(b.d[i]), &b.m[i], sizeof(b.m[i]));
            pack_nibbles(codes[i], y + format->bytes - GB_QK / 2);
            if (format->codes == 32)
                pack_fifths(codes[i],
                            y + format->bytes - GB_QK / 2 - GB_QK / 8);
        }
        x += b.n * GB_QK;
    }
}

#define QUANTIZE_ROW(name, n_codes, with_min)                          \
    void GB_K(quantize_row_##name)(const float *x, void *y, int64_t n) \
    {                                                                  \
        static const struct nibble_format format = {                   \
            .codes = n_codes,                                          \
            .has_min = with_min,                                       \
            .bytes = sizeof(struct gb_block_##name),                   \
        };                                                             \
                                                                       \
        quantize_row(&format, x, y, n);                                \
    }

QUANTIZE_ROW(q4_0, 16, false)
QUANTIZE_ROW(q4_1, 16, true)
QUANTIZE_ROW(q5_0, 32, false)
QUANTIZE_ROW(q5_1, 32, true)

/* V plus almost a half, away from zero, which truncated is the nearest integer
 * from -127 to 127, ties away from zero.  What is added is the largest float
 * below a half. */
GB_INLINE vf
round_away(vf v)
{
    const vf limit = vf_set1(127.0f);

    v = vf_min(vf_max(v, vf_neg(limit)), limit);
    return vf_add(v, vf_copysign(vf_set1(0x1.fffffep-2f), v));
}

GB_INLINE void
code_bytes(const float *x, float inverse, int8_t *codes)
{
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN)
        vf_store_i8_trunc(codes + j,
                        round_away(vf_mul(vf_load(x + j), vf_set1(inverse))));
}

/* The scales of the next batch when so many blocks are LEFT, or none. */
GB_INLINE void
scale_bytes(struct batch *b, const float *x, int64_t left)
{
    b->n = blocks_of(left);
    if (b->n <= 0)
        return;
    find_magnitudes(b, x);
    set_scales_by_max(b, 127.0f);
}

/* The next batch's scales are computed before this one's codes are written, so
 * that the two overlap. */
void
GB_K(quantize_row_q8_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_0 *block = y;
    struct batch batches[2] = { { .n = 0 } };
    struct batch *b = &batches[0];
    struct batch *next = &batches[1];

    scale_bytes(b, x, n / GB_QK);
    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct batch *const done = b;

        scale_bytes(next, x + b->n * GB_QK, left - BLOCKS);
        for (int i = 0; i < b->n; i++, block++) {
            block->d = b->d[i];
            code_bytes(x + i * GB_QK, b->inverse[i], block->qs);
        }
        x += b->n * GB_QK;
        b = next;
        next = done;
    }
}

GB_INLINE int
sum_of_codes(const int8_t *q)
{
    int32_t s[8];
    int sum = 0;

    qs_store(s, qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(q)));
    for (int i = 0; i < 8; i++)
        sum += s[i];
    return sum;
}

void
GB_K(quantize_row_q8_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_1 *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct batch b = { .n = blocks_of(left) };

        find_magnitudes(&b, x);
        set_scales_by_max(&b, 127.0f);
        for (int i = 0; i < b.n; i++, block++) {
            const float d = b.max[i] / 127.0f;

            block->d = b.d[i];
            code_bytes(x + i * GB_QK, b.inverse[i], block->qs);
            block->s = q_to_half(d * (float)sum_of_codes(block->qs));
        }
        x += b.n * GB_QK;
    }
}

/* Codes of the table's sixteen values that are nearest to x * INVERSE, of two
 * the upper one; 0 for a NaN.  Twice the middle between two values is an
 * integer, so nothing is rounded. */
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

/* The terms of the least-squares scale, sum(w v x) / sum(w v^2) with w = x^2
 * and V the table's values of CODES. */
GB_INLINE void
fit_terms(const float *x, const uint8_t *codes, float *xq, float *qq)
{
    int8_t values[GB_QK];

    q32_store(values, q32_lookup(gb_iq4_values, q32_load2(codes, codes + 16)));
#pragma GCC unroll 8
    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf a = vf_load(x + j);
        const vf v = vf_from_i8(values + j);
        const vf wv = vf_mul(vf_mul(a, a), v);

        vf_store(xq + j, vf_mul(wv, a));
        vf_store(qq + j, vf_mul(wv, v));
    }
}

/* The sum of each row, one term after the other, as lib/type/ adds them. */
GB_INLINE void
sums_in_order(const float rows[BLOCKS][GB_QK], float *sums)
{
    for (int i = 0; i < BLOCKS; i += VF_LEN) {
        vf s = vf_zero();

        for (int j = 0; j < GB_QK; j += VF_LEN) {
            float transposed[VF_LEN * VF_LEN];

            vq_transpose(transposed, &rows[i][j], sizeof(rows[0]));
            for (int k = 0; k < VF_LEN; k++)
                s = vf_add(s, vf_load(transposed + k * VF_LEN));
        }
        vf_store(sums + i, s);
    }
}

/* A block whose values are all tiny gets the codes 0 and the scale 0. */
GB_INLINE void
code_by_values(struct batch *b, const float *x, struct gb_block_iq4_nl *block)
{
    float xq[BLOCKS][GB_QK] = { { 0.0f } };
    float qq[BLOCKS][GB_QK] = { { 0.0f } };
    float sum_xq[BLOCKS];
    float sum_qq[BLOCKS];

    for (int i = 0; i < b->n; i++) {
        uint8_t codes[GB_QK] = { 0 };

        if (fabsf(b->max[i]) >= GB_SEARCH_TINY) {
            nearest_values(x + i * GB_QK, b->inverse[i], codes);
            fit_terms(x + i * GB_QK, codes, xq[i], qq[i]);
        }
        pack_nibbles(codes, block[i].qs);
    }
    sums_in_order(xq, sum_xq);
    sums_in_order(qq, sum_qq);
    for (int i = 0; i < b->n; i++)
        block[i].d = q_to_half(
            gb_fit_scale((struct gb_fit){ sum_xq[i], sum_qq[i] }));
}

void
GB_K(quantize_row_iq4_nl)(const float *x, void *y, int64_t n)
{
    struct gb_block_iq4_nl *block = y;

    for (int64_t left = n / GB_QK; left > 0; left -= BLOCKS) {
        struct batch b = { .n = blocks_of(left) };

        find_largest(&b, x);
        set_scales_by_max(&b, (float)gb_iq4_values[0]);
        code_by_values(&b, x, block);
        x += b.n * GB_QK;
        block += b.n;
    }
}
