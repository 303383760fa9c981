/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/getrows.cu - rows picked by their numbers, and the gradient.
 *
 * GET_ROWS: one thread a value, or four neighbours of a format in blocks, in
 * steps of the grid; 256 threads a block; memory is the limit.  GET_ROWS_BACK:
 * one thread a value of dst, which goes through all numbers, so that sums have
 * the order of the numbers; their reading, equal for all threads, is the limit.
 *
 * A number that is no row's gives zeros, or adds nothing: the host does not
 * look at the numbers, and nothing outside the tensor may be read.
 */
#include "backends/cuda/kernels/args-getrows.h"
#include "backends/cuda/kernels/tensor.cuh"
#include "backends/cuda/kernels/unpack.cuh"

/* Address of the row of src that a row of dst is; NULL for none. */
GB_DEVICE const char *
source_row(const gb_cuda_get_rows_args &a, const gb_index &at)
{
    const int32_t row =
        *(const int32_t *)(a.ids.data + at.i[1] * a.ids.nb[0] +
                           at.i[2] * a.ids.nb[1] + at.i[3] * a.ids.nb[2]);

    if (row < 0 || row >= a.src.ne[1])
        return nullptr;
    return a.src.data + row * a.src.nb[1] + at.i[2] * a.src.nb[2] +
           at.i[3] * a.src.nb[3];
}

/* Four bytes are moved as they are: floats, or integers. */
struct words {
    uint32_t bits;
};

GB_DEVICE void
get_value(words *to, const words *from)
{
    to->bits = from != nullptr ? from->bits : 0;
}

template <typename T>
GB_DEVICE void
get_value(float *to, const T *from)
{
    *to = from != nullptr ? gb_float(*from) : 0.0f;
}

template <typename T, typename D>
GB_DEVICE void
get_rows_of_values(const gb_cuda_get_rows_args &a)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const char *row = source_row(a, at);

        get_value((D *)gb_element(a.dst, at),
                  row != nullptr ? (const T *)(row + at.i[0] * a.src.nb[0])
                                 : nullptr);
    }
}

template <typename T>
GB_DEVICE void
get_rows_of_blocks(const gb_cuda_get_rows_args &a)
{
    const int64_t units[4] = { a.dst.ne[0] / 4, a.dst.ne[1], a.dst.ne[2],
                               a.dst.ne[3] };

    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        gb_index at = gb_index_of(n, units);
        const char *row = source_row(a, at);
        float values[4] = { 0.0f, 0.0f, 0.0f, 0.0f };
        float *to;

        at.i[0] *= 4;
        to = (float *)gb_element(a.dst, at);
        if (row != nullptr)
            gb_values<4>((const T *)row, at.i[0], values);
        GB_UNROLL
        for (int i = 0; i < 4; i++)
            to[i] = values[i];
    }
}

template <typename T>
GB_DEVICE void
get_rows_back(const gb_cuda_get_rows_back_args &a)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const int64_t i0 = n % a.dst.ne[0], row = n / a.dst.ne[0];
        float sum = 0.0f;

        for (int64_t i = 0; i < a.ids.ne[0]; i++)
            if (*(const int32_t *)(a.ids.data + i * a.ids.nb[0]) == row)
                sum += gb_float(*(const T *)(a.src.data + i0 * a.src.nb[0] +
                                             i * a.src.nb[1]));
        *(float *)(a.dst.data + i0 * a.dst.nb[0] + row * a.dst.nb[1]) = sum;
    }
}

GB_KERNEL(256, gb_get_rows_i32, get_rows)
{
    get_rows_of_values<words, words>(a);
}

#define GB_CUDA_FLOATS(TYPE, name, type)             \
    GB_KERNEL(256, gb_get_rows_##name, get_rows)     \
    {                                                \
        get_rows_of_values<type, float>(a);          \
    }                                                \
    GB_KERNEL(256, gb_get_rows_back_##name, get_rows_back) \
    {                                                \
        get_rows_back<type>(a);                      \
    }
#define GB_CUDA_BLOCKS(TYPE, name)               \
    GB_KERNEL(256, gb_get_rows_##name, get_rows) \
    {                                            \
        get_rows_of_blocks<gb_##name>(a);        \
    }
#include "backends/cuda/kernels/formats.def"
