/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/bits.h - the packed signs, nibbles and small numbers of the IQ
 * formats, many at a time in a word of the machine.
 */
#ifndef GB_CPU_KERNELS_FORMAT_BITS_H
#define GB_CPU_KERNELS_FORMAT_BITS_H

#include "backends/cpu/kernels/gemm/panel.h"

/* Eight bytes of seven signs each with the eighth: there is always an even
 * number of them. */
GB_INLINE uint64_t
gb_eighth_signs(uint64_t sevens)
{
    uint64_t odd = sevens ^ sevens >> 4;

    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return sevens | (odd & 0x0101010101010101) << 7;
}

/* Signs of 64 values, bit set for negative, from the four times seven in the
 * low bits of each half of W. */
GB_INLINE uint64_t
gb_eight_signs(uint64_t w)
{
    return gb_eighth_signs((w & 0x0000007f0000007f) |
                           (w << 1 & 0x00007f0000007f00) |
                           (w << 2 & 0x007f0000007f0000) |
                           (w << 3 & 0x7f0000007f000000));
}

/* The low bytes of four words of 16 bits, whose high bytes are 0. */
GB_INLINE uint32_t
gb_low_bytes(uint64_t w)
{
    w = (w | w >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(w | w >> 16);
}

/* Eight nibbles as bytes, the low one of each byte first. */
GB_INLINE uint64_t
gb_nibbles(uint32_t packed)
{
    uint64_t w = packed;

    w = (w | w << 16) & 0x0000ffff0000ffff;
    w = (w | w << 8) & 0x00ff00ff00ff00ff;
    return (w | w << 4) & 0x0f0f0f0f0f0f0f0f;
}

/* DST[i] = F * (1 + 2 * s) for eight bytes s below 128. */
GB_INLINE void
gb_odd_scales(float *dst, uint64_t s, float f)
{
    const uint64_t odd = s + s + 0x0101010101010101;

    q_floats_u8(dst, &odd, f);
}

#endif
