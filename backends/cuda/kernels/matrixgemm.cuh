/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixgemm.cuh - GEMM on matrix cores, by panels (panelgemm.cuh).
 *
 * Each wave has 32 rows of the tile, and 64 columns or, of four waves, 32.  The
 * instruction's rows are the tile's columns, so that 16 neighbouring lanes store
 * 64 bytes of a column of D.
 */
#ifndef GB_CUDA_KERNELS_MATRIXGEMM_CUH
#define GB_CUDA_KERNELS_MATRIXGEMM_CUH

#include "backends/cuda/kernels/matrix.cuh"
#include "backends/cuda/kernels/panelgemm.cuh"

#define GB_MATRIX_ROW_LINES (32 / GB_MATRIX_LINES)
#define GB_MATRIX_COL_LINES (GB_WARP / GB_MATRIX_LINES)

/* [rows / 16][columns / 16][of a lane]. */
struct gb_matrix_sums {
    float at[GB_MATRIX_ROW_LINES][GB_MATRIX_COL_LINES][GB_MATRIX_SUMS];
};

/* The first row, and the first column, of a wave. */
GB_DEVICE int
gb_matrix_first_row()
{
    return gb_warp() % 2 * 32;
}

GB_DEVICE int
gb_matrix_first_col()
{
    return gb_warp() / 2 * 32;
}

/* This lane's share of a line of 16 from FIRST on. */
GB_DEVICE gb_matrix_share
gb_matrix_take(gb_mma_panel &panel, int first)
{
    gb_matrix_share share;

    GB_UNROLL
    for (int i = 0; i < gb_matrix_pieces(); i++)
        gb_matrix_set(share, i,
                      *gb_mma_piece_of(panel, first + gb_lane() % 16,
                                       gb_matrix_piece(i)));
    return share;
}

template <typename how>
struct gb_matrix_by_lines {
    static constexpr bool copies_async = false;

    typedef gb_matrix_sums sums;

    GB_DEVICE void
    step(gb_mma_panels &p, int stage, gb_matrix_sums &sums)
    {
        gb_matrix_share rows[GB_MATRIX_ROW_LINES];

        GB_UNROLL
        for (int i = 0; i < GB_MATRIX_ROW_LINES; i++)
            rows[i] = gb_matrix_take(p.rows[stage],
                                     gb_matrix_first_row() + 16 * i);
        GB_UNROLL
        for (int j = 0; j < GB_MATRIX_COL_LINES; j++) {
            const gb_matrix_share cols = gb_matrix_take(
                p.cols[stage], gb_matrix_first_col() + 16 * j);

            GB_UNROLL
            for (int i = 0; i < GB_MATRIX_ROW_LINES; i++)
                how::multiply(sums.at[i][j], cols, rows[i]);
        }
    }

    GB_DEVICE void
    store(const gb_cuda_product_args &a, const gb_product_tile &tile,
          const gb_mma_panels &p, const gb_matrix_sums &sums)
    {
        const int first = gb_matrix_first_row() + gb_lane() % 16;

        GB_UNROLL
        for (int j = 0; j < GB_MATRIX_COL_LINES; j++)
            GB_UNROLL
            for (int e = 0; e < GB_MATRIX_SUMS; e++) {
                const int col =
                    gb_matrix_first_col() + 16 * j + gb_matrix_row(e);
                const gb_column column = p.columns[col];
                const float factor = *(const float *)column.from;

                if (col >= tile.n_cols)
                    continue;
                GB_UNROLL
                for (int i = 0; i < GB_MATRIX_ROW_LINES; i++) {
                    const int64_t row = tile.row + first + 16 * i;

                    if (row < a.weights.ne[1])
                        *(float *)(column.to + row * a.dst.nb[0]) =
                            sums.at[i][j][e] * factor *
                            p.row_scales[first + 16 * i];
                }
            }
    }
};

#endif
