/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/softmax.c - the steps of a softmax over one row.
 */
#include "backends/cpu/kernels/block-sum.h"
#include "backends/cpu/kernels/kernels.h"
#include "backends/cpu/kernels/map.h"
#include "backends/cpu/simd/math.h"
#include "backends/cpu/simd/simd.h"

#include <math.h>

float
GB_K(scale_mask_max_f32)(int64_t n, float *dst, const float *x,
                         const float *mask, float scale, float slope)
{
    const vf vscale = vf_set1(scale);
    const vf vslope = vf_set1(slope);
    vf top = vf_set1(-INFINITY);
    float max;
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN) {
        vf s = vf_mul(vf_load(x + i), vscale);

        if (mask != NULL)
            s = vf_fma(vslope, vf_load(mask + i), s);
        vf_store(dst + i, s);
        top = vf_max(top, s);
    }
    max = vf_hmax(top);
    if (i < n) {
        const int rest = (int)(n - i);
        vf s = vf_mul(vf_load_n(x + i, rest), vscale);

        if (mask != NULL)
            s = vf_fma(vslope, vf_load_n(mask + i, rest), s);
        vf_store_n(dst + i, s, rest);
    }
    for (; i < n; i++)
        if (dst[i] > max)
            max = dst[i];
    return max;
}

double
GB_K(exp_sum_f32)(int64_t n, float *dst, const float *x, float shift)
{
    const vf vshift = vf_set1(shift);
    struct block_sum sum;
    int64_t i = 0;

    block_sum_init(&sum);
    for (; i + VF_LEN <= n; i += VF_LEN) {
        const vf e = vf_exp(vf_sub(vf_load(x + i), vshift));

        vf_store(dst + i, e);
        block_sum_add(&sum, e);
    }
    if (i < n) {
        const int rest = (int)(n - i);
        const vf e = vf_exp(vf_sub(vf_load_n(x + i, rest), vshift));

        vf_store_n(dst + i, e, rest);
        block_sum_add_n(&sum, e, rest);
    }
    return block_sum_total(&sum);
}

GB_MAP vf
soft_max_back(vf dy, vf y, vf sum, vf scale)
{
    return vf_mul(vf_mul(scale, y), vf_sub(dy, sum));
}

void
GB_K(soft_max_back_f32)(int64_t n, float *dst, const float *dy, const float *y,
                        float sum, float scale)
{
    map_2_with(n, dst, dy, y, sum, scale, soft_max_back);
}
