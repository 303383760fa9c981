/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/block-sum.h - long sums of floats without their rounding.
 *
 * A few vectors are added in float, then their sum goes on in double.  A term
 * passes through some ten float additions whatever the length of the row, so
 * the error does not grow with it; adding each term in double would take four
 * times as long.  The order is fixed by the row's length alone.
 */
#ifndef GB_CPU_KERNELS_BLOCK_SUM_H
#define GB_CPU_KERNELS_BLOCK_SUM_H

#include "backends/cpu/simd/simd.h"

/* Vectors in one block. */
#define GB_BLOCK_VECTORS 8

struct block_sum {
    vf block;
    int filled; /* vectors added to block so far */
    double total;
};

static inline void
block_sum_init(struct block_sum *sum)
{
    sum->block = vf_zero();
    sum->filled = 0;
    sum->total = 0.0;
}

static inline void
block_sum_add(struct block_sum *sum, vf v)
{
    sum->block = vf_add(sum->block, v);
    if (++sum->filled == GB_BLOCK_VECTORS) {
        sum->total += vf_sum(sum->block);
        sum->block = vf_zero();
        sum->filled = 0;
    }
}

/* The first N elements of V only. */
static inline void
block_sum_add_n(struct block_sum *sum, vf v, int n)
{
    float elements[VF_LEN];

    vf_store(elements, v);
    block_sum_add(sum, vf_load_n(elements, n));
}

static inline double
block_sum_total(const struct block_sum *sum)
{
    return sum->total + vf_sum(sum->block);
}

#endif
