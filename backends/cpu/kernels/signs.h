/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/signs.h - signs of the IQ formats that store seven of eight.
 */
#ifndef GB_CPU_KERNELS_SIGNS_H
#define GB_CPU_KERNELS_SIGNS_H

#include "backends/cpu/kernels/panel.h"

/* Four bytes of seven signs each with the eighth: there is always an even
 * number of them. */
GB_INLINE uint32_t
gb_eighth_signs(uint32_t sevens)
{
    uint32_t odd = sevens ^ sevens >> 4;

    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return sevens | (odd & 0x01010101) << 7;
}

/* Signs of 32 values, bit set for negative, from the four times seven in the
 * low bits of W. */
GB_INLINE uint32_t
gb_four_signs(uint32_t w)
{
    return gb_eighth_signs((w & 0x7f) | (w << 1 & 0x7f00) |
                           (w << 2 & 0x7f0000) | (w << 3 & 0x7f000000));
}

#endif
