/* SPDX-License-Identifier: MIT */
/*
 * cpu/isa/cut.h - the arithmetic of cutting work into tiles.
 */
#ifndef GB_CPU_ISA_CUT_H
#define GB_CPU_ISA_CUT_H

#include <stdint.h>

static inline int64_t
gb_cpu_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* How many parts of STEP > 0 cover N, the last one perhaps shorter. */
static inline int64_t
gb_cpu_parts(int64_t n, int64_t step)
{
    return (n + step - 1) / step;
}

#endif
