/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/outprod.cu - sums of outer products.
 *
 * Tiles of 128 values along dimension 0, one a thread, and 8 along dimension 1,
 * whose sums are in registers; 128 threads a block.  Each thread unpacks its
 * own value of a row for 8 fused multiply-adds, with values of b that are the
 * same for all threads: unpacking is the limit.
 */
#include "backends/cuda/kernels/args-outprod.h"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 128
#define COLS    8

/* The tile's sums over k; a and b begin at its matrices, b at its column. */
template <typename T>
GB_DEVICE void
add_products(const gb_cuda_out_prod_args &args, const char *a, const char *b,
             int64_t i, int n_cols, float sum[COLS])
{
    for (int64_t k = 0; k < args.a.ne[1]; k++) {
        const float x = gb_value((const T *)(a + k * args.a.nb[1]), i);

        GB_UNROLL
        for (int j = 0; j < COLS; j++)
            if (j < n_cols)
                sum[j] = gb_fma(x,
                                *(const float *)(b + j * args.b.nb[0] +
                                                 k * args.b.nb[1]),
                                sum[j]);
    }
}

template <typename T>
GB_DEVICE void
out_prod_tile(const gb_cuda_out_prod_args &args, int64_t number)
{
    const int64_t i =
        gb_take_index(&number, args.i_tiles) * THREADS + gb_thread();
    const int64_t j = gb_take_index(&number, args.j_tiles) * COLS;
    const int64_t i2 = gb_take_index(&number, args.dst.ne[2]), i3 = number;
    const int64_t a2 = i2 / gb_quotient(args.b.ne[2], args.a.ne[2]);
    const int64_t a3 = i3 / gb_quotient(args.b.ne[3], args.a.ne[3]);
    const int64_t left = args.dst.ne[1] - j;
    const int n_cols = left < COLS ? (int)left : COLS;
    float sum[COLS] = { 0.0f };

    if (i >= args.dst.ne[0])
        return;
    add_products<T>(args, gb_row_data(args.a, { 0, a2, a3 }),
                    gb_row_data(args.b, { 0, i2, i3 }) + j * args.b.nb[0], i,
                    n_cols, sum);
    GB_UNROLL
    for (int c = 0; c < COLS; c++)
        if (c < n_cols)
            *(float *)(gb_row_data(args.dst, { j + c, i2, i3 }) +
                       i * args.dst.nb[0]) = sum[c];
}

template <typename T>
GB_DEVICE void
out_prod(const gb_cuda_out_prod_args &a)
{
    for (int64_t n = gb_block(); n < a.n_tiles; n += gb_n_blocks())
        out_prod_tile<T>(a, n);
}

#define GB_CUDA_FLOATS(TYPE, name, type)             \
    GB_KERNEL(THREADS, gb_out_prod_##name, out_prod) \
    {                                                \
        out_prod<type>(a);                           \
    }
#define GB_CUDA_BLOCKS(TYPE, name) GB_CUDA_FLOATS(TYPE, name, gb_##name)
#include "backends/cuda/kernels/formats.def"
