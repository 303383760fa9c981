/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/reader.h - rows of blocks, for a type that says how one block is
 * read.
 */
#ifndef GB_CPU_KERNELS_FORMAT_READER_H
#define GB_CPU_KERNELS_FORMAT_READER_H

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/simd/q64.h"

#include <string.h>

/* A row's sums so far. */
struct gb_gemv_sums {
    q64f acc[2]; /* so many additions are in flight */
    qf mins;     /* what mins and biases add */
};

/* Value e of a block is d[e / sub_block] * (code - bias) + m[e / sub_block]. */
struct gb_block_reader {
    const struct gb_format *format;
    /* The d and, if there are minima, m of N blocks: one of 256 values, or up
     * to eight of 32. */
    void (*scales)(const void *blocks, int n, float *d, float *m);
    /* The codes of values 32 * g to 32 * g + 31; blocks of 256 in plain order
     * may do without. */
    q32 (*codes)(const void *block, int g);
    /* For GEMV and skinny GEMM, by super-blocks: a block of 256 values, or N of 32,
     * which are 8 but at the end of a row.  Types of plain order may do without
     * the first, those with one block in a super-block without both. */
    /* The codes of step I in the format's order: a unit of 64, or two. */
    void (*units)(const void *super_block, int i, int n, q64 *u);
    /* Eight d and, if there are mins, m of a super-block, or twice eight. */
    void (*all_scales)(const void *super_block, int n, qf *d, qf *m);
    /* For GEMV with lane-interleaved activations: add the products of a block of
     * 256 values with a super-block. */
    void (*add)(struct gb_gemv_sums *sums, const void *block, const void *y);
};

/* Blocks that are taken at a time have 256 values, and so many scales at
 * most. */
#define GB_SUPER_BLOCK_SCALES 16

/* N blocks: their codes, and the d and, if there are minima, m of all. */
typedef void (*gb_read_fn)(const void *blocks, int n, uint8_t *codes, float *d,
                           float *m);

/* gb_unpack_fn and gb_floats_fn for blocks that READ reads; the second one to
 * the bit what lib/type/ makes of them. */
void GB_K_OF(BYTES, unpack_blocks)(const struct gb_format *format,
                                   gb_read_fn read, int64_t k, int64_t rows,
                                   const void *x, size_t pitch,
                                   const struct gb_panel *panel);
void GB_K_OF(BYTES, floats_of_blocks)(const struct gb_format *format,
                                      gb_read_fn read, int64_t n, float *dst,
                                      const void *x);

GB_INLINE void
codes_of_block(const struct gb_block_reader *b, const void *block, uint8_t *codes)
{
    if (b->codes != NULL) {
#pragma GCC unroll 8
        for (int g = 0; g < b->format->block / 32; g++)
            q32_store(codes + 32 * g, b->codes(block, g));
        return;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        q64 u;

        b->units(block, i, 1, &u);
        q64_store(codes + 64 * i, u);
    }
}

/* gb_read_fn for blocks. */
GB_INLINE void
gb_block_read(const struct gb_block_reader *b, const void *blocks, int n,
              uint8_t *codes, float *d, float *m)
{
    const char *block = blocks;

    b->scales(blocks, n, d, m);
    for (int i = 0; i < n; i++, block += b->format->bytes) {
        codes_of_block(b, block, codes);
        codes += b->format->block;
    }
}

#endif
