/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/rows.cuh - walking the rows of strided tensors, and the threads
 * that share a row.
 *
 * A row is what lies along dimension 0.  Rows are counted in index order,
 * row = i1 + ne[1] * (i2 + ne[2] * i3), whatever the strides are.
 */
#ifndef GB_CUDA_KERNELS_ROWS_CUH
#define GB_CUDA_KERNELS_ROWS_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/device.cuh"

/* N / D for counts; most fit 32 bits, of which a division takes a quarter of
 * the time. */
GB_DEVICE int64_t
gb_quotient(int64_t n, int64_t d)
{
    if ((uint64_t)(n | d) >> 32 == 0)
        return (uint32_t)n / (uint32_t)d;
    return (int64_t)((uint64_t)n / (uint64_t)d);
}

/* Takes N % D off N: n becomes the quotient, the remainder is the result. */
GB_DEVICE int64_t
gb_take_index(int64_t *n, int64_t d)
{
    const int64_t quotient = gb_quotient(*n, d);
    const int64_t index = *n - quotient * d;

    *n = quotient;
    return index;
}

/* Indices along dimensions 1 to 3. */
struct gb_row {
    int64_t i1, i2, i3;
};

/* Row N of a tensor with counts NE. */
GB_DEVICE gb_row
gb_row_of(int64_t n, const int64_t ne[4])
{
    gb_row row;

    row.i1 = gb_take_index(&n, ne[1]);
    row.i2 = gb_take_index(&n, ne[2]);
    row.i3 = n;
    return row;
}

/* The same, without a division for rows of the first matrix. */
GB_DEVICE gb_row
gb_quick_row_of(int64_t n, const int64_t ne[4])
{
    if (n < ne[1])
        return { n, 0, 0 };
    return gb_row_of(n, ne);
}

GB_DEVICE char *
gb_row_data(const gb_cuda_tensor &t, const gb_row &row)
{
    return t.data + row.i1 * t.nb[1] + row.i2 * t.nb[2] + row.i3 * t.nb[3];
}

/* The element at FROM, of a type that the launch gave. */
GB_DEVICE float
gb_float_at(const char *from, int type)
{
    if (type == GB_CUDA_F32)
        return *(const float *)from;
    if (type == GB_CUDA_F16)
        return gb_float(*(const gb_f16 *)from);
    return gb_float(*(const gb_bf16 *)from);
}

GB_DEVICE void
gb_store_at(char *to, int type, float value)
{
    if (type == GB_CUDA_F32)
        gb_store((float *)to, value);
    else if (type == GB_CUDA_F16)
        gb_store((gb_f16 *)to, value);
    else
        gb_store((gb_bf16 *)to, value);
}

/*
 * A team is the threads that share a row, of a block of THREADS: a warp for a
 * short row, all of them for a long one.  Threads of a team take elements
 * rank(), rank() + size and so on; all of them must come to sum() and max(),
 * which give each the same.  sum_once<use>() is a sum that takes less, where a
 * kernel comes to each use once.
 */
template <int threads>
struct gb_warp_team {
    static constexpr int size = GB_WARP;
    static constexpr int teams = threads / GB_WARP; /* of a block */

    GB_DEVICE int
    rank()
    {
        return gb_lane();
    }

    GB_DEVICE int
    number()
    {
        return gb_warp();
    }

    GB_DEVICE float
    sum(float value)
    {
        return gb_warp_sum(value);
    }

    template <int use>
    GB_DEVICE float
    sum_once(float value)
    {
        return gb_warp_sum(value);
    }

    GB_DEVICE float
    max(float value)
    {
        return gb_warp_max(value);
    }
};

template <int threads>
struct gb_block_team {
    static constexpr int size = threads;
    static constexpr int teams = 1;

    GB_DEVICE int
    rank()
    {
        return gb_thread();
    }

    GB_DEVICE int
    number()
    {
        return 0;
    }

    GB_DEVICE float
    sum(float value)
    {
        return gb_block_sum<threads>(value);
    }

    template <int use>
    GB_DEVICE float
    sum_once(float value)
    {
        return gb_block_sum_once<threads, use>(value);
    }

    GB_DEVICE float
    max(float value)
    {
        return gb_block_max<threads>(value);
    }
};

/*
 * ROW(a, row number) for each of N_ROWS rows, all threads of a team at once.
 * A is a kernel's argument.
 */
template <typename team, typename args, void (*row)(const args &, int64_t)>
GB_DEVICE void
gb_each_row(const args &a, int64_t n_rows)
{
    const int64_t first = gb_block() * team::teams + team::number();

    for (int64_t n = first; n < n_rows; n += gb_n_blocks() * team::teams)
        row(a, n);
}

#endif
