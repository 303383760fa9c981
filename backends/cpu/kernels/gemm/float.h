/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/float.h - panels of float weights times columns.
 *
 * A unit is a float or, where VF_PAIRS is 1 and weights are BF16, a pair of
 * those.  Packed columns stand in panels of VF_COLS, the last one maybe
 * narrower: VF_LEN units of its first column, as many of the next, and after
 * those of its last column the next ones of its first.  So a product reads them
 * as one stream:
 *
 *     panel 0   | c0: u0 .. u15 | c1: u0 .. u15 | .. | c11: u0 .. u15 |
 *               | c0: u16 .. u31 | ..                                      |
 *     panel 1   | c12: u0 .. u15 | ..
 *
 * with AVX-512 (VF_LEN 16, VF_COLS 12).  Columns of one length have panels of
 * one length, gb_float_panel_bytes() for each column, so that column 12 i
 * begins at 12 i times that.
 */
#ifndef GB_CPU_KERNELS_GEMM_FLOAT_H
#define GB_CPU_KERNELS_GEMM_FLOAT_H

#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/gemm/panel.h"

#include <stdbool.h>

/* dst[c][r] gets row r of the panels times a part of column c. */
struct gb_float_tile {
    /* Panels, or what lies in memory as they do: unit j of row r of panel v is
     * panels[panel_step * v + step * j + r]; always VF_ROWS panels together. */
    const float *panels;
    int64_t panel_step;
    int64_t step;
    int64_t units;   /* in a panel's row */
    int64_t rows;    /* to be written */
    int64_t dst_row; /* row 0's place in dst[c] */
    bool in_pairs;
    bool is_first;   /* dst is written, not added to */
    int64_t cols;
    const char *packed;         /* the columns; or NULL, and */
    const void *const *columns; /* where they lie, floats, */
    int64_t col_stride; /* floats from each to the next; 0: anywhere */
    size_t pitch; /* bytes for each column in PACKED */
    int64_t from; /* unit of a column that meets a panel's first one; a
                     multiple of VF_LEN where columns are packed */
    float *const *dst;
    /* What the next panels are made of, fetched meanwhile: so many bytes of as
     * many rows; NULL for nothing. */
    const char *next;
    size_t next_bytes;
    size_t next_pitch;
};

void GB_K_OF(PAIRS, gemm_float_tile)(const struct gb_float_tile *tile);

/* Products of float weights with 2 to 16 columns, with more of them. */
void GB_K_OF(FLOATS, skinny_floats)(const struct gb_format_kernels *weight,
                                    const struct gb_product *p);
void GB_K_OF(PAIRS, gemm_floats)(const struct gb_format_kernels *weight,
                                 const struct gb_product *p);

/* Are packed columns for such weights rounded to BF16 and taken in pairs? */
static inline bool
gb_takes_pairs(const struct gb_format *format)
{
    return VF_PAIRS && format->activation == GGML_TYPE_BF16;
}

#endif
