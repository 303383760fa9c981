/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/attend.h - many queries that look at the same keys.
 */
#ifndef GB_CPU_ISA_ATTEND_H
#define GB_CPU_ISA_ATTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GB_ATTEND_QUERIES 64 /* at most */
#define GB_ATTEND_KEYS    64 /* at a time */

/* What a mask says about some keys. */
struct gb_attend_mask {
    float values[GB_ATTEND_KEYS];
    int64_t end;  /* no key from here on is seen */
    bool is_zero; /* all values are 0 */
};

/*
 * With s the product of a query's row and a key's, or cap * tanh of that, plus
 * slope * mask, the sums are those of 2^(s - max) * v, and the sum is that of
 * 2^(s - max).
 */
struct gb_attend {
    int64_t d;        /* elements of a row */
    int64_t n;        /* queries */
    int64_t per_mask; /* successive queries that share a mask */
    float cap;        /* 0 for none */
    float max[GB_ATTEND_QUERIES];
    float sum[GB_ATTEND_QUERIES];
    float slope[GB_ATTEND_QUERIES];
    /* The kernels' own; 64-byte aligned, with room for gb_attend_floats(d), as
     * many again, and twice as many floats as there are queries and keys. */
    float *queries;
    float *sums;
    float *scores;
    float *masks;
};

static inline size_t
gb_attend_floats(int64_t d)
{
    return GB_ATTEND_QUERIES * (((size_t)d + 15) / 16 * 16);
}

#endif
