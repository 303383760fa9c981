/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/q8.h - activations as int8 codes, which all packings begin
 * with.
 *
 * The values of a sub-block share a scale and are
 *
 *     value = d * (high + low / 256)
 *
 * d is the largest magnitude's 127th part, so that high, the nearest integer,
 * is a code of eight bits; low is what is left of it, eight bits more.  It is
 * kept where a sub-block has an outlier (kernels/api/packing.h) that is not
 * left out.
 *
 * The rounding error of a value is at most d / 2 without a low part, and with
 * one about d / 512: low is rounded to the nearest, but held between -127 and
 * 127, so that a value half way between two high codes is off by d / 256.
 */
#ifndef GB_CPU_KERNELS_GEMM_Q8_H
#define GB_CPU_KERNELS_GEMM_Q8_H

#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/simd/q32.h"
#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"

#include <stdbool.h>
#include <string.h>

/* So many sub-blocks go together, so that what is done with some need not wait
 * for what is done with others; some operations are for four of them. */
#define GB_Q8_SUB_BLOCKS 32

/* Sub-blocks of 32 values. */
struct gb_q8_sub_blocks {
    int8_t high[GB_Q8_SUB_BLOCKS][GB_QK];
    int8_t low[GB_Q8_SUB_BLOCKS][GB_QK]; /* valid where has_low */
    float d[GB_Q8_SUB_BLOCKS];
    bool has_low[GB_Q8_SUB_BLOCKS];
};

/* Is the LARGEST magnitude of N values, whose sum is SUM, an outlier?  It is
 * when it is more than nine times as large as they are in the mean, as two of
 * 32 may be; one of them is ten times as large as the others' deviation
 * then. */
static inline bool
gb_is_outlier(float largest, float sum, int n)
{
    return largest * (float)n > 9.0f * sum;
}

/* The largest magnitude of each of N sub-blocks, and the sum of its magnitudes.
 * They go four at a time, so the last one is taken again where N is no multiple
 * of four: LARGEST and SUMS have room for that. */
GB_INLINE void
gb_q8_measure(int n, int length, const float *x, float *largest, float *sums)
{
    for (int i = 0; i < n; i += 4) {
        vf max[4];
        vf sum[4];

#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            const float *values = x + length * (i + j < n ? i + j : n - 1);

            max[j] = vf_zero();
            sum[j] = vf_zero();
#pragma GCC unroll 8
            for (int k = 0; k < length; k += VF_LEN) {
                const vf v = vf_abs(vf_load(values + k));

                max[j] = vf_max(max[j], v);
                sum[j] = vf_add(sum[j], v);
            }
        }
        vf_store_max4(largest + i, max);
        vf_store_sums4(sums + i, sum);
    }
}

/* The nearest integers to a sub-block's values times FACTOR. */
GB_INLINE void
gb_q8_high(int length, const float *x, float factor, int8_t *high)
{
    for (int i = 0; i < length; i += GB_QK)
        q32_store(high + i, q32_scaled(x + i, factor));
}

/* What rounding to the nearest integer left of a sub-block's values times
 * FACTOR, in 256ths, from -127 to 127. */
GB_INLINE void
gb_q8_low(int length, const float *x, float factor, int8_t *low)
{
    const vf limit = vf_set1(127.0f);

    for (int i = 0; i < length; i += GB_QK) {
        float rest[GB_QK];

        for (int j = 0; j < GB_QK; j += VF_LEN) {
            const vf code = vf_mul(vf_load(x + i + j), vf_set1(factor));
            const vf part =
                vf_mul(vf_sub(code, vf_round(code)), vf_set1(256.0f));

            vf_store(rest + j, vf_min(vf_max(part, vf_neg(limit)), limit));
        }
        q32_store(low + i, q32_scaled(rest, 1.0f));
    }
}

/* What a value is multiplied with to be a code: the LARGEST of its sub-block,
 * or 1e-30, gets the code 127.  *D is what a code is multiplied with. */
static inline float
gb_q8_factor(float largest, float *d)
{
    const float max = largest > 1e-30f ? largest : 1e-30f;

    *d = max * (1.0f / 127.0f);
    return 127.0f / max;
}

/* Do all sub-blocks get low codes, or all if one has an outlier? */
enum gb_q8_lows {
    GB_Q8_LOWS_IF_ANY,
    GB_Q8_LOWS_ALL,
};

/*
 * N sub-blocks, at most GB_Q8_SUB_BLOCKS, of LENGTH floats, a multiple of 32;
 * those from COUNT on of each are zeros.  *has_low says which have an outlier.
 */
GB_INLINE void
gb_q8_quantize(int n, int length, int count, enum gb_q8_lows lows,
               const float *x, int8_t *high, int8_t *low, float *d,
               bool *has_low)
{
    float largest[GB_Q8_SUB_BLOCKS];
    float sums[GB_Q8_SUB_BLOCKS];
    float factor[GB_Q8_SUB_BLOCKS];
    bool all = lows == GB_Q8_LOWS_ALL;

    gb_q8_measure(n, length, x, largest, sums);
    for (int i = 0; i < n; i++) {
        factor[i] = gb_q8_factor(largest[i], &d[i]);
        has_low[i] = gb_is_outlier(largest[i], sums[i], count);
        all |= has_low[i];
    }
    for (int i = 0; i < n; i++) {
        gb_q8_high(length, x + length * i, factor[i], high + length * i);
        if (all)
            gb_q8_low(length, x + length * i, factor[i], low + length * i);
    }
}

static inline float
gb_q8_k_d(const struct gb_block_q8_k *block)
{
    float d = block->d;

    gb_le_bytes(&d, sizeof(d), sizeof(d));
    return d;
}

/* The scale and the codes of the 32 values from value I of blocks on.  (The
 * sums of Q8_1 are the same to within the rounding of a half.) */
static inline float
gb_q8_codes(enum ggml_type type, const void *blocks, int64_t i,
            const int8_t **codes)
{
    const struct gb_block_q8_0 *q8_0 = blocks;
    const struct gb_block_q8_1 *q8_1 = blocks;
    const struct gb_block_q8_k *q8_k = blocks;

    /* Blocks of halves may lie where one with a float cannot. */
    switch ((int)type) {
    case GGML_TYPE_Q8_0:
        *codes = q8_0[i / GB_QK].qs;
        return q_half(&q8_0[i / GB_QK].d);
    case GGML_TYPE_Q8_1:
        *codes = q8_1[i / GB_QK].qs;
        return q_half(&q8_1[i / GB_QK].d);
    default:
        *codes = q8_k[i / GB_QK_K].qs + i % GB_QK_K;
        return gb_q8_k_d(&q8_k[i / GB_QK_K]);
    }
}

/* N sub-blocks of 32 values of TYPE, F32 or blocks, from value I of ROW on. */
GB_INLINE void
gb_q8_sub_blocks_of(int n, enum ggml_type type, const void *row, int64_t i,
                    struct gb_q8_sub_blocks *to)
{
    if (type == GGML_TYPE_F32) {
        gb_q8_quantize(n, GB_QK, GB_QK, GB_Q8_LOWS_IF_ANY,
                       (const float *)row + i, (int8_t *)to->high,
                       (int8_t *)to->low, to->d, to->has_low);
        return;
    }
    for (int j = 0; j < n; j++) {
        const int8_t *codes;

        to->d[j] = gb_q8_codes(type, row, i + j * GB_QK, &codes);
        memcpy(to->high[j], codes, GB_QK);
        to->has_low[j] = false;
    }
}

#endif
