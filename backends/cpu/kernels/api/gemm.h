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

/* Columns up to which a product may be a skinny GEMM, and the most of them at a
 * time: of experts' columns there may be more than the mean. */
#define GB_SKINNY_COLS     16
#define GB_SKINNY_COLS_MAX 264

/* Float columns are packed in panels from a multiple of this on. */
#define GB_PACKED_COLS 12

/* The path of a product of K values a row with COLS columns where these are used
 * one by one, as the format has them; see ops/matmul.c for packed ones. */
static inline enum gb_path
gb_path_of(const struct gb_format *format, int64_t k, int64_t cols)
{
    return k == 0 || cols <= format->gemv_cols ? GB_PATH_GEMV
           : cols <= format->skinny_cols       ? GB_PATH_SKINNY
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
    const void *const *columns; /* packed for the path; or, GEMM_PACKED */
    const void *packed;         /* or TILES: the panel, or the 16 columns, that
                                   begin here */
    /* GEMM of floats: bytes from column to column, 0: any, or 4 KiB aliasing. */
    size_t column_pitch;
    float *const *dst;
    void *scratch; /* GB_PRODUCT_SCRATCH bytes, 64-byte aligned */
    void *sums;    /* TILES: gb_tile_sums_bytes(), likewise */
};

#endif
