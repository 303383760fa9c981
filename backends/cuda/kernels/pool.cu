/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/pool.cu - the largest or the mean of windows over rows and
 * planes, and the gradient.
 *
 * One thread a window, 256 a block; memory is the limit.  The gradient of a
 * maximum takes two launches: one thread a window finds its largest element,
 * then one thread an element adds up the gradients of the windows that found
 * it, in their order.
 */
#include "backends/cuda/kernels/args-pool.h"
#include "backends/cuda/kernels/tensor.cuh"

#define GB_LARGEST_FLOAT gb_float_of_bits(0x7f7fffff)

/* The part of a plane that a window covers: columns and rows from first to
 * before last, none where last is not larger. */
struct gb_cover {
    int64_t x_first, x_last;
    int64_t y_first, y_last;
};

GB_DEVICE gb_cover
gb_cover_of(const gb_cuda_pool_args &a, int64_t x, int64_t y)
{
    const int64_t x0 = x * a.s0 - a.p0;
    const int64_t y0 = y * a.s1 - a.p1;
    gb_cover cover;

    cover.x_first = x0 > 0 ? x0 : 0;
    cover.x_last = x0 + a.k0 < a.src.ne[0] ? x0 + a.k0 : a.src.ne[0];
    cover.y_first = y0 > 0 ? y0 : 0;
    cover.y_last = y0 + a.k1 < a.src.ne[1] ? y0 + a.k1 : a.src.ne[1];
    return cover;
}

/* A window's largest element, the first of equal ones, its place in the plane,
 * and the sum of all. */
struct gb_window {
    float max;
    float sum;
    int64_t place; /* -1: none is larger than the smallest float */
};

GB_DEVICE gb_window
gb_look_at_window(const gb_cuda_pool_args &a, const gb_index &at)
{
    const gb_cover cover = gb_cover_of(a, at.i[0], at.i[1]);
    const char *plane = a.src.data + at.i[1] * a.row_plane +
                        at.i[2] * a.src.nb[2] + at.i[3] * a.src.nb[3];
    gb_window window = { -GB_LARGEST_FLOAT, 0.0f, -1 };

    for (int64_t y = cover.y_first; y < cover.y_last; y++)
        for (int64_t x = cover.x_first; x < cover.x_last; x++) {
            const float value = gb_float_at(
                plane + y * a.src.nb[1] + x * a.src.nb[0], a.src_type);

            window.sum += value;
            if (value > window.max) {
                window.max = value;
                window.place = y * a.src.ne[0] + x;
            }
        }
    return window;
}

GB_KERNEL(256, gb_pool, pool)
{
    const float size = (float)(a.k0 * a.k1);

    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);
        const gb_window window = gb_look_at_window(a, at);

        *(float *)gb_element(a.dst, at) =
            a.is_max ? window.max : window.sum / size;
    }
}

GB_KERNEL(256, gb_pool_places, pool)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads())
        a.places[n] = gb_look_at_window(a, gb_index_of(n, a.grad.ne)).place;
}

/* Windows that may cover a place, from first to before last. */
struct gb_windows {
    int64_t first, last;
};

/* A place within a plane, moved by a padding, divided by a stride: all fit 32
 * bits. */
GB_DEVICE int64_t
gb_stride_of(int64_t place, int64_t stride)
{
    return (uint32_t)place / (uint32_t)stride;
}

/* Of N windows of SIZE elements, the first at -PADDING; with a stride that is
 * not positive, all of them. */
GB_DEVICE gb_windows
gb_windows_at(int64_t place, int64_t size, int64_t stride, int64_t padding,
              int64_t n)
{
    const int64_t behind = place + padding - size;
    const int64_t last = place + padding;
    gb_windows windows = { 0, n };

    if (stride <= 0)
        return windows;
    if (behind >= 0)
        windows.first = gb_stride_of(behind, stride) + 1;
    windows.last = last < 0 ? 0 : gb_stride_of(last, stride) + 1;
    windows.last = windows.last < n ? windows.last : n;
    return windows;
}

/* An element (x, y) of a plane, the gradients of its windows and the places of
 * their largest elements. */
struct gb_pooled {
    int64_t x, y;
    const char *grads;
    const int64_t *places;
};

GB_DEVICE gb_pooled
gb_pooled_of(const gb_cuda_pool_args &a, const gb_index &at)
{
    const int64_t plane = at.i[3] * a.grad.ne[2] + at.i[2];
    gb_pooled pooled;

    pooled.x = at.i[0];
    pooled.y = at.i[1];
    pooled.grads =
        a.grad.data + at.i[2] * a.grad.nb[2] + at.i[3] * a.grad.nb[3];
    pooled.places = a.places + plane * a.grad.ne[1] * a.grad.ne[0];
    return pooled;
}

/* Does window (X, Y) send something to the element: to its largest one alone,
 * or to all? */
GB_DEVICE bool
gb_sends_to(const gb_cuda_pool_args &a, const gb_pooled &to, int64_t x,
            int64_t y)
{
    const gb_cover cover = gb_cover_of(a, x, y);

    if (a.is_max)
        return to.places[y * a.grad.ne[0] + x] == to.y * a.src.ne[0] + to.x;
    return to.x >= cover.x_first && to.x < cover.x_last &&
           to.y >= cover.y_first && to.y < cover.y_last;
}

GB_DEVICE float
gb_gather_gradient(const gb_cuda_pool_args &a, const gb_pooled &to)
{
    const gb_windows columns =
        gb_windows_at(to.x, a.k0, a.s0, a.p0, a.grad.ne[0]);
    const gb_windows rows =
        gb_windows_at(to.y, a.k1, a.s1, a.p1, a.grad.ne[1]);
    const float size = a.is_max ? 1.0f : (float)(a.k0 * a.k1);
    float sum = 0.0f;

    for (int64_t y = rows.first; y < rows.last; y++)
        for (int64_t x = columns.first; x < columns.last; x++)
            if (gb_sends_to(a, to, x, y))
                sum += *(const float *)(to.grads + y * a.grad.nb[1] +
                                        x * a.grad.nb[0]) /
                       size;
    return sum;
}

GB_KERNEL(256, gb_pool_back, pool)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.dst.ne);

        *(float *)gb_element(a.dst, at) =
            gb_gather_gradient(a, gb_pooled_of(a, at));
    }
}
