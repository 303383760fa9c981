/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/gemm.h - a product of weights with columns of activations.
 *
 *     dst[c][r] = the sum over k of weights[r][k] * columns[c][k]
 */
#ifndef GB_CPU_KERNELS_API_GEMM_H
#define GB_CPU_KERNELS_API_GEMM_H

#include "backends/cpu/kernels/api/packing.h"

#include "ggml.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Scratch that a product needs, in bytes. */
#define GB_PRODUCT_SCRATCH (128 * 1024)

/* Columns up to which a path is taken.  A skinny GEMM of experts has as many in
 * the mean, and at most GB_SKINNY_COLS_MAX at a time. */
#define GB_SKINNY_COLS       16
#define GB_SKINNY_COLS_MAX   264
#define GB_GEMV_COLS_FLOAT   3
#define GB_SKINNY_COLS_FLOAT 16 /* not packed, weights read where they lie */

/* Columns are packed for float weights from a multiple of this on. */
#define GB_PACKED_COLS 12

static inline enum gb_path
gb_path_of(const struct gb_format *format, int64_t cols)
{
    if (format->sub_block == 0)
        return cols <= GB_GEMV_COLS_FLOAT ? GB_PATH_GEMV : GB_PATH_GEMM;
    return cols == 1                ? GB_PATH_GEMV
           : cols <= GB_SKINNY_COLS ? GB_PATH_SKINNY
                                    : GB_PATH_GEMM;
}

/* 4 KiB aliasing: columns BYTES apart all meet in one set of the first cache,
 * which has no room for as many as a product takes together. */
static inline bool
gb_has_4k_aliasing(size_t bytes)
{
    return bytes % 4096 == 0;
}

/* Weights have rows PITCH bytes apart; nothing of dst[c] but the ROWS first
 * floats is written. */
struct gb_product {
    int64_t k;    /* length of a row */
    int64_t rows; /* of weights */
    int64_t cols;
    const void *weights;
    size_t pitch; /* bytes from row to row */
    const void *const *columns;
    const void *packed; /* float weights: the columns as pack() left them, or
                           NULL */
    float *const *dst;
    void *scratch; /* GB_PRODUCT_SCRATCH bytes, 64-byte aligned */
};

#endif
