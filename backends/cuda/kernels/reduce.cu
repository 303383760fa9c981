/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/reduce.cu - one number from a row or from everything.
 *
 * Sums of rows: a warp a row, eight (of 64 lanes: four) a block of 256 threads,
 * up to 512 elements; a block of 512 threads for longer rows.  Sums of all are
 * made in two launches: blocks of 256 threads sum up parts of a fixed size, and
 * one block then sums up the parts, so that the order is always the same.  All
 * read each element once: memory is the limit.
 */
#include "backends/cuda/kernels/args-reduce.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/tensor.cuh"

/* ---- sums ---- */

template <typename team, typename T>
GB_DEVICE void
gb_sum_rows_row(const gb_cuda_sum_rows_args &a, int64_t row)
{
    const gb_row at = gb_row_of(row, a.src0.ne);
    const char *x = gb_row_data(a.src0, at);
    const int64_t stride = a.src0.nb[0];
    float sum = 0.0f;

    for (int64_t i = team::rank(); i < a.src0.ne[0]; i += team::size)
        sum += gb_float(*(const T *)(x + i * stride));
    sum = team::sum(sum) / a.divisor;
    if (team::rank() == 0)
        gb_store_at(gb_row_data(a.dst, at), a.dst_type, sum);
}

#define GB_SUM_ROWS_KERNELS(name, T)                                        \
    GB_KERNEL(256, gb_sum_rows_##name##_warp, sum_rows)                     \
    {                                                                       \
        gb_each_row<gb_warp_team<256>, gb_cuda_sum_rows_args,               \
                    gb_sum_rows_row<gb_warp_team<256>, T>>(a, a.n_rows);    \
    }                                                                       \
    GB_KERNEL(512, gb_sum_rows_##name##_block, sum_rows)                    \
    {                                                                       \
        gb_each_row<gb_block_team<512>, gb_cuda_sum_rows_args,              \
                    gb_sum_rows_row<gb_block_team<512>, T>>(a, a.n_rows);   \
    }

GB_SUM_ROWS_KERNELS(f32, float)
GB_SUM_ROWS_KERNELS(f16, gb_f16)
GB_SUM_ROWS_KERNELS(bf16, gb_bf16)

/* An element as a term of a sum. */
template <typename T>
GB_DEVICE float
gb_sum_term(const gb_cuda_parts_args &a, int64_t i)
{
    const gb_index at = gb_index_of(i, a.src0.ne);

    return gb_float(*(const T *)gb_element(a.src0, at));
}

GB_DEVICE float
gb_equal_term(const gb_cuda_parts_args &a, int64_t i)
{
    const gb_index at = gb_index_of(i, a.src0.ne);

    return *(const int *)gb_element(a.src0, at) ==
                   *(const int *)gb_element(a.src1, at)
               ? 1.0f
               : 0.0f;
}

/* The sum of the terms of one part; counts are exact, being below 2^24. */
template <float (*term)(const gb_cuda_parts_args &, int64_t)>
GB_DEVICE void
gb_sum_part(const gb_cuda_parts_args &a, int64_t part)
{
    const int64_t first = part * a.per_part;
    const int64_t left = a.n - first;
    const int64_t n = left < a.per_part ? left : a.per_part;
    float sum = 0.0f;

    for (int64_t i = gb_thread(); i < n; i += 256)
        sum += term(a, first + i);
    sum = gb_block_sum<256>(sum);
    if (gb_thread() == 0)
        a.parts[part] = sum;
}

#define GB_PARTS_KERNEL(name, term)                                        \
    GB_KERNEL(256, name, parts)                                            \
    {                                                                      \
        gb_each_row<gb_block_team<256>, gb_cuda_parts_args,                \
                    gb_sum_part<term>>(a, a.n_parts);                      \
    }

GB_PARTS_KERNEL(gb_sum_parts_f32, gb_sum_term<float>)
GB_PARTS_KERNEL(gb_sum_parts_f16, gb_sum_term<gb_f16>)
GB_PARTS_KERNEL(gb_sum_parts_bf16, gb_sum_term<gb_bf16>)
GB_PARTS_KERNEL(gb_count_parts_i32, gb_equal_term)

/* One block: each thread's counts, then those of all threads. */
GB_KERNEL(256, gb_join_counts, join_counts)
{
    GB_SHARED int64_t counts[256];
    int64_t count = 0;

    for (int64_t i = gb_thread(); i < a.n_parts; i += 256)
        count += (int64_t)a.parts[i];
    counts[gb_thread()] = count;
    gb_sync();
    if (gb_thread() != 0)
        return;
    for (int i = 1; i < 256; i++)
        count += counts[i];
    *a.dst = count;
}

/* ---- the place of the largest element ---- */

struct gb_place {
    float value;
    int index;
};

/* The larger one, of equal ones the later; a NaN is never larger. */
GB_DEVICE gb_place
gb_later_largest(gb_place a, gb_place b)
{
    const bool is_b =
        b.value > a.value || (b.value == a.value && b.index > a.index);

    return is_b ? b : a;
}

GB_DEVICE gb_place
gb_warp_largest(gb_place place)
{
    for (int mask = GB_WARP / 2; mask > 0; mask /= 2) {
        gb_place other;

        other.value = gb_shuffle_xor(place.value, mask);
        other.index = gb_shuffle_xor(place.index, mask);
        place = gb_later_largest(place, other);
    }
    return place;
}

/* A block of 256 threads a row. */
template <typename T>
GB_DEVICE void
gb_argmax_row(const gb_cuda_argmax_args &a, int64_t row)
{
    GB_SHARED gb_place places[256 / GB_WARP];
    const char *x = a.src0.data + row * a.src0.nb[1];
    gb_place place = { -GB_INFINITY, 0 };

    for (int64_t i = gb_thread(); i < a.src0.ne[0]; i += 256) {
        const gb_place at = {
            gb_float(*(const T *)(x + i * a.src0.nb[0])), (int)i
        };

        place = gb_later_largest(place, at);
    }
    place = gb_warp_largest(place);
    gb_sync();
    if (gb_lane() == 0)
        places[gb_warp()] = place;
    gb_sync();
    if (gb_thread() != 0)
        return;
    for (int i = 1; i < 256 / GB_WARP; i++)
        place = gb_later_largest(place, places[i]);
    *(int *)(a.dst.data + row * a.dst.nb[0]) = place.index;
}

#define GB_ARGMAX_KERNEL(name, T)                                     \
    GB_KERNEL(256, gb_argmax_##name, argmax)                          \
    {                                                                 \
        gb_each_row<gb_block_team<256>, gb_cuda_argmax_args,          \
                    gb_argmax_row<T>>(a, a.src0.ne[1]);               \
    }

GB_ARGMAX_KERNEL(f32, float)
GB_ARGMAX_KERNEL(f16, gb_f16)
GB_ARGMAX_KERNEL(bf16, gb_bf16)
