/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm-reals.c - panels of float weights times columns.
 *
 * One step takes a value of each row of a panel and a value of a column, which
 * all rows share; the sums stay in registers.
 */
#include "backends/cpu/kernels/gemm.h"

/* COLS columns, at most VF_COLS. */
GB_INLINE void
tile(const struct gb_strip *strip, int64_t step, const float *const *reals,
     int cols, const float *const *columns, float *const *dst)
{
    vf acc[VF_ROWS][VF_COLS];
    int64_t rest[VF_ROWS];

#pragma GCC unroll 8
    for (int v = 0; v < VF_ROWS; v++) {
        rest[v] = strip->rows - v * VF_LEN;
        rest[v] = rest[v] < 0 ? 0 : rest[v] > VF_LEN ? VF_LEN : rest[v];
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            acc[v][c] =
                strip->is_first
                    ? vf_zero()
                    : vf_load_n(dst[c] + strip->dst_row + v * VF_LEN, rest[v]);
    for (int64_t i = 0; i < strip->k; i++) {
        vf x[VF_ROWS];

#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            x[v] = vf_load(reals[v] + i * step);
#pragma GCC unroll 8
        for (int c = 0; c < cols; c++) {
            const vf y = vf_set1(columns[c][i]);

#pragma GCC unroll 8
            for (int v = 0; v < VF_ROWS; v++)
                acc[v][c] = vf_fma(x[v], y, acc[v][c]);
        }
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++)
#pragma GCC unroll 8
        for (int v = 0; v < VF_ROWS; v++)
            vf_store_n(dst[c] + strip->dst_row + v * VF_LEN, acc[v][c],
                       rest[v]);
}

/* The last columns come more than once where they do not fill a tile: the same
 * sum is then written again. */
void
GB_K(gemm_reals)(const struct gb_strip *strip, int64_t step,
                 const float *const *reals)
{
    for (int64_t c = 0; c < strip->cols; c += VF_COLS) {
        const int64_t left = strip->cols - c;
        const float *columns[VF_COLS];
        float *dst[VF_COLS];

        for (int i = 0; i < VF_COLS; i++) {
            const int64_t from = c + (i < left ? i : left - 1);

            columns[i] = (const float *)(const void *)(
                (const char *)strip->columns[from] + strip->from);
            dst[i] = strip->dst[from];
        }
        if (left > VF_COLS / 2)
            tile(strip, step, reals, VF_COLS, columns, dst);
        else
            tile(strip, step, reals, VF_COLS / 2, columns, dst);
    }
}
