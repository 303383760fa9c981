/* SPDX-License-Identifier: MIT */
/*
 * type/pack.h - small codes in shared bytes.
 */
#ifndef GB_TYPE_PACK_H
#define GB_TYPE_PACK_H

#include <stdint.h>

/* HALF bytes for 2 * HALF codes, of which the low four bits count: code j and
 * code j + HALF share byte j. */
static inline void
gb_pack_nibbles(int half, const uint8_t *codes, uint8_t *bytes)
{
    for (int j = 0; j < half; j++)
        bytes[j] = (uint8_t)((codes[j] & 15) | (codes[j + half] & 15) << 4);
}

static inline void
gb_unpack_nibbles(int half, const uint8_t *bytes, uint8_t *codes)
{
    for (int j = 0; j < half; j++) {
        codes[j] = bytes[j] & 15;
        codes[j + half] = bytes[j] >> 4;
    }
}

/* 64 bytes for 256 codes, of which the low two bits count: codes j, j + 32,
 * j + 64 and j + 96 of each 128 share a byte. */
static inline void
gb_pack_pairs(const uint8_t *codes, uint8_t *bytes)
{
    for (int j = 0; j < 64; j++) {
        const uint8_t *c = codes + 128 * (j / 32) + j % 32;

        bytes[j] = (uint8_t)((c[0] & 3) | (c[32] & 3) << 2 | (c[64] & 3) << 4 |
                             (c[96] & 3) << 6);
    }
}

static inline void
gb_unpack_pairs(const uint8_t *bytes, uint8_t *codes)
{
    for (int e = 0; e < 256; e++)
        codes[e] = bytes[32 * (e / 128) + e % 32] >> 2 * (e % 128 / 32) & 3;
}

#endif
