/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/reduce.c - reductions of a row to one number: sums
 * and maxima.
 *
 * Sums are those of long-sum.h: F32 within a block of vectors, double between
 * them.
 */
#include "backends/cpu/kernels/elementwise/long-sum.h"
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/elementwise/map.h"
#include "backends/cpu/simd/simd.h"

#include <math.h>

/* The sum of f(x, y, p) over a row. */
GB_MAP double
sum_of(int64_t n, const float *x, const float *y, float p,
       vf (*f)(vf x, vf y, vf p))
{
    const vf vp = vf_set1(p);
    struct long_sum sum;
    int64_t i = 0;

    long_sum_init(&sum);
    for (; i + VF_LEN <= n; i += VF_LEN)
        long_sum_add(&sum, f(vf_load(x + i), vf_load(y + i), vp));
    if (i < n) {
        const int rest = (int)(n - i);

        long_sum_add_n(
            &sum, f(vf_load_n(x + i, rest), vf_load_n(y + i, rest), vp), rest);
    }
    return long_sum_total(&sum);
}

GB_MAP vf
itself(vf x, vf y, vf p)
{
    (void)y;
    (void)p;
    return x;
}

GB_MAP vf
product(vf x, vf y, vf p)
{
    (void)p;
    return vf_mul(x, y);
}

GB_MAP vf
sq_dev(vf x, vf y, vf mean)
{
    const vf d = vf_sub(x, mean);

    (void)y;
    return vf_mul(d, d);
}

/* Nothing where the weight is 0, so that 0 times infinity stays out. */
GB_MAP vf
weighted(vf weight, vf x, vf shift)
{
    const vf term = vf_mul(weight, vf_sub(x, shift));

    return vf_select(vf_eq(weight, vf_zero()), vf_zero(), term);
}

double
GB_K(sum_f32)(int64_t n, const float *x)
{
    return sum_of(n, x, x, 0.0f, itself);
}

double
GB_K(sum_sq_f32)(int64_t n, const float *x)
{
    return sum_of(n, x, x, 0.0f, product);
}

double
GB_K(sum_sq_dev_f32)(int64_t n, const float *x, float mean)
{
    return sum_of(n, x, x, mean, sq_dev);
}

double
GB_K(sum_prod_f32)(int64_t n, const float *x, const float *y)
{
    return sum_of(n, x, y, 0.0f, product);
}

double
GB_K(sum_weighted_f32)(int64_t n, const float *weight, const float *x,
                       float shift)
{
    return sum_of(n, weight, x, shift, weighted);
}

/* A comparison with NaN is false, so that a NaN is passed over wherever it
 * stands. */
float
GB_K(max_f32)(int64_t n, const float *x)
{
    vf top = vf_set1(-INFINITY);
    float max;
    int64_t i = 0;

    for (; i + VF_LEN <= n; i += VF_LEN) {
        const vf v = vf_load(x + i);

        top = vf_select(vf_gt(v, top), v, top);
    }
    max = vf_hmax(top);
    for (; i < n; i++)
        if (x[i] > max)
            max = x[i];
    return max;
}
