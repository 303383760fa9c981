/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/reader.h - how the blocks of a format are read: what a
 * format gives to the kernels that are made for it (format-kernels.h).
 *
 * A block has a header of scales (d, and dmin or m where the format has mins)
 * and packed codes:
 *
 *     value e = d[e / sub_block] * (code[e] - bias) + m[e / sub_block]
 *
 * Codes are read in two ways: 32 at a time in the order of the values, for
 * conversion to floats and the panels of the GEMM; and 64 at a time, a whole
 * vector, in the order in which shifts and masks give them (enum gb_order), for
 * GEMV and skinny GEMM, whose activations were packed in the same order.
 */
#ifndef GB_CPU_KERNELS_FORMAT_READER_H
#define GB_CPU_KERNELS_FORMAT_READER_H

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "backends/cpu/simd/q64.h"

#include <string.h>

/* Accumulators of one row of a GEMV. */
struct gb_gemv_sums {
    q64f acc[2]; /* scaled sums; two, so that additions need not wait for each
                    other */
    qf mins;     /* mins and zero-point corrections times sums of activations */
};

struct gb_windows;

struct gb_block_reader {
    const struct gb_format *format;
    /* d and, if the format has mins, m of N blocks: one of 256 values, or up
     * to eight of 32. */
    void (*scales)(const void *blocks, int n, float *d, float *m);
    /* The codes of values 32 * i to 32 * i + 31.  May be NULL for blocks of 256
     * values whose codes64 are in the order of the values. */
    q32 (*codes32)(const void *block, int i);
    /* 64 codes in the format's order: vector I of a super-block, which is one
     * block of 256 values, or N of 32 (8 but at the end of a row).  Two
     * vectors, 2 * I and 2 * I + 1, for GB_ORDER_NIBBLES.  May be NULL in
     * GB_ORDER_PLAIN. */
    void (*codes64)(const void *super_block, int i, int n, q64 *u);
    /* d and, if the format has mins, m of a super-block's sub-blocks: one
     * vector of eight, or two.  May be NULL where a super-block is one
     * block. */
    void (*scale_vectors)(const void *super_block, int n, qf *d, qf *m);
    /* The GEMV's inner loop where activations are lane-interleaved: add the
     * products of a block of 256 values with the activations Y.  Else NULL. */
    void (*add)(struct gb_gemv_sums *sums, const void *block, const void *y);
    /* How GEMV reads rows that end in the middle of a super-block, where it
     * can.  May be NULL. */
    const struct gb_windows *windows;
};

/* Scales of 256 values at most. */
#define GB_SUPER_BLOCK_SCALES 16

/* Codes of N blocks in the order of the values, and their d and, if the format
 * has mins, m. */
typedef void (*gb_read_fn)(const void *blocks, int n, uint8_t *codes, float *d,
                           float *m);

/* gb_unpack_fn and gb_floats_fn (api/format.h) of a format, with READ its
 * gb_read_fn.  Floats are the same bits as those of lib/type/. */
void GB_K_OF(BYTES, unpack_blocks)(const struct gb_format *format,
                                   gb_read_fn read, int64_t k, int64_t rows,
                                   const void *x, size_t pitch,
                                   const struct gb_panel *panel);
void GB_K_OF(BYTES, floats_of_blocks)(const struct gb_format *format,
                                      gb_read_fn read, int64_t n, float *dst,
                                      const void *x);

GB_INLINE void
codes_of_block(const struct gb_block_reader *b, const void *block,
               uint8_t *codes)
{
    if (b->codes32 != NULL) {
#pragma GCC unroll 8
        for (int i = 0; i < b->format->block / 32; i++)
            q32_store(codes + 32 * i, b->codes32(block, i));
        return;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        q64 u;

        b->codes64(block, i, 1, &u);
        q64_store(codes + 64 * i, u);
    }
}

/* gb_read_fn made of a struct gb_block_reader. */
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
