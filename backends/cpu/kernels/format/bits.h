/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/bits.h - the packed signs and scales of the IQ formats,
 * eight bytes at a time in a 64-bit integer (SWAR: SIMD within a register).
 *
 * IQ2_XXS, IQ2_XS and IQ3_XXS store seven of the eight signs of a codebook
 * entry; the eighth makes the number of negative values even.  A sign mask has
 * a bit for each value, set for negative.  Scales are odd multiples, 1 + 2 * s,
 * of a fraction of the block's d.
 */
#ifndef GB_CPU_KERNELS_FORMAT_BITS_H
#define GB_CPU_KERNELS_FORMAT_BITS_H

#include "backends/cpu/kernels/gemm/panel.h"
#include "lib/base/byte-order.h"

#include <string.h>

/* The sign masks of eight entries: in each byte, bit 7 becomes the parity of
 * the seven bits below. */
GB_INLINE uint64_t
gb_parity_signs(uint64_t signs)
{
    uint64_t odd = signs ^ signs >> 4;

    odd ^= odd >> 2;
    odd ^= odd >> 1;
    return signs | (odd & 0x0101010101010101) << 7;
}

/* The sign mask of 64 values from two words of 32 bits in W; each has seven
 * signs of four entries in its low 28 bits. */
GB_INLINE uint64_t
gb_parity_signs_64(uint64_t w)
{
    return gb_parity_signs(
        (w & 0x0000007f0000007f) | (w << 1 & 0x00007f0000007f00) |
        (w << 2 & 0x007f0000007f0000) | (w << 3 & 0x7f0000007f000000));
}

/* The low bytes of the four 16-bit words of W, whose high bytes are 0. */
GB_INLINE uint32_t
gb_low_bytes(uint64_t w)
{
    w = (w | w >> 8) & 0x0000ffff0000ffff;
    return (uint32_t)(w | w >> 16);
}

/* The eight nibbles of PACKED as bytes, from the lowest on. */
GB_INLINE uint64_t
gb_nibbles(uint32_t packed)
{
    uint64_t w = packed;

    w = (w | w << 16) & 0x0000ffff0000ffff;
    w = (w | w << 8) & 0x00ff00ff00ff00ff;
    return (w | w << 4) & 0x0f0f0f0f0f0f0f0f;
}

/* dst[i] = f * (1 + 2 * s) for the eight bytes s of S, which are below 128. */
GB_INLINE void
gb_odd_scales(float *dst, uint64_t s, float f)
{
    const uint64_t odd = gb_le64(s + s + 0x0101010101010101);

    q_floats_u8(dst, &odd, f);
}

/* Eight such scales of 32 values each: s is the top four bits of eight 32-bit
 * words, PITCH bytes apart, whose other bits are signs. */
GB_INLINE void
gb_sign_word_scales(float *dst, const void *words, size_t pitch, float f)
{
    uint64_t s = 0;

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        uint32_t w;

        memcpy(&w, (const char *)words + (size_t)i * pitch, sizeof(w));
        s |= (uint64_t)(gb_le32(w) >> 28) << 8 * i;
    }
    gb_odd_scales(dst, s, f);
}

#endif
