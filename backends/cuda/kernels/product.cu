/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/product.cu - what comes before and after a product of matrices:
 * sorting columns by expert, joining the splits of k, rescaling columns.
 *
 * Sorting: one thread block of 256 threads, a thread an expert, in steps of the
 * block; each goes through all ids twice.  So the order is that of the pairs,
 * whatever the threads do; reading the ids is the limit.  Joining: one thread four
 * neighbouring values, or one where they do not lie so, in steps of the grid;
 * memory is the limit.  Rescaling what the vendor's BLAS made: a thread
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

/* The indices of element N; one division for those of the first matrix. */
GB_DEVICE gb_index
joined_index(int64_t n, const int64_t ne[4])
{
    const int64_t i0 = gb_take_index(&n, ne[0]);

    if (n < ne[1])
        return { { i0, n, 0, 0 } };
    return { { i0, gb_take_index(&n, ne[1]), gb_take_index(&n, ne[2]), n } };
}

/* Value N of one product. */
GB_DEVICE void
join_value(const gb_cuda_join &a, const gb_cuda_addends &more, int64_t n)
{
    const gb_index at = joined_index(n, a.dst.ne);
    float sum = a.parts[n];

    GB_DO_NOT_UNROLL
    for (int64_t split = 1; split < a.n_splits; split++)
        sum += a.parts[split * a.n + n];
    *(float *)gb_element(a.dst, at) = gb_add_all(more, at, sum);
}

GB_DEVICE gb_float4 *
four_at(const gb_cuda_places &places, const gb_index &at)
{
    return (gb_float4 *)gb_place(places, at);
}

/* The sum of fours N of all parts, in order; those of the first are on their way
 * at once. */
GB_DEVICE gb_float4
sum_of_parts(const gb_cuda_join &a, int64_t n)
{
    constexpr int at_once = 4;
    gb_float4 parts[at_once];
    gb_float4 sum;

    GB_UNROLL
    for (int i = 0; i < at_once; i++)
        if (i < a.n_splits)
            parts[i] = *(const gb_float4 *)(a.parts + i * a.n + n);
    sum = parts[0];
    GB_UNROLL
    for (int i = 1; i < at_once; i++)
        if (i < a.n_splits)
            sum = gb_sum_of_4(sum, parts[i]);
    GB_DO_NOT_UNROLL
    for (int64_t i = at_once; i < a.n_splits; i++)
        sum = gb_sum_of_4(sum, *(const gb_float4 *)(a.parts + i * a.n + n));
    return sum;
}

/* Values N to N + 3.  The first addend is read before anything is stored. */
GB_DEVICE void
join_four(const gb_cuda_join &a, const gb_cuda_addends &more, int64_t n)
{
    const gb_index at = joined_index(n, a.dst.ne);
    gb_float4 addend = { { 0.0f, 0.0f, 0.0f, 0.0f } };
    gb_float4 sum;

    if (more.n > 0)
        addend = *four_at(more.addends[0], at);
    sum = sum_of_parts(a, n);
    GB_DO_NOT_UNROLL
    for (int i = 0; i < more.n; i++) {
        if (i > 0)
            addend = *four_at(more.addends[i], at);
        if (more.before[i].data != nullptr)
            *four_at(more.before[i], at) = sum;
        sum = gb_sum_of_4(sum, addend);
    }
    *(gb_float4 *)gb_element(a.dst, at) = sum;
}

/* Do fours of what lies at DATA by NB lie together, at multiples of 16? */
GB_DEVICE bool
is_by_4(const void *data, const int64_t nb[4])
{
    return nb[0] == 4 &&
           ((int64_t)(uintptr_t)data | nb[1] | nb[2] | nb[3]) % 16 == 0;
}

GB_DEVICE bool
is_join_by_4(const gb_cuda_join &a)
{
    return a.n == 0 || (a.dst.ne[0] % 4 == 0 && (uintptr_t)a.parts % 16 == 0 &&
                        is_by_4(a.dst.data, a.dst.nb));
}

GB_DEVICE bool
are_joins_by_4(const gb_cuda_join_args &a)
{
    GB_UNROLL
    for (int i = 0; i < GB_CUDA_MAX_PRODUCTS; i++)
        if (!is_join_by_4(a.of[i]))
            return false;
    for (int i = 0; i < a.more.n; i++)
        if (!is_by_4(a.more.addends[i].data, a.more.addends[i].nb) ||
            (a.more.before[i].data != nullptr &&
             !is_by_4(a.more.before[i].data, a.more.before[i].nb)))
            return false;
    return true;
}

/* JOIN for each STEP values of all products. */
template <int step, void join(const gb_cuda_join &, const gb_cuda_addends &,
                              int64_t)>
GB_DEVICE void
join_all(const gb_cuda_join_args &a)
{
    for (int64_t n = step * gb_global_thread(); n < a.n;
         n += step * gb_global_threads()) {
        int64_t left = n;
        int i = 0;

        while (left >= a.of[i].n)
            left -= a.of[i++].n;
        join(a.of[i], a.more, left);
    }
}

GB_KERNEL_RESIDENT(256, 4, gb_join_splits, join)
{
    if (are_joins_by_4(a))
        join_all<4, join_four>(a);
    else
        join_all<1, join_value>(a);
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
