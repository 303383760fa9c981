/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/window.cu - images divided into windows, and positions inside of
 * them.
 *
 * One thread an element of the result, 256 a block; memory is the limit.
 */
#include "backends/cuda/kernels/args-window.h"
#include "backends/cuda/kernels/tensor.cuh"

/* *to = *from, or 0 where FROM is NULL, for elements of SIZE bytes. */
GB_DEVICE void
gb_move_element(char *to, const char *from, int size)
{
    if (size == 4)
        *(uint32_t *)to = from == nullptr ? 0 : *(const uint32_t *)from;
    else if (size == 2)
        *(uint16_t *)to = from == nullptr ? 0 : *(const uint16_t *)from;
    else if (size == 8)
        *(uint64_t *)to = from == nullptr ? 0 : *(const uint64_t *)from;
    else
        *to = from == nullptr ? 0 : *from;
}

/* Where the element AT of dst comes from: windows of an image. */
GB_DEVICE const char *
gb_part_source(const gb_cuda_window_args &a, const gb_index &at)
{
    int64_t row = at.i[3];
    const int64_t column = gb_take_index(&row, a.across);
    const gb_index from = { { at.i[0], column * a.side + at.i[1],
                              row * a.side + at.i[2], 0 } };

    if (from.i[1] >= a.src0.ne[1] || from.i[2] >= a.src0.ne[2])
        return nullptr;
    return gb_element(a.src0, from);
}

/* The image again. */
GB_DEVICE const char *
gb_unpart_source(const gb_cuda_window_args &a, const gb_index &at)
{
    int64_t column = at.i[1];
    int64_t row = at.i[2];
    gb_index from = at;

    from.i[1] = gb_take_index(&column, a.side);
    from.i[2] = gb_take_index(&row, a.side);
    from.i[3] = row * a.across + column;
    return gb_element(a.src0, from);
}

/* A row of a table by the distance of two positions. */
GB_DEVICE const char *
gb_rel_pos_source(const gb_cuda_window_args &a, const gb_index &at)
{
    const gb_index from = {
        { at.i[0], a.dst.ne[1] - 1 - at.i[1] + at.i[2], 0, 0 }
    };

    return gb_element(a.src0, from);
}

#define GB_WINDOW_KERNEL(name, source)                                    \
    GB_KERNEL(256, name, window)                                          \
    {                                                                     \
        for (int64_t n = gb_global_thread(); n < a.n;                     \
             n += gb_global_threads()) {                                  \
            const gb_index at = gb_index_of(n, a.dst.ne);                 \
                                                                          \
            gb_move_element(gb_element(a.dst, at), source(a, at), a.size); \
        }                                                                 \
    }

GB_WINDOW_KERNEL(gb_win_part, gb_part_source)
GB_WINDOW_KERNEL(gb_win_unpart, gb_unpart_source)
GB_WINDOW_KERNEL(gb_get_rel_pos, gb_rel_pos_source)

GB_KERNEL(256, gb_add_rel_pos_f32, add_rel_pos)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        int64_t row = n;
        const int64_t x = gb_take_index(&row, a.side);
        const int64_t y = gb_take_index(&row, a.side);

        a.dst[n] = a.src0[n] + a.columns[row * a.side + x] +
                   a.rows[row * a.side + y];
    }
}
