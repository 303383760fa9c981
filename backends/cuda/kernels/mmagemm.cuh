/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmagemm.cuh - GEMM on tensor cores.
 *
 * Tiles of 64 rows and 64 columns by 128 threads; each of four warps has 32 x
 * 32 sums, two fragments of rows by four of columns.  A step has 32 values of
 * k: a thread unpacks 16 values of a row of weights to halves in shared memory,
 * and copies 32 bytes of packed columns; 11 KB in all.  Lines are 80 bytes
 * apart, so that the eight of an ldmatrix lie in different banks.  Each step
 * waits for its own loads: their latency is the limit.
 *
 * Blocks may hold values beyond f16's 65,504.  Each thread keeps the largest that
 * it unpacked; where a row of the tile has such values, the tile is multiplied
 * again with those rows times powers of two.  Nearly no weights have that, and
 * looking at the scales beforehand would read all of them twice.
 *
 * MMA8 multiplies 16 values of k at a time, MMA 8; the order of sums differs.
 */
#ifndef GB_CUDA_KERNELS_MMAGEMM_CUH
#define GB_CUDA_KERNELS_MMAGEMM_CUH

#include "backends/cuda/kernels/mma.cuh"
#include "backends/cuda/kernels/product.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define GB_MMA_TILE  64 /* rows, and columns */
#define GB_MMA_PITCH 40 /* halves from line to line */

struct gb_mma_panels {
    alignas(16) uint16_t rows[GB_MMA_TILE][GB_MMA_PITCH];
    alignas(16) uint16_t cols[GB_MMA_TILE][GB_MMA_PITCH];
    gb_column columns[GB_MMA_TILE];
    float row_scales[GB_MMA_TILE]; /* of the sums */
};

/* How weights and columns are multiplied: fragments of 16 rows, 8 columns and
 * 16 values of k. */
struct gb_multiply_f16_by_8 {
    typedef gb_f16 half;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k8_f16(d, a, b[0]);
        gb_mma_m16n8k8_f16(d, a + 2, b[1]);
    }
};

struct gb_multiply_f16 {
    typedef gb_f16 half;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_f16(d, a, b);
    }
};

struct gb_multiply_bf16 {
    typedef gb_bf16 half;

    GB_DEVICE void
    multiply(float d[4], const uint32_t a[4], const uint32_t b[2])
    {
        gb_mma_m16n8k16_bf16(d, a, b);
    }
};

/* Sixteen values from K on of a row; zeros behind END. */
template <typename T>
GB_DEVICE void
gb_mma_unpack16(const T *row, int64_t k, int64_t end, float values[16])
{
    if constexpr (gb_format<T>::is_float) {
        GB_UNROLL
        for (int i = 0; i < 16; i++)
            values[i] = k + i < end ? gb_float(row[k + i]) : 0.0f;
    } else {
        gb_values<16>(row, k, values);
    }
}

/* A row of weights as one thread works on it: half a line of the panel. */
template <typename T>
struct gb_mma_row {
    const T *weights; /* of the last row for those behind it */
    float factor;     /* the row is multiplied by it */
    float largest;    /* of the magnitudes that were loaded, without it */
};

/* LARGEST grows to the magnitudes of VALUES, which are then multiplied. */
GB_DEVICE void
gb_mma_scale(float values[16], float factor, float &largest)
{
    GB_UNROLL
    for (int i = 0; i < 16; i++) {
        const float size = values[i] < 0.0f ? -values[i] : values[i];

        largest = size > largest ? size : largest;
        values[i] *= factor;
    }
}

/* The half line; a row behind the last one is not stored. */
template <typename T, typename H>
GB_DEVICE void
gb_mma_load_rows(gb_mma_panels &p, gb_mma_row<T> &row, int64_t k, int64_t end)
{
    const int line = gb_thread() / 2, first = gb_thread() % 2 * 16;
    H *to = (H *)&p.rows[line][first];
    float values[16];

    gb_mma_unpack16(row.weights, k + first, end, values);
    if constexpr (!gb_format<T>::is_float)
        gb_mma_scale(values, row.factor, row.largest);
    GB_UNROLL
    for (int i = 0; i < 16; i++)
        gb_store(to + i, values[i]);
}

/* Two pieces of 16 bytes of the columns' panel. */
GB_DEVICE void
gb_mma_load_cols(gb_mma_panels &p, int n_cols, int64_t k)
{
    const int line = gb_thread() / 4, piece = gb_thread() % 4;

    GB_UNROLL
    for (int i = 0; i < 2; i++)
        gb_copy_async_16(&p.cols[line + 32 * i][8 * piece],
                         p.columns[line + 32 * i].from + GB_CUDA_HALVES_HEAD +
                             2 * k + 16 * piece,
                         line + 32 * i < n_cols ? 16 : 0);
    gb_copy_async_commit();
}

