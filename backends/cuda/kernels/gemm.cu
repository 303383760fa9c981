/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/gemm.cu - GEMM in F32, for floating-point weights.
 *
 * Tiles of 64 rows and 64 columns by 256 threads, which have 4 x 4 sums each;
 * 16 values of k a step, unpacked to F32 in shared memory (9.5 KB).  Its fused
 * multiply-adds are the limit: 16 for 8 values read from shared memory.
 */
#include "backends/cuda/kernels/product.cuh"
#include "backends/cuda/kernels/tensor.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 256
#define TILE    64 /* rows, and columns */
#define STEP    16 /* of k */
#define PITCH   68 /* floats from one k to the next: rows aligned to 16 bytes */

struct panels {
    alignas(16) float rows[STEP][PITCH];
    alignas(16) float cols[STEP][PITCH];
    gb_column columns[TILE];
};

/*
 * Where LINE of a panel stands among those of K.  The four threads of a line
 * store values of k 4 apart, 16 banks from each other: from 8 on lines are 8
 * further or back, so that these lie beside the first eight.
 */
GB_DEVICE int
place_of(int line, int k)
{
    return line ^ (k & 8);
}

/* Four values from K on of a row into a panel; 0 behind END or without a row. */
template <typename T>
GB_DEVICE void
load4(float panel[STEP][PITCH], int line, int step, const T *row, int64_t k,
      int64_t end)
{
    GB_UNROLL
    for (int i = 0; i < 4; i++)
        panel[step + i][place_of(line, step)] =
            row != nullptr && k + i < end ? gb_float(row[k + i]) : 0.0f;
}

/* This thread's sums of a step. */
GB_DEVICE void
add_step(const panels &p, int row, int col, float sum[4][4])
{
    GB_UNROLL
    for (int k = 0; k < STEP; k++) {
        const gb_float4 a = *(const gb_float4 *)&p.rows[k][place_of(row, k)];
        const gb_float4 b = *(const gb_float4 *)&p.cols[k][place_of(col, k)];

        GB_UNROLL
        for (int j = 0; j < 4; j++)
            GB_UNROLL
            for (int i = 0; i < 4; i++)
                sum[j][i] = gb_fma(a.at[i], b.at[j], sum[j][i]);
    }
}

GB_DEVICE void
store_sums(const gb_cuda_product_args &a, const gb_product_tile &tile,
           const panels &p, int row, int col, const float sum[4][4])
{
    GB_UNROLL
    for (int j = 0; j < 4; j++) {
        char *to = p.columns[col + j].to + (tile.row + row) * a.dst.nb[0];

        GB_UNROLL
        for (int i = 0; i < 4; i++)
            if (col + j < tile.n_cols && tile.row + row + i < a.weights.ne[1])
                *(float *)(to + i * a.dst.nb[0]) = sum[j][i];
    }
}

/* All threads of the block. */
template <typename T>
GB_DEVICE void
multiply_tile(const gb_cuda_product_args &a, const gb_product_tile &tile,
              panels &p)
{
    const int line = gb_thread() / 4, step = gb_thread() % 4 * 4;
    const int row = gb_thread() % 16 * 4, col = gb_thread() / 16 * 4;
    const T *weights =
        tile.row + line < a.weights.ne[1]
            ? (const T *)(tile.weights + (tile.row + line) * a.weights.nb[1])
            : nullptr;
    const float *column = line < tile.n_cols
                              ? (const float *)p.columns[line].from
                              : nullptr;
    float sum[4][4] = { { 0.0f } };

    for (int64_t k = tile.k; k < tile.k_end; k += STEP) {
        gb_sync();
        load4(p.rows, line, step, weights, k + step, tile.k_end);
        load4(p.cols, line, step, column, k + step, tile.k_end);
        gb_sync();
        add_step(p, row, col, sum);
    }
    store_sums(a, tile, p, row, col, sum);
}

template <typename T>
GB_DEVICE void
gemm(const gb_cuda_product_args &a)
{
    GB_SHARED panels p;
    const gb_product_tile tile = gb_product_tile_of(a, (uint32_t)gb_block());

    if (tile.n_cols == 0)
        return;
    gb_list_columns(a, tile, p.columns, TILE);
    multiply_tile<T>(a, tile, p);
}

#define GB_CUDA_FLOATS(TYPE, name, type)        \
    GB_KERNEL(THREADS, gb_gemm_##name, product) \
    {                                           \
        gemm<type>(a);                          \
    }
#define GB_CUDA_BLOCKS(TYPE, name)
#include "backends/cuda/kernels/formats.def"
