/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/quantize.c - rows of activations in the Q8 formats.
 */
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/panel.h"
#include "lib/type/blocks.h"

/* The largest and the smallest of N values, a multiple of VF_LEN. */
GB_INLINE void
extremes(int n, const float *x, float *max, float *min)
{
    vf highest = vf_load(x);
    vf lowest = highest;

    for (int i = VF_LEN; i < n; i += VF_LEN) {
        highest = vf_max(highest, vf_load(x + i));
        lowest = vf_min(lowest, vf_load(x + i));
    }
    *max = vf_hmax(highest);
    *min = -vf_hmax(vf_neg(lowest));
}

/* q = x * factor to the nearest integer, for N values. */
GB_INLINE void
scaled_codes(int n, const float *x, float factor, int8_t *q)
{
    for (int i = 0; i < n; i += VF_LEN)
        vf_store_i8(q + i, vf_mul(vf_load(x + i), vf_set1(factor)));
}

/* The largest magnitude of 32 values. */
GB_INLINE float
magnitude(const float *x)
{
    float max;
    float min;

    extremes(GB_QK, x, &max, &min);
    return max > -min ? max : -min;
}

/* The codes of 32 values; gives the scale. */
GB_INLINE float
quantize_32(const float *x, int8_t *q)
{
    const float d = magnitude(x) / 127.0f;

    scaled_codes(GB_QK, x, d != 0.0f ? 1.0f / d : 0.0f, q);
    return d;
}

/* The sums of the first and the last sixteen of 32 codes. */
GB_INLINE void
sums_of_16(const int8_t *q, int *first, int *last)
{
    int32_t s[8];

    qs_store(s, qs_dot(qs_first(0), q32_set1(1), q32_load(q)));
    *first = s[0] + s[1] + s[2] + s[3];
    *last = s[4] + s[5] + s[6] + s[7];
}

void
GB_K(quantize_row_q8_0)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_0 *block = y;

    for (int64_t i = 0; i < n; i += GB_QK, block++)
        block->d = q_to_half(quantize_32(x + i, block->qs));
}

void
GB_K(quantize_row_q8_1)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_1 *block = y;

    for (int64_t i = 0; i < n; i += GB_QK, block++) {
        const float d = quantize_32(x + i, block->qs);
        int first;
        int last;

        sums_of_16(block->qs, &first, &last);
        block->d = q_to_half(d);
        block->s = q_to_half(d * (float)(first + last));
    }
}

/* Of MAX and MIN the one that is further from 0; of equals, which comes
 * first. */
static float
furthest(int n, const float *x, float max, float min)
{
    if (max != -min)
        return max > -min ? max : min;
    for (int i = 0; i < n; i++)
        if (x[i] == max || x[i] == min)
            return x[i];
    return max;
}

void
GB_K(quantize_row_q8_K)(const float *x, void *y, int64_t n)
{
    struct gb_block_q8_k *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++) {
        float max;
        float min;
        float factor;

        extremes(GB_QK_K, x + i, &max, &min);
        factor = furthest(GB_QK_K, x + i, max, min);
        factor = factor != 0.0f ? -127.0f / factor : 0.0f;
        scaled_codes(GB_QK_K, x + i, factor, block->qs);
        block->d = factor != 0.0f ? 1.0f / factor : 0.0f;
        for (int j = 0; j < GB_QK_K / 32; j++) {
            int first;
            int last;

            sums_of_16(block->qs + 32 * j, &first, &last);
            block->bsums[2 * j] = (int16_t)first;
            block->bsums[2 * j + 1] = (int16_t)last;
        }
    }
}

/* Where the next record of a column goes, and what records are like. */
struct writer {
    const struct gb_layout *layout;
    char *next;
    float *scale; /* where its entries in the lists go */
    float *sum;
};

/* Two records of 16 or one of 32 codes that share the scale D. */
GB_INLINE void
put_codes(struct writer *w, const int8_t *high, const int8_t *low, float d,
          bool has_low)
{
    const int piece = w->layout->piece;
    const int offset = w->layout->offset;
    int of_high[2];
    int of_low[2] = { 0, 0 };

    sums_of_16(high, &of_high[0], &of_high[1]);
    if (has_low)
        sums_of_16(low, &of_low[0], &of_low[1]);
    if (piece == 32) {
        struct gb_record32 *r = (void *)w->next;
        const int sum_high = of_high[0] + of_high[1];
        const int sum_low = of_low[0] + of_low[1];

        memcpy(r->high, high, 32);
        memcpy(r->low, low, 32);
        r->d_high = d * 256.0f;
        r->d = d;
        r->sum = d * (float)(256 * sum_high + sum_low);
        r->first_high = -offset * sum_high;
        r->first_low = -offset * sum_low;
        r->has_low = has_low;
        *w->scale++ = has_low ? r->d : r->d_high;
        *w->sum++ = r->sum;
        w->next += sizeof(*r);
        return;
    }
    for (int i = 0; i < 2; i++) {
        struct gb_record16 *r = (void *)w->next;

        memcpy(r->high, high + 16 * i, 16);
        memcpy(r->low, low + 16 * i, 16);
        r->d_high = d * 256.0f;
        r->d = d;
        r->sum = d * (float)(256 * of_high[i] + of_low[i]);
        r->first_high = -offset * of_high[i];
        r->first_low = -offset * of_low[i];
        r->has_low = has_low;
        *w->scale++ = has_low ? r->d : r->d_high;
        *w->sum++ = r->sum;
        w->next += sizeof(*r);
    }
}

