/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/pack.cu - activations as products read them.
 *
 * F32: one thread a value.  q8 activations: 8 threads a block of 32 values, or 32
 * where rows of F32 do not begin at multiples of 16, in which they find the largest
 * by butterfly.  Halves: a thread block a column, which it keeps in registers where
 * it is F32 and has up to 8,192 values, and else reads twice.  256 threads; memory
 * is the limit.
 */
#include "backends/cuda/kernels/columns.cuh"
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

/* Do rows of T consist of fours of floats, at multiples of 16? */
GB_DEVICE bool
has_fours(const gb_cuda_tensor &, const void *)
{
    return false;
}

GB_DEVICE bool
has_fours(const gb_cuda_tensor &t, const float *)
{
    const int64_t all =
        (int64_t)(uintptr_t)t.data | t.nb[1] | t.nb[2] | t.nb[3];

    return all % 16 == 0 && t.ne[0] % 4 == 0;
}

GB_DEVICE void
pack_q8_by_4(const gb_cuda_pack_args &a)
{
    for (int64_t first = gb_block() * THREADS; first < a.n / 4;
         first += gb_n_blocks() * THREADS) {
        const bool is_inside = first + gb_thread() < a.n / 4;
        int64_t number = is_inside ? first + gb_thread() : 0;
        const int64_t i = gb_take_index(&number, a.src.ne[0] / 4);
        const gb_row row = gb_quick_row_of(number, a.src.ne);
        const int64_t block = row.i1 * a.dst.nb[1] + row.i2 * a.dst.nb[2] +
                              row.i3 * a.dst.nb[3] + i / 8;

        gb_store_q8_by_4(a.dst.data, block, (int)(i % 8 * 4),
                         ((const gb_float4 *)gb_row_data(a.src, row))[i],
                         is_inside);
    }
}

template <typename T>
GB_DEVICE void
pack_q8(const gb_cuda_pack_args &a)
{
    if (has_fours(a.src, (const T *)nullptr)) {
        pack_q8_by_4(a);
        return;
    }
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

/* A column of N values that the block keeps. */
#define KEPT 8 /* fours of a thread */

GB_DEVICE void
pack_kept_column(const gb_float4 *from, char *to, int n)
{
    const int end = (n + GB_CUDA_K_STEP - 1) / GB_CUDA_K_STEP * GB_CUDA_K_STEP;
    gb_float4 x[KEPT];
    float largest = 0.0f, factor;

    GB_UNROLL
    for (int k = 0; k < KEPT; k++) {
        const int i = gb_thread() + k * THREADS;

        x[k] = { { 0.0f, 0.0f, 0.0f, 0.0f } };
        if (i < n / 4)
            x[k] = from[i];
    }
    GB_UNROLL
    for (int k = 0; k < KEPT; k++)
        largest = gb_larger_magnitude_of_4(largest, x[k]);
    factor = gb_store_halves_head<gb_block_team<THREADS>>(to, largest);
    GB_UNROLL
    for (int k = 0; k < KEPT; k++) {
        const int i = 4 * (gb_thread() + k * THREADS);

        if (i < end)
            gb_store_halves_four(to, i, x[k], factor);
    }
}

template <typename T>
GB_DEVICE void
pack_f16(const gb_cuda_pack_args &a)
{
    const bool is_kept = a.src.ne[0] <= 4 * KEPT * THREADS &&
                         has_fours(a.src, (const T *)nullptr);

    for (int64_t n = gb_block(); n < a.n; n += gb_n_blocks()) {
        const gb_row row = gb_quick_row_of(n, a.src.ne);
        const T *from = (const T *)gb_row_data(a.src, row);
        float factor;

        if (is_kept) {
            pack_kept_column((const gb_float4 *)from, gb_row_data(a.dst, row),
                             (int)a.src.ne[0]);
            continue;
        }
        factor = column_factor(from, a.src.ne[0]);
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
