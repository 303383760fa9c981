/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/conv.cu - transposed convolutions.
 *
 * One thread an element of the result, 256 a block: it adds up, in the order of
 * channels, rows and columns of the kernel, all products that fall on it.  The
 * limit is the cache, from which kernel and input are read again and again.
 */
#include "backends/cuda/kernels/args-conv.h"
#include "backends/cuda/kernels/tensor.cuh"

/* An input element as the kernel's type has it: with a kernel of F16 the
 * interface rounds the input to F16. */
GB_DEVICE float
gb_conv_input(float value, float)
{
    return value;
}

GB_DEVICE float
gb_conv_input(float value, gb_f16)
{
    return gb_float(gb_f16_of(value));
}

/* Row KY of the kernel's channel FROM and row Y of the input for the element
 * AT. */
template <typename T>
GB_DEVICE float
gb_conv_row(const gb_cuda_conv_args &a, const gb_index &at, int64_t from,
            int64_t ky, int64_t y, float sum)
{
    int64_t x = at.i[0];

    for (int64_t kx = gb_take_index(&x, a.stride);
         x >= 0 && kx < a.kernel.ne[0]; kx += a.stride, x--) {
        const gb_index k = { { kx, ky, at.i[2], from } };
        const gb_index i = { { x, y, from, at.i[3] } };

        if (x >= a.input.ne[0])
            continue;
        sum = gb_fma(gb_float(*(const T *)gb_element(a.kernel, k)),
                     gb_conv_input(
                         *(const float *)gb_element(a.input, i), T()),
                     sum);
    }
    return sum;
}

template <typename T>
GB_DEVICE float
gb_conv_element(const gb_cuda_conv_args &a, const gb_index &at)
{
    float sum = 0.0f;

    for (int64_t from = 0; from < a.n_channels; from++) {
        int64_t y = at.i[1];

        for (int64_t ky = gb_take_index(&y, a.stride);
             y >= 0 && ky < a.kernel.ne[1]; ky += a.stride, y--)
            if (y < a.input.ne[1])
                sum = gb_conv_row<T>(a, at, from, ky, y, sum);
    }
    return sum;
}

#define GB_CONV_KERNEL(name, T)                                           \
    GB_KERNEL(256, gb_conv_transpose_##name, conv)                        \
    {                                                                     \
        for (int64_t n = gb_global_thread(); n < a.n;                     \
             n += gb_global_threads()) {                                  \
            const gb_index at = gb_index_of(n, a.dst.ne);                 \
                                                                          \
            *(float *)gb_element(a.dst, at) = gb_conv_element<T>(a, at);  \
        }                                                                 \
    }

GB_CONV_KERNEL(f32, float)
GB_CONV_KERNEL(f16, gb_f16)
