/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/route.cu - which experts a token goes to, and how much they count:
 * the softmax of a row, the order of its elements, and those that are picked.
 *
 * A thread block of 256 a row, which stays in shared memory.  Sums are made by one
 * warp, as by the kernels of softmax.cu and reduce.cu for rows as short.  The place
 * of an element is the number of keys that are smaller, which all threads count;
 * latency is the limit.
 */
#include "backends/cuda/kernels/args-route.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/sortkey.cuh"

/* Softmax of N elements at X, by the threads of a warp. */
GB_DEVICE void
route_soft_max(const float *x, int n, float scale, float *values)
{
    float max = -GB_INFINITY;
    float sum = 0.0f;
    float factor;

    for (int i = gb_lane(); i < n; i += GB_WARP) {
        const float score = scale * x[i];

        max = score > max ? score : max;
    }
    max = gb_warp_max(max);
    max = max == -GB_INFINITY ? 0.0f : max;
    for (int i = gb_lane(); i < n; i += GB_WARP) {
        values[i] = gb_exp(scale * x[i] - max);
        sum += values[i];
    }
    sum = gb_warp_sum(sum);
    factor = sum == 0.0f ? 0.0f : 1.0f / sum;
    for (int i = gb_lane(); i < n; i += GB_WARP)
        values[i] *= factor;
}

/* Element I of row N of T, if somebody sees it. */
template <typename T>
GB_DEVICE void
route_put(const gb_cuda_route_rows &t, int64_t n, int i, T value)
{
    if (t.data != nullptr)
        ((T *)(t.data + n * t.stride))[i] = value;
}

/* The elements that come first in ORDER, and those by their sum, by a warp. */
GB_DEVICE void
route_pick(const gb_cuda_route_args &a, int64_t row, const float *values,
           const int *order)
{
    float sum = 0.0f;

    for (int i = gb_lane(); i < a.n_picked; i += GB_WARP) {
        route_put(a.picked, row, i, values[order[i]]);
        sum += values[order[i]];
    }
    sum = gb_warp_sum(sum);
    if (gb_lane() == 0)
        route_put(a.sums, row, 0, sum);
    for (int i = gb_lane(); i < a.n_picked; i += GB_WARP)
        route_put(a.shares, row, i, values[order[i]] / sum);
}

GB_KERNEL(256, gb_route, route)
{
    GB_SHARED float values[GB_CUDA_ROUTE_MOST];
    GB_SHARED uint64_t keys[GB_CUDA_ROUTE_MOST];
    GB_SHARED int order[GB_CUDA_ROUTE_MOST];

    for (int64_t row = gb_block(); row < a.n_rows; row += gb_n_blocks()) {
        if (gb_warp() == 0)
            route_soft_max((const float *)(a.src.data + row * a.src.stride),
                           a.n, a.scale, values);
        gb_sync();
        for (int i = gb_thread(); i < a.n; i += 256) {
            keys[i] = gb_sort_key(values[i], i, a.is_descending);
            route_put(a.values, row, i, values[i]);
        }
        gb_sync();
        for (int i = gb_thread(); i < a.n; i += 256) {
            int place = 0;

            for (int j = 0; j < a.n; j++)
                place += keys[j] < keys[i];
            order[place] = i;
            route_put(a.order, row, place, i);
        }
        gb_sync();
        if (gb_warp() == 0)
            route_pick(a, row, values, order);
        gb_sync();
    }
}
