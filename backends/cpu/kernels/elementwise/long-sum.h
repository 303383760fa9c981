/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/long-sum.h - long sums of floats without their rounding.
 *
 * A few vectors are added in float, then their sum goes on in double.  A term
 * passes through some ten float additions whatever the length of the row, so
 * the error does not grow with it; adding each term in double would take four
 * times as long.  The order is fixed by the row's length alone.
 */
#ifndef GB_CPU_KERNELS_ELEMENTWISE_LONG_SUM_H
#define GB_CPU_KERNELS_ELEMENTWISE_LONG_SUM_H

#include "backends/cpu/simd/simd.h"

/* Vectors in one block. */
#define GB_LONG_SUM_VECTORS 8

struct long_sum {
    vf block;
    int filled; /* vectors added to block so far */
    double total;
};

static inline void
long_sum_init(struct long_sum *sum)
{
    sum->block = vf_zero();
    sum->filled = 0;
    sum->total = 0.0;
}

static inline void
long_sum_add(struct long_sum *sum, vf v)
{
    sum->block = vf_add(sum->block, v);
    if (++sum->filled == GB_LONG_SUM_VECTORS) {
        sum->total += vf_sum(sum->block);
        sum->block = vf_zero();
        sum->filled = 0;
    }
}

/* The first N elements of V only. */
static inline void
long_sum_add_n(struct long_sum *sum, vf v, int n)
{
    float elements[VF_LEN];

    vf_store(elements, v);
    long_sum_add(sum, vf_load_n(elements, n));
}

static inline double
long_sum_total(const struct long_sum *sum)
{
    return sum->total + vf_sum(sum->block);
}

#endif
