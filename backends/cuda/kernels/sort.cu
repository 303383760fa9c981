/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/sort.cu - the order of a row's elements.
 *
 * Keys are those of sortkey.cuh, all different.
 *
 * Runs of up to 4096 keys are sorted in shared memory by a bitonic network, a
 * block of 512 threads a run; shared memory is the limit.  Longer rows have
 * several runs, which are merged two by two from scratch to scratch, a launch a
 * round, one thread a key: its place is its own in its run plus the number of
 * smaller keys in the other one, found by binary search.
 */
#include "backends/cuda/kernels/args-sort.h"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/sortkey.cuh"

/* Sort N keys, a power of two: each step compares keys that are DISTANCE apart,
 * in blocks of SIZE that are ascending and descending in turn. */
GB_DEVICE void
gb_bitonic_sort(uint64_t *keys, int n)
{
    for (int size = 2; size <= n; size *= 2)
        for (int distance = size / 2; distance > 0; distance /= 2) {
            for (int i = gb_thread(); i < n / 2; i += gb_n_threads()) {
                const int low = 2 * i - (i & (distance - 1));
                const int high = low + distance;
                const uint64_t a = keys[low];
                const uint64_t b = keys[high];

                if ((a > b) == ((low & size) == 0)) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
            gb_sync();
        }
}

/* Where the index at place I of a row goes. */
GB_DEVICE int *
gb_sorted_index(const gb_cuda_sort_args &a, int64_t row, int64_t i)
{
    const gb_row at = gb_row_of(a.first_row + row, a.dst.ne);

    return (int *)gb_row_data(a.dst, at) + i;
}

/* A key at its place: its index if that is the end of it. */
GB_DEVICE void
gb_put_key(const gb_cuda_sort_args &a, int64_t row, int64_t i, uint64_t key)
{
    if (a.to == nullptr)
        *gb_sorted_index(a, row, i) = (int)(uint32_t)key;
    else
        a.to[row * a.n + i] = key;
}

/* Run number NUMBER: N of its places have keys, those up to PADDED the
 * largest number. */
GB_DEVICE void
gb_sort_run(const gb_cuda_sort_args &a, uint64_t *keys, int64_t number)
{
    const int64_t first = gb_take_index(&number, a.n_runs) * a.run;
    const gb_row at = gb_row_of(a.first_row + number, a.src0.ne);
    const char *x = gb_row_data(a.src0, at);
    const int64_t left = a.n - first;
    const int n = (int)(left < a.run ? left : a.run);
    int padded = 1;

    while (padded < n)
        padded *= 2;
    for (int i = gb_thread(); i < padded; i += gb_n_threads())
        keys[i] = i < n ? gb_sort_key(gb_float_at(x + (first + i) *
                                                          a.src0.nb[0],
                                                  a.src_type),
                                      first + i, a.is_descending)
                        : ~(uint64_t)0;
    gb_sync();
    gb_bitonic_sort(keys, padded);
    for (int i = gb_thread(); i < n; i += gb_n_threads())
        gb_put_key(a, number, first + i, keys[i]);
    gb_sync();
}

GB_KERNEL(512, gb_sort_runs, sort)
{
    GB_DYNAMIC_SHARED(uint64_t, keys);

    for (int64_t number = gb_block(); number < a.n_rows * a.n_runs;
         number += gb_n_blocks())
        gb_sort_run(a, keys, number);
}

/* How many of the N sorted KEYS are smaller than KEY. */
GB_DEVICE int64_t
gb_count_smaller(const uint64_t *keys, int64_t n, uint64_t key)
{
    int64_t first = 0;

    while (n > 0) {
        const int64_t half = n / 2;

        if (keys[first + half] < key) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

/* Key I of a row, in a run that is merged with its neighbour. */
GB_DEVICE void
gb_merge_key(const gb_cuda_sort_args &a, int64_t row, int64_t i)
{
    const uint64_t *keys = a.from + row * a.n;
    const int64_t number = gb_quotient(i, a.run);
    const int64_t first = number * a.run;
    const int64_t other = (number ^ 1) * a.run;
    const int64_t left = a.n - other;
    const int64_t n_other = left < 0 ? 0 : left < a.run ? left : a.run;
    const int64_t begin = first < other ? first : other;

    gb_put_key(a, row,
               begin + (i - first) +
                   gb_count_smaller(keys + other, n_other, keys[i]),
               keys[i]);
}

GB_KERNEL(256, gb_merge_runs, sort)
{
    for (int64_t n = gb_global_thread(); n < a.n_rows * a.n;
         n += gb_global_threads()) {
        int64_t row = n;
        const int64_t i = gb_take_index(&row, a.n);

        gb_merge_key(a, row, i);
    }
}
