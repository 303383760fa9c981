/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q8k.c - rounding to Q8_K: 256 codes of eight bits with one
 * scale, and the sums of each sixteen.
 *
 * value = d * code; of the values the one that is furthest from 0 gets the code
 * -127, so that d has the opposite of its sign.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/q8.h"
#include "lib/base/byte-order.h"

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
        gb_q8_high(GB_QK_K, x + i, factor, block->qs);
        block->d = factor != 0.0f ? 1.0f / factor : 0.0f;
        gb_le_bytes(&block->d, sizeof(block->d), sizeof(block->d));
        for (int j = 0; j < GB_QK_K / 32; j++) {
            int first;
            int last;

            sums_of_16(block->qs + 32 * j, &first, &last);
            block->bsums[2 * j] = (int16_t)gb_le16((uint16_t)first);
            block->bsums[2 * j + 1] = (int16_t)gb_le16((uint16_t)last);
        }
    }
}