/* This warp's 32 x 32 sums: [rows / 16][columns / 8][of a fragment]. */
struct gb_mma_sums {
    float at[2][4][4];
};

template <typename how>
GB_DEVICE void
gb_mma_step(const gb_mma_panels &p, gb_mma_sums &sums)
{
    const int row = gb_warp() % 2 * 32 + gb_lane() % 16;
    const int col = gb_warp() / 2 * 32 + gb_lane() % 8 + gb_lane() / 16 * 8;

    GB_UNROLL
    for (int k = 0; k < GB_CUDA_K_STEP; k += 16) {
        uint32_t a[2][4], b[2][4];

        GB_UNROLL
        for (int i = 0; i < 2; i++) {
            gb_ldmatrix_x4(a[i],
                           &p.rows[row + 16 * i][k + gb_lane() / 16 * 8]);
            gb_ldmatrix_x4(b[i],
                           &p.cols[col + 16 * i][k + gb_lane() / 8 % 2 * 8]);
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

/* The sums over the tile's k. */
template <typename T, typename how>
GB_DEVICE gb_mma_sums
gb_mma_sum_up(const gb_product_tile &tile, gb_mma_panels &p, gb_mma_row<T> &row)
{
    gb_mma_sums sums = {};

    for (int64_t k = tile.k; k < tile.k_end; k += GB_CUDA_K_STEP) {
        gb_sync();
        gb_mma_load_cols(p, tile.n_cols, k);
        gb_mma_load_rows<T, typename how::half>(p, row, k, tile.k_end);
        gb_copy_async_wait<0>();
        gb_sync();
        gb_mma_step<how>(p, sums);
    }
    return sums;
}

/* The factor that ROW needs, by what both of its threads loaded. */
template <typename T>
GB_DEVICE float
gb_mma_factor_for(const gb_mma_row<T> &row)
{
    const float largest = gb_warp_max<2>(row.largest);

    return largest <= 65504.0f ? 1.0f : gb_f16_factor(largest);
}

/* All threads of the block: does a row need another factor than it has?  It has
 * it then. */
template <typename T>
GB_DEVICE bool
gb_mma_change_factors(gb_mma_row<T> &row)
{
    const float factor = gb_mma_factor_for(row);
    const bool is_changed = factor != row.factor;

    row.factor = factor;
    return gb_block_max<128>(is_changed ? 1.0f : 0.0f) > 0.0f;
}

/* This thread's row, two threads a row. */
template <typename T>
GB_DEVICE gb_mma_row<T>
gb_mma_row_of(const gb_cuda_product_args &a, const gb_product_tile &tile)
{
    const int64_t last = a.weights.ne[1] - 1;
    const int64_t number = tile.row + gb_thread() / 2;

    return { (const T *)(tile.weights +
                         (number < last ? number : last) * a.weights.nb[1]),
             1.0f, 0.0f };
}

/* All threads of the block: what the sums of each row have to be multiplied by. */
template <typename T>
GB_DEVICE void
gb_mma_keep_scale(const gb_mma_row<T> &row, float *scales)
{
    if (gb_thread() % 2 == 0)
        scales[gb_thread() / 2] = 1.0f / row.factor;
    gb_sync();
}

/* All threads of the block. */
template <typename T, typename how>
GB_DEVICE void
gb_mma_tile(const gb_cuda_product_args &a, const gb_product_tile &tile,
            gb_mma_panels &p)
{
    gb_mma_row<T> row = gb_mma_row_of<T>(a, tile);
    gb_mma_sums sums;

    do
        sums = gb_mma_sum_up<T, how>(tile, p, row);
    while (!gb_format<T>::is_float && gb_mma_change_factors(row));
    gb_mma_keep_scale(row, p.row_scales);
    GB_UNROLL
    for (int fragment = 0; fragment < 4; fragment++)
        GB_UNROLL
        for (int col = 0; col < 2; col++)
            gb_mma_store_column(a, tile, p, sums, fragment, col);
}

template <typename T, typename how>
GB_DEVICE void
gb_mma_gemm(const gb_cuda_product_args &a)
{
    GB_SHARED gb_mma_panels p;
    const gb_product_tile tile = gb_product_tile_of(a, (uint32_t)gb_block());

    if (tile.n_cols == 0)
        return;
    gb_list_columns(a, tile, p.columns, GB_MMA_TILE);
    gb_mma_tile<T, how>(a, tile, p);
}

#endif
