/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/pack.cu - activations as products read them.
 *
 * F32: one thread a value.  q8 activations: 32 threads a block of 32 values, in
 * which they find the largest by butterfly.  Halves: a thread block a column,
 * which it reads twice.  256 threads; memory is the limit.
 */
#include "backends/cuda/kernels/q8.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 256

template <typename T>
GB_DEVICE void
pack_f32(const gb_cuda_pack_args &a)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        int64_t number = n;
        const int64_t i = gb_take_index(&number, a.src.ne[0]);
        const gb_row row = gb_row_of(number, a.src.ne);

        ((float *)gb_row_data(a.dst, row))[i] =
            gb_value((const T *)gb_row_data(a.src, row), i);
    }
}

template <typename T>
GB_DEVICE void
pack_q8(const gb_cuda_pack_args &a)
{
    for (int64_t first = gb_block() * THREADS; first < a.n;
         first += gb_n_blocks() * THREADS) {
        const bool is_inside = first + gb_thread() < a.n;
        int64_t number = is_inside ? first + gb_thread() : 0;
        const int64_t i = gb_take_index(&number, a.src.ne[0]);
        const gb_row row = gb_row_of(number, a.src.ne);

        const int64_t block = row.i1 * a.dst.nb[1] + row.i2 * a.dst.nb[2] +
                              row.i3 * a.dst.nb[3] + i / 32;

        gb_store_q8(a.dst.data, block, (int)(i % 32),
                    gb_value((const T *)gb_row_data(a.src, row), i),
                    is_inside);
    }
}

template <typename T>
GB_DEVICE float
column_factor(const T *row, int64_t n)
{
    float largest = 0.0f;

    for (int64_t i = gb_thread(); i < n; i += THREADS) {
        const float x = gb_magnitude(gb_value(row, i));

        largest = x > largest ? x : largest;
    }
    return gb_f16_factor(gb_block_max<THREADS>(largest));
}

template <typename T, typename D>
GB_DEVICE void
pack_column(const T *row, char *to, int64_t n, float factor)
{
    const int64_t steps = (n + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP;

    if (gb_thread() == 0)
        *(float *)to = 1.0f / factor;
    for (int64_t i = gb_thread(); i < steps * GB_CUDA_K_STEP;
         i += THREADS)
        gb_store((D *)(to + GB_CUDA_HALVES_HEAD) + i,
                 i < n ? gb_value(row, i) * factor : 0.0f);
}

template <typename T>
GB_DEVICE void
pack_f16(const gb_cuda_pack_args &a)
{
    for (int64_t n = gb_block(); n < a.n; n += gb_n_blocks()) {
        const gb_row row = gb_row_of(n, a.src.ne);
        const T *from = (const T *)gb_row_data(a.src, row);
        const float factor = column_factor(from, a.src.ne[0]);

        pack_column<T, gb_f16>(from, gb_row_data(a.dst, row), a.src.ne[0],
                               factor);
    }
}

/* The range of bf16 is that of float: no factor. */
template <typename T>
GB_DEVICE void
pack_bf16(const gb_cuda_pack_args &a)
{
    for (int64_t n = gb_block(); n < a.n; n += gb_n_blocks()) {
        const gb_row row = gb_row_of(n, a.src.ne);

        pack_column<T, gb_bf16>((const T *)gb_row_data(a.src, row),
                                gb_row_data(a.dst, row), a.src.ne[0], 1.0f);
    }
}

#define GB_CUDA_PACKING(PACKING, packing, TYPE, name, type, VARIANT) \
    GB_KERNEL(THREADS, gb_pack_##packing##_##name, pack)             \
    {                                                                \
        pack_##packing<type>(a);                                     \
    }
#include "backends/cuda/kernels/packings.def"
#undef GB_CUDA_PACKING
