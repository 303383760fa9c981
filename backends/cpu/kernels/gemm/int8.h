/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/int8.h - the products of quantised weights that dispatch.c
 * chooses from.
 */
#ifndef GB_CPU_KERNELS_GEMM_INT8_H
#define GB_CPU_KERNELS_GEMM_INT8_H

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/panel.h"

/* Row panels of weights times a part of all columns (KC values). */
struct gb_gemm_tile {
    const struct gb_panel *panels;
    int64_t k;       /* values in a panel's row */
    int64_t rows;    /* to be written, at most those of all panels */
    size_t from;     /* the part's first byte in a column */
    size_t counts;   /* and that of its count of outliers */
    size_t outliers; /* where all outliers begin */
    int bias;        /* of the codes */
    int64_t dst_row; /* row 0's place in dst[c] */
    bool is_first;   /* dst is written, not added to */
    int64_t cols;
    const void *const *columns;
    float *const *dst;
};

/* The micro-kernel's loop over columns: VQ_ROWS panels of quantised weights
 * times all columns of the tile, packed for GB_PATH_GEMM. */
void GB_K_OF(BYTES, gemm_int8_tile)(const struct gb_format *format,
                                    const struct gb_gemm_tile *tile);

/* Quantised weights times columns packed for GB_PATH_SKINNY. */
void GB_K_OF(BYTES, skinny_int8)(const struct gb_format_kernels *weight,
                                 const struct gb_product *p);

#endif
