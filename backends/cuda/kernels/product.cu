/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/product.cu - what comes before and after a product of matrices:
 * sorting columns by expert, joining the splits of k, rescaling columns.
 *
 * Sorting: one thread block of 256 threads, a thread an expert, in steps of the
 * block; each goes through all ids twice.  So the order is that of the pairs,
 * whatever the threads do; reading the ids is the limit.  Joining: one thread a
 * value, in steps of the grid.  Rescaling what the vendor's BLAS made: a thread
 * block a column; memory is the limit.
 */
#include "backends/cuda/kernels/args-matmul.h"
#include "backends/cuda/kernels/addends.cuh"

/* The expert of a pair; n_experts for an id that is no expert's. */
GB_DEVICE int32_t
expert_of(const gb_cuda_experts_args &a, int32_t slot, int32_t token)
{
    const int32_t id =
        *(const int32_t *)(a.ids.data + slot * a.ids.nb[0] +
                           token * a.ids.nb[1]);

    return id >= 0 && id < a.n_experts ? id : a.n_experts;
}

GB_DEVICE void
count_pairs(const gb_cuda_experts_args &a, int32_t expert)
{
    int32_t count = 0;

    for (int32_t token = 0; token < a.ids.ne[1]; token++)
        for (int32_t slot = 0; slot < a.ids.ne[0]; slot++)
            count += expert_of(a, slot, token) == expert;
    a.counts[expert] = count;
}

GB_DEVICE void
list_pairs(const gb_cuda_experts_args &a, int32_t expert, int32_t first)
{
    int32_t pair = 0;

    for (int32_t token = 0; token < a.ids.ne[1]; token++)
        for (int32_t slot = 0; slot < a.ids.ne[0]; slot++, pair++)
            if (expert_of(a, slot, token) == expert)
                a.pairs[first++] = pair;
}

/* The expert's tiles, from TILE on; the number of the next. */
GB_DEVICE int32_t
list_tiles(const gb_cuda_experts_args &a, int32_t expert, int32_t first,
           int32_t tile)
{
    int32_t left = a.counts[expert];

    for (; left > 0; left -= a.col_step) {
        const int32_t count = left < a.col_step ? left : a.col_step;

        a.tiles[tile++] = { expert, first, count };
        first += count;
    }
    return tile;
}

GB_DEVICE void
list_expert(const gb_cuda_experts_args &a, int32_t expert)
{
    int32_t first = 0, tile = 0;

    for (int32_t before = 0; before < expert; before++) {
        first += a.counts[before];
        tile += (a.counts[before] + a.col_step - 1) / a.col_step;
    }
    tile = list_tiles(a, expert, first, tile);
    list_pairs(a, expert, first);
    for (; expert == a.n_experts && tile < a.n_tiles; tile++)
        a.tiles[tile] = { 0, 0, 0 };
}

GB_KERNEL(256, gb_sort_by_expert, experts)
{
    for (int32_t e = gb_thread(); e <= a.n_experts; e += gb_n_threads())
        count_pairs(a, e);
    gb_sync();
    for (int32_t e = gb_thread(); e <= a.n_experts; e += gb_n_threads())
        list_expert(a, e);
}

/* Value N of one product. */
GB_DEVICE void
join_value(const gb_cuda_join &a, const gb_cuda_addends &more, int64_t n)
{
    const gb_index at = gb_index_of(n, a.dst.ne);
    float sum = a.parts[n];

    for (int64_t split = 1; split < a.n_splits; split++)
        sum += a.parts[split * a.n + n];
    *(float *)gb_element(a.dst, at) = gb_add_all(more, at, sum);
}

GB_KERNEL(256, gb_join_splits, join)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        int64_t left = n;
        int i = 0;

        while (left >= a.of[i].n)
            left -= a.of[i++].n;
        join_value(a.of[i], a.more, left);
    }
}

GB_KERNEL(256, gb_rescale_columns, rescale)
{
    for (int64_t n = gb_block(); n < a.n; n += gb_n_blocks()) {
        const float factor = *(const float *)(a.columns + n * a.column_bytes);
        float *const column = a.dst + n * a.m;

        for (int64_t i = gb_thread(); i < a.m; i += gb_n_threads())
            column[i] *= factor;
    }
}
