/* SPDX-License-Identifier: MIT */
/*
 * type/k-scales.h - packing and unpacking six-bit scales.
 */
#ifndef GB_TYPE_K_SCALES_H
#define GB_TYPE_K_SCALES_H

#include <stdint.h>
#include <string.h>

/*
 * q4_K and q5_K: eight scales and eight mins in 12 bytes.  The first four
 * scales are the low six bits of bytes 0 to 3, the first mins those of 4 to 7.
 * Of the others the low four bits share bytes 8 to 11, and the two above them
 * fill the tops of bytes 0 to 7.
 */
static inline void
gb_k_pack_scales(const uint8_t *scales, const uint8_t *mins, uint8_t *bytes)
{
    for (int b = 0; b < 4; b++) {
        bytes[b] = (uint8_t)(scales[b] | scales[b + 4] >> 4 << 6);
        bytes[b + 4] = (uint8_t)(mins[b] | mins[b + 4] >> 4 << 6);
        bytes[b + 8] = (uint8_t)((scales[b + 4] & 15) | mins[b + 4] << 4);
    }
}

static inline void
gb_k_unpack_scales(const uint8_t *bytes, uint8_t *scales, uint8_t *mins)
{
    for (int b = 0; b < 4; b++) {
        scales[b] = bytes[b] & 63;
        mins[b] = bytes[b + 4] & 63;
        scales[b + 4] = (uint8_t)((bytes[b + 8] & 15) | bytes[b] >> 6 << 4);
        mins[b + 4] = (uint8_t)(bytes[b + 8] >> 4 | bytes[b + 4] >> 6 << 4);
    }
}

/*
 * q3_K: sixteen scales in 12 bytes: the low four bits of scales b and b + 8
 * share byte b, the two above them of b, b + 4, b + 8, b + 12 share byte 8 + b.
 */
static inline void
gb_q3_k_pack_scales(const uint8_t *scales, uint8_t *bytes)
{
    memset(bytes, 0, 12);
    for (int b = 0; b < 16; b++) {
        bytes[b % 8] |= (uint8_t)((scales[b] & 15) << 4 * (b / 8));
        bytes[8 + b % 4] |= (uint8_t)(scales[b] >> 4 << 2 * (b / 4));
    }
}

static inline void
gb_q3_k_unpack_scales(const uint8_t *bytes, uint8_t *scales)
{
    for (int b = 0; b < 16; b++)
        scales[b] = (uint8_t)((bytes[b % 8] >> 4 * (b / 8) & 15) |
                              (bytes[8 + b % 4] >> 2 * (b / 4) & 3) << 4);
}

#endif