static const int8_t no_low[GB_QK];

static void
put_q8_0(struct writer *w, int64_t n, const struct gb_block_q8_0 *block)
{
    for (int64_t i = 0; i < n; i += GB_QK, block++)
        put_codes(w, block->qs, no_low, q_half(&block->d) / 256.0f, false);
}

/* The format's sum is the same to within the rounding of a half. */
static void
put_q8_1(struct writer *w, int64_t n, const struct gb_block_q8_1 *block)
{
    for (int64_t i = 0; i < n; i += GB_QK, block++)
        put_codes(w, block->qs, no_low, q_half(&block->d) / 256.0f, false);
}

static void
put_q8_k(struct writer *w, int64_t n, const struct gb_block_q8_k *block)
{
    for (int64_t i = 0; i < n; i += GB_QK_K, block++)
        for (int j = 0; j < GB_QK_K; j += GB_QK)
            put_codes(w, block->qs + j, no_low, block->d / 256.0f, false);
}

static void
put_blocks(struct writer *w, int64_t n, const void *blocks)
{
    switch ((int)w->layout->activation) {
    case GGML_TYPE_Q8_0:
        put_q8_0(w, n, blocks);
        break;
    case GGML_TYPE_Q8_1:
        put_q8_1(w, n, blocks);
        break;
    case GGML_TYPE_Q8_K:
        put_q8_k(w, n, blocks);
        break;
    }
}

/* Is the LARGEST of 32 values more than five times as large as they are in the
 * mean?  (With one value that is not 0 it is 5.7 times as large.) */
GB_INLINE bool
stands_out(const float *x, float largest)
{
    vf squares = vf_zero();

    for (int i = 0; i < GB_QK; i += VF_LEN)
        squares = vf_fma(vf_load(x + i), vf_load(x + i), squares);
    return largest * largest > 25.0f / GB_QK * vf_sum(squares);
}

/* The largest value gets the code 127 * 256; what is left behind the high half
 * is the low one, or nothing where no value stands out. */
static void
put_floats(struct writer *w, int64_t n, const float *x)
{
    const vf limit = vf_set1(127.0f);

    for (int64_t i = 0; i < n; i += GB_QK) {
        const float largest = magnitude(x + i);
        const float d = largest / (127.0f * 256.0f);
        const float factor =
            largest > 0.0f ? 127.0f * 256.0f / largest : 0.0f;
        const bool has_low = stands_out(x + i, largest);
        int8_t high[GB_QK];
        int8_t low[GB_QK];

        scaled_codes(GB_QK, x + i, factor / 256.0f, high);
        for (int j = 0; has_low && j < GB_QK; j += VF_LEN) {
            const vf code = vf_mul(vf_load(x + i + j), vf_set1(factor));
            const vf upper = vf_round(vf_mul(code, vf_set1(1.0f / 256.0f)));
            const vf rest = vf_fnma(upper, vf_set1(256.0f), code);

            vf_store_i8(low + j, vf_min(vf_max(rest, vf_neg(limit)), limit));
        }
        put_codes(w, high, has_low ? low : no_low, d, has_low);
    }
}

static void
column_of_floats(int64_t n, const void *row, enum ggml_type type, float *column)
{
    if (type == GGML_TYPE_F16)
        GB_K(f16_to_f32)(n, column, row);
    else if (type == GGML_TYPE_BF16)
        GB_K(bf16_to_f32)(n, column, row);
    else
        memcpy(column, row, (size_t)n * sizeof(*column));
}

static void
column_of_records(const struct gb_layout *layout, int64_t n, const void *row,
                  enum ggml_type type, void *column)
{
    const size_t records = (size_t)(n / layout->piece);
    const size_t list = gb_column_list(layout, n);
    struct writer w = { .layout = layout, .next = column };

    w.scale = (float *)(void *)((char *)column + gb_column_offset(layout, n));
    w.sum = w.scale + list;
    for (size_t i = records; i < list; i++) {
        w.scale[i] = 0.0f;
        w.sum[i] = 0.0f;
    }
    if (type == GGML_TYPE_F32)
        put_floats(&w, n, row);
    else
        put_blocks(&w, n, row);
}

void
GB_K(column)(const struct gb_layout *layout, int64_t n, const void *row,
             enum ggml_type type, void *column)
{
    if (layout->piece == 0)
        column_of_floats(n, row, type, column);
    else
        column_of_records(layout, n, row, type, column);
}
