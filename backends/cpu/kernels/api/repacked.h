/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/repacked.h - how repacked weights lie in memory: sixteen rows
 * side by side, so that a lane of a vector can be a row.
 *
 * A group is sixteen rows, as many bytes as they had before.  It has pairs of
 * blocks of 32 values one behind the other, of all rows; a row of an odd number
 * of blocks ends with N = 1 instead of 2:
 *
 *     | d of 16 rows (m of 16 rows) | ... N times |
 *     | 4 bytes of row 0 | ... of row 15 | ... N * code bytes / 4 times |
 *
 * Pairs, since the half floats of two blocks are whole cache lines, so that
 * codes are too; and no more, since memory is then read in order.  A vector of
 * 64 bytes has four bytes of codes of each row, which are in the order of the
 * block.  Any width of vectors takes it: one of VF_LEN lanes has rows LANE to
 * LANE + VF_LEN - 1, and begins 4 * LANE bytes further.
 */
#ifndef GB_CPU_KERNELS_API_REPACKED_H
#define GB_CPU_KERNELS_API_REPACKED_H

#include "backends/cpu/kernels/api/format.h"

#include "lib/base/byte-order.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GB_REPACKED_ROWS   16
#define GB_REPACKED_BLOCKS 2 /* side by side */
#define GB_REPACKED_VALUES 32 /* of a block */

/* Block I of a group whose rows have BLOCKS of them: how it lies. */
struct gb_repacked_block {
    size_t halves; /* where row 0 has its first half float */
    size_t codes;  /* and its first four bytes of codes */
    int n_halves;
    size_t code_bytes;
};

static inline struct gb_repacked_block
gb_repacked_block(const struct gb_format *format, int64_t blocks, int64_t i)
{
    const int64_t first = i / GB_REPACKED_BLOCKS * GB_REPACKED_BLOCKS;
    const int64_t together = blocks - first < GB_REPACKED_BLOCKS
                                 ? blocks - first
                                 : GB_REPACKED_BLOCKS;
    const int n_halves = format->has_min ? 2 : 1;
    const size_t halves = sizeof(uint16_t) * (size_t)n_halves;
    const size_t codes = format->bytes - halves;
    const size_t at = (size_t)first * format->bytes;

    return (struct gb_repacked_block){
        .halves = GB_REPACKED_ROWS * (at + (size_t)(i - first) * halves),
        .codes = GB_REPACKED_ROWS * (at + (size_t)together * halves +
                                     (size_t)(i - first) * codes),
        .n_halves = n_halves,
        .code_bytes = codes,
    };
}

/* Half floats are those of this machine, for vectors; in a block of a file they
 * are little-endian. */
static inline void
gb_repacked_half(char *to, const char *from)
{
    uint16_t half;

    memcpy(&half, from, sizeof(half));
    half = gb_le16(half);
    memcpy(to, &half, sizeof(half));
}

/* BLOCK of row R, as in a file, from or to its place in GROUP. */
static inline void
gb_repacked_get(const struct gb_repacked_block *b, const char *group, int r,
                char *block)
{
    const char *half = group + b->halves + sizeof(uint16_t) * (size_t)r;
    const char *codes = group + b->codes + 4 * (size_t)r;

    for (int i = 0; i < b->n_halves; i++) {
        gb_repacked_half(block, half);
        half += sizeof(uint16_t) * GB_REPACKED_ROWS;
        block += sizeof(uint16_t);
    }
    for (size_t at = 0; at < b->code_bytes; at += 4)
        memcpy(block + at, codes + GB_REPACKED_ROWS * at, 4);
}

static inline void
gb_repacked_put(const struct gb_repacked_block *b, const char *block, int r,
                char *group)
{
    char *half = group + b->halves + sizeof(uint16_t) * (size_t)r;
    char *codes = group + b->codes + 4 * (size_t)r;

    for (int i = 0; i < b->n_halves; i++) {
        gb_repacked_half(half, block);
        half += sizeof(uint16_t) * GB_REPACKED_ROWS;
        block += sizeof(uint16_t);
    }
    for (size_t at = 0; at < b->code_bytes; at += 4)
        memcpy(codes + GB_REPACKED_ROWS * at, block + at, 4);
}

#endif
