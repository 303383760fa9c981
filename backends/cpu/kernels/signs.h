/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/signs.h - signs of the IQ formats that store seven of eight.
 */
#ifndef GB_CPU_KERNELS_SIGNS_H
#define GB_CPU_KERNELS_SIGNS_H

#include "backends/cpu/kernels/panel.h"
#include "lib/type/grid.h"

/* Signs of 32 values, bit set for negative, from the four times seven in the
 * low bits of W. */
GB_INLINE uint32_t
gb_four_signs(uint32_t w)
{
    uint32_t signs = 0;

#pragma GCC unroll 4
    for (int l = 0; l < 4; l++)
        signs |= (uint32_t)gb_grid_signs(w >> 7 * l & 127) << 8 * l;
    return signs;
}

#endif
