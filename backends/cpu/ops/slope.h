/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/slope.h - how much a mask counts for a head (ALiBi).
 *
 * Attention with linear biases has no other position embedding: a mask holds
 * minus the distance from query to key, and each head multiplies it with a
 * slope of its own, from steep (looks at neighbours only) to nearly flat.
 */
#ifndef GB_CPU_OPS_SLOPE_H
#define GB_CPU_OPS_SLOPE_H

#include <math.h>
#include <stdint.h>

/*
 * The slope of head HEAD of N_HEADS with the largest slope MAX_BIAS, 1 where
 * that is 0: with P the largest power of two up to n_heads
 *     2^(-max_bias / P * (head + 1))                for the first P heads,
 *     2^(-max_bias / (2 * P) * (2 * (head - P) + 1))  for the others.
 * The first P slopes are a geometric sequence; heads beyond a power of two get
 * every other slope of the sequence for 2 * P heads, which lie between those.
 *
 * Source  "Train Short, Test Long" (arXiv 2108.12409), section 3.
 */
static inline float
gb_cpu_slope(float max_bias, int64_t n_heads, int64_t head)
{
    int64_t power = 1;

    if (max_bias <= 0.0f)
        return 1.0f;
    while (2 * power <= n_heads)
        power *= 2;
    if (head < power)
        return exp2f(-max_bias / (float)power * (float)(head + 1));
    return exp2f(-max_bias / (float)(2 * power) *
                 (float)(2 * (head - power) + 1));
}

#endif
