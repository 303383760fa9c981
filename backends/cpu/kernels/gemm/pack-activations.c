/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pack-activations.c - activations as Q8_K blocks, and packed for
 * the GEMM: activation panels (kernels/api/packing.h).
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
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
    for (int i = 0; i < n; i += GB_QK)
        q32_store(q + i, q32_scaled(x + i, factor));
}

/* The sums of the first and the last sixteen of 32 codes. */
GB_INLINE void
sums_of_16(const int8_t *q, int *first, int *last)
{
    int32_t s[8];

    qs_store(s, qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(q)));
    *first = s[0] + s[1] + s[2] + s[3];
    *last = s[4] + s[5] + s[6] + s[7];
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

/* So many times 32 activations go together, so that what is done with some need
 * not wait for what is done with others; some operations are for four of them. */
#define BATCH 32

struct batch {
    int n;
    int8_t high[BATCH][GB_QK];
    int8_t low[BATCH][GB_QK]; /* valid where has_low */
    float d[BATCH];           /* values are d * (high + low / 256) */
    bool has_low[BATCH];
};

/* Where the next parts of a column go, and what they are like. */
struct writer {
    const struct gb_format *format;
    char *block_at;
    struct gb_outlier_mask *masks;
    char *low;
    int n_low; /* so far */
};

_Static_assert(BATCH * GB_QK % GB_MASK_VALUES == 0,
               "batches begin and end with their masks");

