/* SPDX-License-Identifier: MIT */
/*
 * cpu/repack/repack.c - weights with sixteen rows side by side, and back.
 *
 * A block begins with one or two half floats, its d and m; codes follow.  Both
 * are moved and not looked at, so that what comes back is what was set, byte
 * for byte.  Kernels read half floats of many rows as an array, hence in the
 * machine's order.
 */
#include "config.h"

#include "backends/cpu/repack/repack.h"

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/kernels/api/repacked.h"

#include "lib/base/byte-order.h"

#include <string.h>

const char gb_cpu_repack_mark = 0;

bool
gb_cpu_can_repack(const struct ggml_tensor *t)
{
    return gb_cpu_kernels()->repacked(t->type) != NULL && t->ne[0] > 0 &&
           t->ne[0] % GB_REPACKED_VALUES == 0 && t->ne[1] > 0 &&
           t->ne[1] % GB_REPACKED_ROWS == 0 && t->ne[2] > 0 && t->ne[3] > 0 &&
           ggml_is_contiguous(t);
}

size_t
gb_cpu_repack_group_bytes(const struct ggml_tensor *t)
{
    return GB_REPACKED_ROWS * ggml_row_size(t->type, t->ne[0]);
}

/* The half floats of a block, and bytes of codes behind them. */
struct block {
    size_t bytes;
    int halves;
};

static struct block
block_of(const struct ggml_tensor *t)
{
    const struct gb_format *format =
        gb_cpu_kernels()->repacked(t->type)->format;

    return (struct block){ format->bytes, format->has_min ? 2 : 1 };
}

/* Where the half floats and the codes of row R are, in block I of N that are
 * side by side. */
static size_t
half_at(const struct block *b, int i, int half, int r)
{
    return sizeof(uint16_t) *
           (size_t)((i * b->halves + half) * GB_REPACKED_ROWS + r);
}

static size_t
codes_at(const struct block *b, int n, int i, size_t four, int r)
{
    const size_t halves = sizeof(uint16_t) * (size_t)b->halves;

    return GB_REPACKED_ROWS * ((size_t)n * halves +
                               (size_t)i * (b->bytes - halves) + four) +
           4 * (size_t)r;
}

/* Block I of N of row R, from or to those at GROUP. */
static void
pack_block(const struct block *b, const char *block, int n, int i, int r,
           char *group)
{
    const size_t halves = sizeof(uint16_t) * (size_t)b->halves;

    for (int h = 0; h < b->halves; h++) {
        uint16_t half;

        memcpy(&half, block + sizeof(half) * (size_t)h, sizeof(half));
        half = gb_le16(half);
        memcpy(group + half_at(b, i, h, r), &half, sizeof(half));
    }
    for (size_t at = 0; at < b->bytes - halves; at += 4)
        memcpy(group + codes_at(b, n, i, at, r), block + halves + at, 4);
}

static void
unpack_block(const struct block *b, const char *group, int n, int i, int r,
             char *block)
{
    const size_t halves = sizeof(uint16_t) * (size_t)b->halves;

    for (int h = 0; h < b->halves; h++) {
        uint16_t half;

        memcpy(&half, group + half_at(b, i, h, r), sizeof(half));
        half = gb_le16(half);
        memcpy(block + sizeof(half) * (size_t)h, &half, sizeof(half));
    }
    for (size_t at = 0; at < b->bytes - halves; at += 4)
        memcpy(block + halves + at, group + codes_at(b, n, i, at, r), 4);
}

/* Blocks that are side by side with block P, the first of them. */
static int
blocks_from(int64_t blocks, int64_t p)
{
    return blocks - p < GB_REPACKED_BLOCKS ? (int)(blocks - p)
                                           : GB_REPACKED_BLOCKS;
}

void
gb_cpu_repack_group(const struct ggml_tensor *t, const void *rows, void *group)
{
    const struct block b = block_of(t);
    const int64_t blocks = t->ne[0] / GB_REPACKED_VALUES;
    char *to = group;

    for (int64_t p = 0; p < blocks; p += GB_REPACKED_BLOCKS) {
        const int n = blocks_from(blocks, p);

        for (int r = 0; r < GB_REPACKED_ROWS; r++)
            for (int i = 0; i < n; i++)
                pack_block(&b,
                           (const char *)rows +
                               (size_t)(r * blocks + p + i) * b.bytes,
                           n, i, r, to);
        to += (size_t)n * GB_REPACKED_ROWS * b.bytes;
    }
}

void
gb_cpu_unpack_group(const struct ggml_tensor *t, const void *group, void *rows)
{
    const struct block b = block_of(t);
    const int64_t blocks = t->ne[0] / GB_REPACKED_VALUES;
    const char *from = group;

    for (int64_t p = 0; p < blocks; p += GB_REPACKED_BLOCKS) {
        const int n = blocks_from(blocks, p);

        for (int r = 0; r < GB_REPACKED_ROWS; r++)
            for (int i = 0; i < n; i++)
                unpack_block(&b, from, n, i, r,
                             (char *)rows +
                                 (size_t)(r * blocks + p + i) * b.bytes);
        from += (size_t)n * GB_REPACKED_ROWS * b.bytes;
    }
}
