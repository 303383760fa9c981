/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/divide.h - the arithmetic of cutting work into tiles.
 */
#ifndef GB_CPU_KERNELS_API_DIVIDE_H
#define GB_CPU_KERNELS_API_DIVIDE_H

#include <stdint.h>

static inline int64_t
gb_cpu_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many parts of STEP > 0 cover N, the last one perhaps shorter. */
static inline int64_t
gb_cpu_ceil_div(int64_t n, int64_t step)
{
    return (n + step - 1) / step;
}

/* WHOLE * STEP + REST. */
struct gb_cpu_div {
    int64_t whole;
    int64_t rest;
};

/* N >= 0 in steps of STEP > 0; where it is less than one, which it is in what
 * there is most of, without a division. */
static inline struct gb_cpu_div
gb_cpu_div(int64_t n, int64_t step)
{
    struct gb_cpu_div split = { 0, n };

    if (n >= step) {
        split.whole = n / step;
        split.rest = n % step;
    }
    return split;
}

/* How often BY > 0, of which N is a multiple, goes into it; likewise. */
static inline int64_t
gb_cpu_exact_div(int64_t n, int64_t by)
{
    return n == by ? 1 : n / by;
}

#endif
