/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/attention.cuh - what a thread block of attention works on: rows
 * of a group of heads, a part of the keys, a range of the results' elements.
 * args-attention.h says what these are.
 */
#ifndef GB_CUDA_KERNELS_ATTENTION_CUH
#define GB_CUDA_KERNELS_ATTENTION_CUH

#include "backends/cuda/kernels/args-attention.h"
#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/rows.cuh"

/* Of rows and keys; its elements of results. */
struct gb_attention_tile {
    int64_t batch, first_head, first_row, part, first_key, end_key;
    int first, width;
};

/* Tile N, of ROWS rows and up to RANGE elements. */
GB_DEVICE gb_attention_tile
gb_tile_of(const gb_cuda_attention_args &a, int64_t n, int rows, int range)
{
    const int d = (int)a.q.ne[0];
    gb_attention_tile t;

    t.first = (int)gb_take_index(&n, a.ranges) * range;
    t.width = d - t.first < range ? d - t.first : range;
    t.part = gb_take_index(&n, a.n_parts);
    t.first_row = gb_take_index(&n, a.row_tiles) * rows;
    t.first_head = gb_take_index(&n, a.groups) * a.group;
    t.batch = n;
    t.first_key = t.part * a.part;
    t.end_key = t.first_key + a.part;
    if (t.end_key > a.n_keys)
        t.end_key = a.n_keys;
    return t;
}

/* The token and the head of row N of a tile's group. */
struct gb_attention_query {
    int64_t token, head;
};

GB_DEVICE gb_attention_query
gb_query_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
            int64_t n)
{
    gb_attention_query result;

    result.head = t.first_head + gb_take_index(&n, a.group);
    result.token = n;
    return result;
}

/* The row of dst that has its result, as a number. */
GB_DEVICE int64_t
gb_result_of(const gb_cuda_attention_args &a, const gb_attention_tile &t,
             const gb_attention_query &q)
{
    return q.head + a.q.ne[2] * (q.token + a.q.ne[1] * t.batch);
}

/* The matrix of keys or values that a tile's heads use. */
GB_DEVICE const char *
gb_matrix_of(const gb_cuda_tensor &of, const gb_cuda_sharing &sharing,
             const gb_attention_tile &t)
{
    return of.data + gb_quotient(t.first_head, sharing.heads) * of.nb[2] +
           gb_quotient(t.batch, sharing.batches) * of.nb[3];
}

/*
 * The factor of the mask for a head: with P the largest power of two up to the
 * number of heads, 2^(-max_bias / P * (head + 1)) for the first P heads, and
 * every other one of the sequence for 2 P heads for the others ("Train Short,
 * Test Long", arXiv 2108.12409, section 3).
 */
GB_DEVICE float
gb_slope_of(float max_bias, int64_t n_heads, int64_t head)
{
    int64_t power = 1;

    if (max_bias <= 0.0f)
        return 1.0f;
    while (2 * power <= n_heads)
        power *= 2;
    if (head < power)
        return gb_exp2(-max_bias / (float)power * (float)(head + 1));
    return gb_exp2(-max_bias / (float)(2 * power) *
                   (float)(2 * (head - power) + 1));
}

#endif
