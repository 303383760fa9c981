/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/long-sum.h - sums of long rows: blocked summation, in
 * double between blocks.
 *
 * VF_LEN lanes each add GB_LONG_SUM_VECTORS terms in F32, then the sum over the
 * lanes is added to a double.  A term passes through some ten additions in F32
 * whatever the length of the row, so that the error does not grow with it;
 * adding each term in double would take four times as long.  The order depends
 * on the row's length and on VF_LEN alone.
 *
 * Source  Higham, "The Accuracy of Floating Point Summation", SIAM Journal on
 * Scientific Computing 14 (1993).
 */
#ifndef GB_CPU_KERNELS_ELEMENTWISE_LONG_SUM_H
#define GB_CPU_KERNELS_ELEMENTWISE_LONG_SUM_H

#include "backends/cpu/simd/simd.h"

/* Vectors that are added in F32. */
#define GB_LONG_SUM_VECTORS 8

struct long_sum {
    vf block;   /* the sum in F32 */
    int filled; /* vectors in it so far */
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

/* Lanes from N on become 0, which adds nothing. */
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