/* The sums of the first and the last sixteen of four sub-blocks' codes. */
GB_INLINE void
sums_of_codes(const int8_t codes[4][GB_QK], int32_t *sums)
{
    qs s[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s[i] = qs_dot(qs_set_lane0(0), q32_set1(1), q32_load(codes[i]));
    qs_store_sums4(sums, s);
}

/* A panel's block of SUB_BLOCK codes, whose sum is given. */
GB_INLINE void
put_panel_block(char *block_at, const struct gb_format *format, int sub_block,
           const int8_t *codes, float d, int32_t sum)
{
    const struct gb_panel_block_end end = {
        .d = d,
        .sum = d * (float)sum,
        .correction = -format->bias * sum,
    };

    memcpy(block_at, codes, (size_t)sub_block);
    memcpy(block_at + sub_block, &end, sizeof(end));
}

/* Its low part, which changes the sum. */
GB_INLINE void
put_low(char *block_at, char *low, const struct gb_format *format, int sub_block,
        const int8_t *codes)
{
    const int8_t *high = (const int8_t *)block_at;
    struct gb_panel_block_end end;
    struct gb_low_block_end low_end;
    int sum_high = 0;
    int sum = 0;

    for (int i = 0; i < sub_block; i++) {
        sum_high += high[i];
        sum += codes[i];
    }
    memcpy(&end, block_at + sub_block, sizeof(end));
    end.sum = end.d * ((float)sum_high + (float)sum * (1.0f / 256.0f));
    memcpy(block_at + sub_block, &end, sizeof(end));
    low_end.correction = -format->bias * sum;
    memcpy(low, codes, (size_t)sub_block);
    memcpy(low + sub_block, &low_end, sizeof(low_end));
}

/* One block for each 32 values, or two of 16. */
GB_INLINE void
put_panel_blocks(struct writer *w, int sub_block, const struct batch *batch)
{
    const struct gb_format *const format = w->format;
    const size_t bytes = (size_t)sub_block + sizeof(struct gb_panel_block_end);
    const int n_blocks = GB_QK / sub_block;
    char *block_at = w->block_at;

    for (int i = 0; i < batch->n; i += 4) {
        int32_t sums[8];

        sums_of_codes(batch->high + i, sums);
        for (int j = 0; j < 4 && i + j < batch->n; j++) {
            const int8_t *codes = batch->high[i + j];
            const float d = batch->d[i + j];

            if (n_blocks == 1) {
                put_panel_block(block_at, format, sub_block, codes, d,
                           sums[j] + sums[4 + j]);
            } else {
                put_panel_block(block_at, format, sub_block, codes, d, sums[j]);
                put_panel_block(block_at + bytes, format, sub_block, codes + sub_block, d,
                           sums[4 + j]);
            }
            block_at += (size_t)n_blocks * bytes;
        }
    }
    for (int i = 0; i < batch->n * n_blocks; i++) {
        const int bit = i % (GB_MASK_VALUES / sub_block);

        if (bit == 0)
            *w->masks++ = (struct gb_outlier_mask){ .before = w->n_low };
        if (batch->has_low[i / n_blocks]) {
            w->masks[-1].blocks |= 1u << bit;
            put_low(w->block_at + (size_t)i * bytes, w->low, format, sub_block,
                    batch->low[i / n_blocks] + i % n_blocks * sub_block);
            w->low += (size_t)sub_block + sizeof(struct gb_low_block_end);
            w->n_low++;
        }
    }
    w->block_at = block_at;
}

static void
put_batch(struct writer *w, const struct batch *batch)
{
    if (w->format->sub_block == GB_QK)
        put_panel_blocks(w, GB_QK, batch);
    else
        put_panel_blocks(w, GB_QK / 2, batch);
}

/* The scale and the codes of the 32 values from value I of blocks on.
 * (The sums of q8_1 are the same to within the rounding of a half.) */
static float
codes_of_blocks(enum ggml_type type, const void *blocks, int64_t i,
                const int8_t **codes)
{
    const struct gb_block_q8_0 *q8_0 = blocks;
    const struct gb_block_q8_1 *q8_1 = blocks;
    const struct gb_block_q8_k *q8_k = blocks;

    switch ((int)type) {
    case GGML_TYPE_Q8_0:
        *codes = q8_0[i / GB_QK].qs;
        return q_half(&q8_0[i / GB_QK].d);
    case GGML_TYPE_Q8_1:
        *codes = q8_1[i / GB_QK].qs;
        return q_half(&q8_1[i / GB_QK].d);
    default:
        *codes = q8_k[i / GB_QK_K].qs + i % GB_QK_K;
        return q8_k[i / GB_QK_K].d;
    }
}

static void
put_blocks(struct writer *w, int64_t n, const void *blocks)
{
    struct batch batch = { .n = 0 };

    for (int64_t i = 0; i < n; i += GB_QK) {
        const int8_t *codes;
        const float d =
            codes_of_blocks(w->format->activation, blocks, i, &codes);

        memcpy(batch.high[batch.n], codes, GB_QK);
        batch.d[batch.n++] = d;
        if (batch.n == BATCH || i + GB_QK == n) {
            put_batch(w, &batch);
            batch.n = 0;
        }
    }
}

/* The largest magnitudes of N times 32 values, and the sums of all.  What is
 * behind the last of them is taken to be like it. */
GB_INLINE void
measure(int n, const float *x, float *largest, float *sums)
{
    for (int i = 0; i < n; i += 4) {
        vf max[4];
        vf sum[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *sub_block = x + GB_QK * (i + j < n ? i + j : n - 1);

            max[j] = vf_zero();
            sum[j] = vf_zero();
#pragma GCC unroll 8
            for (int k = 0; k < GB_QK; k += VF_LEN) {
                const vf v = vf_abs(vf_load(sub_block + k));

                max[j] = vf_max(max[j], v);
                sum[j] = vf_add(sum[j], v);
            }
        }
        vf_store_max4(largest + i, max);
        vf_store_sums4(sums + i, sum);
    }
}

/* What is left of 32 values times FACTOR, in parts of 256, behind the upper
 * halves of codes. */
static void
low_codes(const float *x, float factor, int8_t *q)
{
    const vf limit = vf_set1(127.0f);
    float codes[GB_QK];

    for (int j = 0; j < GB_QK; j += VF_LEN) {
        const vf code = vf_mul(vf_load(x + j), vf_set1(factor));
        const vf rest =
            vf_mul(vf_sub(code, vf_round(code)), vf_set1(256.0f));

        vf_store(codes + j, vf_min(vf_max(rest, vf_neg(limit)), limit));
    }
    scaled_codes(GB_QK, codes, 1.0f, q);
}

/* The largest of 32 values, or 1e-30, gets the code 127.  Low parts are for those
 * with an outlier. */
static void
put_floats(struct writer *w, int64_t n, const float *x)
{
    struct batch batch;

    for (int64_t i = 0; i < n; i += BATCH * GB_QK) {
        const int64_t left = (n - i) / GB_QK;
        float largest[BATCH];
        float sums[BATCH];
        float factor[BATCH];

        batch.n = left < BATCH ? (int)left : BATCH;
        measure(batch.n, x + i, largest, sums);
        for (int j = 0; j < batch.n; j++) {
            const float max = largest[j] > 1e-30f ? largest[j] : 1e-30f;

            factor[j] = 127.0f / max;
            batch.d[j] = max * (1.0f / 127.0f);
            batch.has_low[j] = gb_is_outlier(largest[j], sums[j], GB_QK);
        }
        for (int j = 0; j < batch.n; j++) {
            const float *sub_block = x + i + j * GB_QK;

            scaled_codes(GB_QK, sub_block, factor[j], batch.high[j]);
            if (batch.has_low[j])
                low_codes(sub_block, factor[j], batch.low[j]);
        }
        put_batch(w, &batch);
    }
}

static void
column_of_floats(int64_t n, const void *row, enum ggml_type type, float *column)
{
    if (type == GGML_TYPE_F16)
        GB_K_OF(FLOATS, f16_to_f32)(n, column, row);
    else if (type == GGML_TYPE_BF16)
        GB_K_OF(FLOATS, bf16_to_f32)(n, column, row);
    else
        memcpy(column, row, (size_t)n * sizeof(*column));
}

static void
panel_of_row(const struct gb_format *format, int64_t n, const void *row,
                  enum ggml_type type, char *column)
{
    struct writer w = {
        .format = format,
        .block_at = column,
        .masks = (void *)(column + gb_panel_masks_at(format, n)),
        .low = column + gb_panel_lows_at(format, n),
    };

    if (type == GGML_TYPE_F32)
        put_floats(&w, n, row);
    else
        put_blocks(&w, n, row);
}

void
GB_K(pack_panel)(const struct gb_format *format, int64_t n, const void *row,
             enum ggml_type type, void *column)
{
    if (format->sub_block == 0)
        column_of_floats(n, row, type, column);
    else
        panel_of_row(format, n, row, type, column);
}
