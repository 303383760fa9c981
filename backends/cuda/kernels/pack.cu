/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/pack.cu - activations as products read them.
 *
 * F32: one thread a value.  q8 activations: 32 threads a block of 32 values, in
 * which they find the largest by butterfly.  Halves: a thread block a column,
 * which it reads twice.  256 threads; memory is the limit.
 */
#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/unpack.cuh"

#define THREADS 256

/* |X|, infinite for a NaN, so that the largest of values tells of one. */
GB_DEVICE float
magnitude(float x)
{
    return x != x ? gb_float_of_bits(0x7f800000) : x < 0.0f ? -x : x;
}

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

/* To nearest, ties away from zero; 0 where the block has an infinity or a NaN,
 * whose results are NaN by the scale. */
GB_DEVICE int
code_of(float x, float largest)
{
    const float scaled = 127.0f / largest * x;

    if (!(largest > 0.0f && largest < gb_float_of_bits(0x7f800000)))
        return 0;
    return (int)(scaled + (scaled < 0.0f ? -0.5f : 0.5f));
}

/* All threads of a warp, 32 of them for the same block. */
GB_DEVICE void
pack_q8_value(gb_cuda_q8 *block, int i, float x, bool is_inside)
{
    const float largest = gb_warp_max<32>(magnitude(x));
    const float d = largest / 127.0f;
    const int code = code_of(x, largest);
    const float sum = gb_warp_sum<16>((float)code);

    if (!is_inside)
        return;
    ((int8_t *)block->qs)[i] = (int8_t)code;
    if (i == 0)
        block->d = d;
    if (i % 16 == 0)
        block->sums[i / 16] = d * sum;
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

        pack_q8_value((gb_cuda_q8 *)gb_row_data(a.dst, row) + i / 32,
                      (int)(i % 32),
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
        const float x = magnitude(gb_value(row, i));

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
