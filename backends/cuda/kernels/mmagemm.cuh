/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmagemm.cuh - GEMM on tensor cores, by panels (panelgemm.cuh).
 *
 * Each of four warps has 32 x 32 sums, two fragments of rows by four of columns.
 * From 8.0 on columns are copied past the registers.
 *
 * MMA8 multiplies 16 values of k at a time, MMA 8; the order of sums differs.
 */
#ifndef GB_CUDA_KERNELS_MMAGEMM_CUH
#define GB_CUDA_KERNELS_MMAGEMM_CUH

#include "backends/cuda/kernels/panelgemm.cuh"

/* How weights and columns are multiplied: fragments of 16 rows, 8 columns and
 * 16 values of k. */
struct gb_multiply_f16_by_8 {
    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k8_f16(d, a, b[0]);
        gb_mma_m16n8k8_f16(d, a + 2, b[1]);
    }
};

struct gb_multiply_f16 {
    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_f16(d, a, b);
    }
};

struct gb_multiply_bf16 {
    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_bf16(d, a, b);
    }
};

/* This warp's 32 x 32 sums: [rows / 16][columns / 8][of a fragment]. */
struct gb_mma_sums {
    float at[2][4][4];
};

template <typename how>
GB_DEVICE void
gb_mma_step(gb_mma_panels &p, int stage, gb_mma_sums &sums)
{
    const int row = gb_warp() % 2 * 32 + gb_lane() % 16;
    const int col = gb_warp() / 2 * 32 + gb_lane() % 8 + gb_lane() / 16 * 8;

    GB_UNROLL
    for (int k = 0; k < GB_CUDA_K_STEP; k += 16) {
        uint32_t a[2][4], b[2][4];

        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            gb_ldmatrix_x4(a[i], gb_mma_piece_of(p.rows[stage], row + 16 * i,
                                                 k / 8 + gb_lane() / 16));
            gb_ldmatrix_x4(b[i], gb_mma_piece_of(p.cols[stage], col + 16 * i,
                                                 k / 8 + gb_lane() / 8 % 2));
        }
        GB_UNROLL
        for (int i = 0; i < 2; i++)
            GB_UNROLL
            for (int j = 0; j < 4; j++)
                how::multiply(sums.at[i][j], a[i], &b[j / 2][j % 2 * 2]);
    }
}

/* The sums of one column of D times their factors: rows ROW and ROW + 8 of each
 * fragment, COL being its place in fragments. */
GB_DEVICE void
gb_mma_store_column(const gb_cuda_product_args &a, const gb_product_tile &tile,
                    const gb_mma_panels &p, const gb_mma_sums &sums,
                    int fragment, int col)
{
    const int j = gb_warp() / 2 * 32 + 8 * fragment + gb_lane() % 4 * 2 + col;
    const int first = gb_warp() % 2 * 32 + gb_lane() / 4;
    const gb_column column = p.columns[j];
    const float factor = *(const float *)column.from;

    if (j >= tile.n_cols)
        return;
    GB_UNROLL
    for (int i = 0; i < 4; i++) {
        const int64_t row = tile.row + first + 8 * i;

        if (row < a.weights.ne[1])
            *(float *)(column.to + row * a.dst.nb[0]) =
                sums.at[i / 2][fragment][i % 2 * 2 + col] * factor *
                p.row_scales[first + 8 * i];
    }
}

template <typename multiply>
struct gb_mma_by_fragments {
    static constexpr bool copies_async = true;

    typedef gb_mma_sums sums;

    GB_DEVICE void
    step(gb_mma_panels &p, int stage, gb_mma_sums &sums)
    {
        gb_mma_step<multiply>(p, stage, sums);
    }

    GB_DEVICE void
    store(const gb_cuda_product_args &a, const gb_product_tile &tile,
          const gb_mma_panels &p, const gb_mma_sums &sums)
    {
        GB_UNROLL
        for (int fragment = 0; fragment < 4; fragment++)
            GB_UNROLL
            for (int col = 0; col < 2; col++)
                gb_mma_store_column(a, tile, p, sums, fragment, col);
    }
};

#endif
