/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/move.cu - values moved to other places, bit by bit, converted to
 * another floating-point type, or added up.
 *
 * Blocks of 256 threads, one unit or element of dst a thread, in steps of the
 * grid.  Limited by memory where units are large and rows dense, else by the
 * divisions that find an element.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/kernels/rows.cuh"
#include "backends/cuda/kernels/tensor.cuh"

/* One unit of SIZE bytes; both addresses are multiples of that. */
GB_DEVICE void
move_unit(int size, char *to, const char *from)
{
    if (size == 4)
        *(uint32_t *)to = *(const uint32_t *)from;
    else if (size == 2)
        *(uint16_t *)to = *(const uint16_t *)from;
    else if (size == 16)
        *(gb_float4 *)to = *(const gb_float4 *)from;
    else if (size == 8)
        *(uint64_t *)to = *(const uint64_t *)from;
    else
        *to = *from;
}

GB_DEVICE void
clear_unit(int size, char *to)
{
    if (size == 4)
        *(uint32_t *)to = 0;
    else if (size == 2)
        *(uint16_t *)to = 0;
    else if (size == 8)
        *(uint64_t *)to = 0;
    else
        *to = 0;
}

/* src0 in row-major order becomes dst in row-major order; shapes may differ. */
GB_KERNEL(256, gb_copy, move)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads())
        move_unit(a.size, gb_element(a.dst, gb_index_of(n, a.dst.ne)),
                  gb_element(a.src0, gb_index_of(n, a.src0.ne)));
}

/* The same for contiguous tensors in units of 16 bytes. */
GB_KERNEL(256, gb_copy_contiguous, move)
{
    gb_float4 *const dst = (gb_float4 *)a.dst.data;
    const gb_float4 *const src = (const gb_float4 *)a.src0.data;

    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads())
        dst[n] = src[n];
}

GB_KERNEL(256, gb_convert, convert)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const char *const src = gb_element(a.src, gb_index_of(n, a.src.ne));

        gb_store_at(gb_element(a.dst, gb_index_of(n, a.dst.ne)), a.dst_type,
                    gb_float_at(src, a.src_type));
    }
}

/* dst = src0, repeated along the dimensions in which it is shorter. */
GB_KERNEL(256, gb_repeat, move)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);

        move_unit(a.size, gb_element(a.dst, at),
                  gb_repeated_element(a.src0, at));
    }
}

/* src1 behind src0 along dimension dim. */
GB_KERNEL(256, gb_concat, move)
{
    const int64_t first = a.src0.ne[a.dim];

    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        gb_index at = gb_index_of(n, a.dst.ne);
        char *const to = gb_element(a.dst, at);
        bool is_second = false;

        GB_UNROLL
        for (int d = 0; d < 4; d++)
            if (d == a.dim && at.i[d] >= first) {
                at.i[d] -= first;
                is_second = true;
            }
        move_unit(a.size, to,
                  is_second ? gb_element(a.src1, at) : gb_element(a.src0, at));
    }
}

/* src0 with zeros behind it along each dimension. */
GB_KERNEL(256, gb_pad, move)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        char *const to = gb_element(a.dst, at);

        if (at.i[0] < a.src0.ne[0] && at.i[1] < a.src0.ne[1] &&
            at.i[2] < a.src0.ne[2] && at.i[3] < a.src0.ne[3])
            move_unit(a.size, to, gb_element(a.src0, at));
        else
            clear_unit(a.size, to);
    }
}

/* Rows of src0 with their mirror images on both sides, the elements at the ends
 * being the mirrors. */
GB_KERNEL(256, gb_pad_reflect, move)
{
    const int64_t last = a.src0.ne[0] - 1;

    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        gb_index at = gb_index_of(n, a.dst.ne);
        char *const to = gb_element(a.dst, at);

        at.i[0] -= a.before;
        if (at.i[0] < 0)
            at.i[0] = -at.i[0];
        if (at.i[0] > last)
            at.i[0] = 2 * last - at.i[0];
        move_unit(a.size, to, gb_element(a.src0, at));
    }
}

/*
 * The element of N that is nearest to element I of N_DST.  The quotient is a
 * float's, truncated to an integer, as programs that use this interface expect;
 * it can hit the neighbour for factors such as 3 or 7, which are not exact.
 */
GB_DEVICE int64_t
nearest(int64_t i, int64_t n_dst, int64_t n)
{
    const float factor = (float)n_dst / (float)n;
    const int64_t from = (int64_t)((float)i / factor);

    return from < n ? from : n - 1;
}

GB_KERNEL(256, gb_upscale, move)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        gb_index at = gb_index_of(n, a.dst.ne);
        char *const to = gb_element(a.dst, at);

        GB_UNROLL
        for (int d = 0; d < 4; d++)
            at.i[d] = nearest(at.i[d], a.dst.ne[d], a.src0.ne[d]);
        move_unit(a.size, to, gb_element(a.src0, at));
    }
}

/*
 * A thread block a row of dst, a row of src1 to each: rows of dst that overlap
 * are written in order when there is one block.
 */
GB_KERNEL(256, gb_set, move)
{
    const int64_t rows = a.dst.ne[1] * a.dst.ne[2] * a.dst.ne[3];

    for (int64_t n = gb_block(); n < rows; n += gb_n_blocks()) {
        const gb_row at = gb_row_of(n, a.dst.ne);
        char *const to = gb_row_data(a.dst, at);
        const char *const from = gb_row_data(a.src1, at);

        for (int64_t i = gb_thread(); i < a.dst.ne[0]; i += 256)
            move_unit(a.size, to + i * a.dst.nb[0], from + i * a.src1.nb[0]);
        gb_sync();
    }
}

/* The same, src being added to dst. */
GB_KERNEL(256, gb_acc_f32, acc)
{
    const int64_t rows = a.dst.ne[1] * a.dst.ne[2] * a.dst.ne[3];

    for (int64_t n = gb_block(); n < rows; n += gb_n_blocks()) {
        const gb_row at = gb_row_of(n, a.dst.ne);
        float *const to = (float *)gb_row_data(a.dst, at);
        const char *const from = gb_row_data(a.src, at);

        for (int64_t i = gb_thread(); i < a.dst.ne[0]; i += 256)
            to[i] += *(const float *)(from + i * a.src.nb[0]);
        gb_sync();
    }
}

/* The element of tile TILE that is added to the element AT of dst. */
GB_DEVICE float
of_tile(const gb_cuda_repeat_back_args &a, gb_index at, int64_t tile)
{
    const gb_index in = gb_index_of(tile, a.tiles);

    GB_UNROLL
    for (int d = 0; d < 4; d++)
        at.i[d] += in.i[d] * a.dst.ne[d];
    return gb_float_at(gb_element(a.src, at), a.src_type);
}

/* An element a thread: for many elements. */
GB_KERNEL(256, gb_repeat_back, repeat_back)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        float sum = 0.0f;

        for (int64_t tile = 0; tile < a.n_tiles; tile++)
            sum += of_tile(a, at, tile);
        *(float *)gb_element(a.dst, at) = sum;
    }
}

/* A thread block for each element: for few of many tiles. */
GB_KERNEL(256, gb_repeat_back_by_block, repeat_back)
{
    for (int64_t n = gb_block(); n < a.n; n += gb_n_blocks()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        float sum = 0.0f;

        for (int64_t tile = gb_thread(); tile < a.n_tiles; tile += 256)
            sum += of_tile(a, at, tile);
        sum = gb_block_sum<256>(sum);
        if (gb_thread() == 0)
            *(float *)gb_element(a.dst, at) = sum;
    }
}
