/* SPDX-License-Identifier: MIT */
/*
 * base/byte-order.h - numbers that are little-endian on every machine.
 *
 * Those in GGUF files are, and those in the blocks of quantised types, in
 * memory too (doc/architecture.md).  Each function swaps the bytes of such a
 * number where the machine is big-endian, and so is its own inverse.  On
 * little-endian machines nothing happens and no code is made.
 */
#ifndef GB_BASE_BYTE_ORDER_H
#define GB_BASE_BYTE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__

#define GB_IS_BIG_ENDIAN 1

static inline uint16_t
gb_le16(uint16_t x)
{
    return (uint16_t)(x >> 8 | x << 8);
}

static inline uint32_t
gb_le32(uint32_t x)
{
    return (uint32_t)gb_le16((uint16_t)x) << 16 | gb_le16((uint16_t)(x >> 16));
}

static inline uint64_t
gb_le64(uint64_t x)
{
    return (uint64_t)gb_le32((uint32_t)x) << 32 | gb_le32((uint32_t)(x >> 32));
}

/* The same for SIZE bytes of numbers, each of WIDTH bytes, where they are. */
static inline void
gb_le_bytes(void *numbers, size_t width, size_t size)
{
    unsigned char *bytes = numbers;

    for (size_t at = 0; at < size; at += width) {
        for (size_t i = 0; i < width / 2; i++) {
            const unsigned char low = bytes[at + i];

            bytes[at + i] = bytes[at + width - 1 - i];
            bytes[at + width - 1 - i] = low;
        }
    }
}

#else

/* Macros, so that a compiler makes of kernels what it would without them. */
#define GB_IS_BIG_ENDIAN 0
#define gb_le16(x)       (x)
#define gb_le32(x)       (x)
#define gb_le64(x)       (x)
#define gb_le_bytes(numbers, width, size) \
    ((void)(numbers), (void)(width), (void)(size))

#endif

#endif
