/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/gemv.cu - GEMV and skinny GEMM: products with 1 to 8 columns at
 * once, for every type of weights.
 *
 * A warp takes one row of weights and all columns of the tile; 128 threads a
 * block; up to three products with one right side a launch.  Floats: lanes take neighbouring values; quantised weights: lanes take
 * 32 values each, whose codes meet those of q8 activations in dot4, four
 * products at a time.  Weights are read once for all columns of a tile; reading
 * them is the limit.
 */
#include "backends/cuda/kernels/addends.cuh"
#include "backends/cuda/kernels/product.cuh"
#include "backends/cuda/kernels/unpack.cuh"

/* A tile's columns, in registers. */
template <int cols>
struct columns {
    const char *from[cols];
    float sum[cols];
};

template <typename T, int cols>
GB_DEVICE void
add_floats(const gb_product_tile &tile, const T *row, columns<cols> &c)
{
    for (int64_t k = tile.k + gb_lane(); k < tile.k_end; k += GB_WARP) {
        const float weight = gb_float(row[k]);

        GB_UNROLL
        for (int j = 0; j < cols; j++)
            c.sum[j] = gb_fma(weight, ((const float *)c.from[j])[k],
                              c.sum[j]);
    }
}

GB_DEVICE int
dot16(const int codes[4], const int32_t qs[4])
{
    int sum = 0;

    GB_UNROLL
    for (int i = 0; i < 4; i++)
        sum = gb_dot4(codes[i], qs[i], sum);
    return sum;
}

/* SUM plus thirty-two values from E on of a block times a block of q8. */
template <typename T>
GB_DEVICE float
dot32(const T *block, int e, const int codes[8], const gb_cuda_q8 *q8,
      float sum)
{
    const int low = dot16(codes, q8->qs);
    const int high = dot16(codes + 4, q8->qs + 4);

    if (T::sub == 32) {
        sum = gb_fma(gb_scale(block, e) * q8->d, (float)(low + high), sum);
        if (T::has_mins)
            sum = gb_fma(-gb_min(block, e), q8->sums[0] + q8->sums[1], sum);
        return sum;
    }
    sum = gb_fma(gb_scale(block, e) * q8->d, (float)low, sum);
    sum = gb_fma(gb_scale(block, e + 16) * q8->d, (float)high, sum);
    if (T::has_mins) {
        sum = gb_fma(-gb_min(block, e), q8->sums[0], sum);
        sum = gb_fma(-gb_min(block, e + 16), q8->sums[1], sum);
    }
    return sum;
}

template <typename T, int cols>
GB_DEVICE void
add_blocks(const gb_product_tile &tile, const T *row, columns<cols> &c)
{
    for (int64_t unit = tile.k / 32 + gb_lane(); unit < tile.k_end / 32;
         unit += GB_WARP) {
        const T *block = row + unit / (T::values / 32);
        const int e = (int)(unit % (T::values / 32)) * 32;
        int codes[8];

        GB_UNROLL
        for (int i = 0; i < 8; i++)
            codes[i] = gb_codes(block, e + 4 * i);
        GB_UNROLL
        for (int j = 0; j < cols; j++)
            c.sum[j] = dot32(block, e, codes,
                             (const gb_cuda_q8 *)c.from[j] + unit, c.sum[j]);
    }
}

/* Sum J of all lanes, where J is this lane. */
template <int cols>
GB_DEVICE float
sum_of_lane(const columns<cols> &c)
{
    float result = 0.0f;

    GB_UNROLL
    for (int j = 0; j < cols; j++) {
        const float sum = gb_warp_sum(c.sum[j]);

        result = gb_lane() == j ? sum : result;
    }
    return result;
}

/* Element ROW of column J of TILE with all that is added to it. */
GB_DEVICE float
with_addends(const gb_cuda_product_args &a, const gb_product_tile &tile, int j,
             int64_t row, float sum)
{
    gb_row at;

    if (a.more.n == 0)
        return sum;
    at = gb_column_place(a, tile, j);
    return gb_add_all(a.more, { { row, at.i1, at.i2, at.i3 } }, sum);
}

/* One row, by a warp.  Lane j finds column j for all, and stores its sum. */
template <typename T, int cols>
GB_DEVICE void
multiply_row(const gb_cuda_product_args &a, const gb_product_tile &tile,
             int64_t row)
{
    const T *weights = (const T *)(tile.weights + row * a.weights.nb[1]);
    const gb_column mine = gb_column_within(a, tile, gb_lane());
    columns<cols> c;
    float sum;

    GB_UNROLL
    for (int j = 0; j < cols; j++) {
        c.from[j] = gb_shuffle_pointer(mine.from, j);
        c.sum[j] = 0.0f;
    }
    if constexpr (gb_format<T>::is_float)
        add_floats(tile, weights, c);
    else
        add_blocks(tile, weights, c);
    sum = sum_of_lane(c);
    if (gb_lane() < tile.n_cols)
        *(float *)(mine.to + row * a.dst.nb[0]) =
            with_addends(a, tile, gb_lane(), row, sum);
}

template <typename T, int cols>
GB_DEVICE void
gemv_tile(const gb_cuda_product_args &a, uint32_t number)
{
    const gb_product_tile tile = gb_product_tile_of(a, number);
    const int64_t row = tile.row + gb_warp();

    if (row < a.weights.ne[1] && tile.n_cols > 0)
        multiply_row<T, cols>(a, tile, row);
}

template <typename T, int cols>
GB_DEVICE void
gemv(const gb_cuda_gemv_args &a)
{
    const uint32_t block = (uint32_t)gb_block();
    int i = 0;

    while (i + 1 < a.n && block >= a.first[i + 1])
        i++;
    gemv_tile<T, cols>(a.of[i], block - a.first[i]);
}

#define GEMV(name, type, cols)                      \
    GB_KERNEL(128, gb_gemv_##name##_##cols, gemv)   \
    {                                               \
        gemv<type, cols>(a);                        \
    }
#define GB_CUDA_FLOATS(TYPE, name, type) \
    GEMV(name, type, 1)                  \
    GEMV(name, type, 4)                  \
    GEMV(name, type, 8)
#define GB_CUDA_BLOCKS(TYPE, name) GB_CUDA_FLOATS(TYPE, name, gb_##name)
#include "backends/cuda/kernels/formats.def"
