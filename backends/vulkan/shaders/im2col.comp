#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/im2col.comp - the windows of an image as rows (im2col), by
// which a convolution becomes a matrix product.
//
// An invocation two elements of the result, which are one word where those have
// two bytes; 256 a work group.  Memory is the limit, for small kernels the
// divisions that find an element's place.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-im2col.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, windows, );
GB_OPERAND(1, image, readonly);

// Element NUMBER of the windows: a pixel, 0 outside of the image.
float pixel(uint number)
{
    uint channel = gb_take(number, p.ne[0]);
    const uint x = gb_take(number, p.ne[1]);
    const uint y = gb_take(number, p.ne[2]);
    const uint kx = gb_take(channel, p.k[0]);
    const uint ky = gb_take(channel, p.k[1]);
    const int at_x = int(x) * p.s[0] + int(kx) * p.d[0] - p.pad[0];
    const int at_y = int(y) * p.s[1] + int(ky) * p.d[1] - p.pad[1];

    if (at_x < 0 || at_x >= int(p.src_ne[0]) || at_y < 0 ||
        at_y >= int(p.src_ne[1]))
        return 0.0;
    return gb_f32(image, p.at[1] + uint(at_x) * p.image_nb[0] +
                             uint(at_y) * p.image_nb[1] +
                             channel * p.image_nb[2] + number * p.image_nb[3]);
}

void put(uint number, float value)
{
    const uint to = p.at[0] + gb_offset(number, p.ne, p.windows_nb);

    gb_store(windows, p.type, to, value);
}

uint bits(float value)
{
    return p.type == GB_VK_F16 ? gb_float_to_half(value)
                               : gb_float_to_bf16(value);
}

void main()
{
    const uint number = 2u * gb_global();
    float first, second;

    if (number >= p.n)
        return;
    first = pixel(number);
    if (number + 1u == p.n) {
        put(number, first);
        return;
    }
    second = pixel(number + 1u);
    if (p.type != GB_VK_F32 && p.is_dense != 0u && (p.at[0] & 3u) == 0u) {
        gb_put_u32(windows, p.at[0] + 2u * number,
                   bits(first) | bits(second) << 16);
        return;
    }
    put(number, first);
    put(number + 1u, second);
}
