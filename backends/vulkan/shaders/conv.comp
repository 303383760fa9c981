#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/conv.comp - transposed convolutions.
//
// An invocation an element of the result, 256 a work group: it adds up, in the
// order of channels, rows and columns of the kernel, all products that fall on
// it.  The limit is the cache, from which kernel and input are read again and
// again.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-conv.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, kernel, readonly);
GB_OPERAND(2, source, readonly);

// The product of elements at byte K of the kernel and I of the input, which a
// kernel of F16 makes F16, too.
float product(uint k, uint i)
{
    const float x = gb_f32(source, i);

    if (p.is_half == 0u)
        return gb_f32(kernel, k) * x;
    return gb_half_to_float(gb_u16(kernel, k)) *
           gb_half_to_float(gb_float_to_half(x));
}

// What the kernel's row at K and the input's row at I have for column X.
float row_sum(uint k, uint i, uint x, float sum)
{
    uint kx = x % p.stride;
    int from = int(x / p.stride);

    for (; from >= 0 && kx < p.kernel_ne[0]; kx += p.stride, from--)
        if (from < int(p.input_ne[0]))
            sum += product(k + kx * p.kernel_nb[0],
                           i + uint(from) * p.input_nb[0]);
    return sum;
}

void main()
{
    const uint number = gb_global();
    uint batch = number, x, y, to;
    float sum = 0.0;

    if (number >= p.n)
        return;
    x = gb_take(batch, p.ne[0]);
    y = gb_take(batch, p.ne[1]);
    to = gb_take(batch, p.ne[2]);
    for (uint channel = 0u; channel < p.n_channels; channel++) {
        const uint k =
            p.at[1] + to * p.kernel_nb[2] + channel * p.kernel_nb[3];
        const uint i =
            p.at[2] + channel * p.input_nb[2] + batch * p.input_nb[3];
        uint ky = y % p.stride;
        int from = int(y / p.stride);

        for (; from >= 0 && ky < p.kernel_ne[1]; ky += p.stride, from--)
            if (from < int(p.input_ne[1]))
                sum = row_sum(k + ky * p.kernel_nb[1],
                              i + uint(from) * p.input_nb[1], x, sum);
    }
    gb_put_f32(dst, p.at[0] + 4u * number, sum);
}
