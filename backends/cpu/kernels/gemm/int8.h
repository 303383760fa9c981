/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/int8.h - panels of weights times columns.
 */
#ifndef GB_CPU_KERNELS_GEMM_H
#define GB_CPU_KERNELS_GEMM_H

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/panel.h"

/* dst[c][r] gets the panels' row r times a part of column c. */
struct gb_gemm_tile {
    const struct gb_panel *panels;
    int64_t k;       /* values in a panel's row */
    int64_t rows;    /* to be written, at most those of all panels */
    size_t from;     /* the part's first byte in a column */
    size_t marks;    /* quantised: and its marks' */
    size_t lows;     /* where all lower halves begin */
    int64_t dst_row; /* row 0's place in dst[c] */
    bool is_first;   /* dst is written, not added to */
    int64_t cols;
    const void *const *columns;
    float *const *dst;
};

/* VQ_ROWS panels of quantised weights. */
void GB_K_OF(BYTES, gemm_int8_tile)(const struct gb_format *format,
                                const struct gb_gemm_tile *strip);

/* Quantised weights times columns of turned groups. */
void GB_K_OF(BYTES, skinny_int8)(const struct gb_format_kernels *weight,
                              const struct gb_product *p);

#endif
