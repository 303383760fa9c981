/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/im2col.cu - the windows of an image as rows (im2col), by which a
 * convolution becomes a matrix product, and its gradient.
 *
 * One thread an element of the result, 256 a block.  The gradient is a gather
 * for that reason: a pixel adds up all elements of windows that read it, in the
 * order of the kernel's rows and columns.  Memory is the limit, for small
 * kernels the divisions that find an element's place.
 */
#include "backends/cuda/kernels/args-im2col.h"
#include "backends/cuda/kernels/tensor.cuh"

/* The pixel at (X, Y) of a channel of a batch, 0 outside of the image. */
GB_DEVICE float
gb_pixel(const gb_cuda_tensor &image, int64_t x, int64_t y, int64_t channel,
         int64_t batch)
{
    const gb_index at = { { x, y, channel, batch } };

    if (x < 0 || x >= image.ne[0] || y < 0 || y >= image.ne[1])
        return 0.0f;
    return *(const float *)gb_element(image, at);
}

GB_KERNEL(256, gb_im2col_f32, im2col)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.windows.ne);
        int64_t channel = at.i[0];
        const int64_t kx = gb_take_index(&channel, a.k0);
        const int64_t ky = gb_take_index(&channel, a.k1);

        gb_store_at(gb_element(a.windows, at), a.windows_type,
                    gb_pixel(a.image, at.i[1] * a.s0 + kx * a.d0 - a.p0,
                             at.i[2] * a.s1 + ky * a.d1 - a.p1, channel,
                             at.i[3]));
    }
}

/*
 * *window = the window that reads place X with element K of a row or column, of
 * N windows with stride S, padding P and dilation D: the one for which window
 * S + K D - P = X.  False: there is none.
 */
GB_DEVICE bool
gb_window_of(int64_t x, int64_t k, int64_t s, int64_t p, int64_t d, int64_t n,
             int64_t *window)
{
    const int64_t place = x + p - k * d;

    if (place < 0)
        return false;
    *window = gb_quotient(place, s);
    return *window < n && *window * s == place;
}

/* What row KY of the kernel has for the pixel AT from windows of row Y. */
GB_DEVICE float
gb_window_row(const gb_cuda_im2col_args &a, const gb_index &at, int64_t ky,
              int64_t y, float sum)
{
    const int64_t first = (at.i[2] * a.k1 + ky) * a.k0;

    for (int64_t kx = 0; kx < a.k0; kx++) {
        gb_index from = { { first + kx, 0, y, at.i[3] } };

        if (gb_window_of(at.i[0], kx, a.s0, a.p0, a.d0, a.windows.ne[1],
                         &from.i[1]))
            sum += *(const float *)gb_element(a.windows, from);
    }
    return sum;
}

GB_KERNEL(256, gb_im2col_back_f32, im2col)
{
    for (int64_t n = gb_global_thread(); n < a.n; n += gb_global_threads()) {
        const gb_index at = gb_index_of(n, a.image.ne);
        float sum = 0.0f;
        int64_t y;

        for (int64_t ky = 0; ky < a.k1; ky++)
            if (gb_window_of(at.i[1], ky, a.s1, a.p1, a.d1, a.windows.ne[2],
                             &y))
                sum = gb_window_row(a, at, ky, y, sum);
        *(float *)gb_element(a.image, at) = sum;
    }
}
