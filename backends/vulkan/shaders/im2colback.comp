#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/im2colback.comp - the gradient of windows of an image as rows.
//
// An invocation a pixel, 256 a work group: it adds up all elements of windows
// that read it, in the order of the kernel's rows and columns.  Memory is the
// limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-im2col.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, image, writeonly);
GB_OPERAND(1, windows, readonly);

// The window that reads PLACE with element K of a row (D is 0) or column: the
// one for which window s + k d - pad = place; or -1.
int window_of(uint place, uint k, uint d)
{
    const int reached = int(place) + p.pad[d] - int(k) * p.d[d];
    const int window = reached / p.s[d];

    if (reached < 0 || window * p.s[d] != reached ||
        window >= int(p.src_ne[d]))
        return -1;
    return window;
}

// Where the windows have element K of the kernel for (x, y).
uint element(uint k, int x, int y)
{
    return p.at[1] + k * p.windows_nb[0] + uint(x) * p.windows_nb[1] +
           uint(y) * p.windows_nb[2];
}

void main()
{
    const uint number = gb_global();
    uint batch = number, x, y, channel;
    float sum = 0.0;

    if (number >= p.n)
        return;
    x = gb_take(batch, p.ne[0]);
    y = gb_take(batch, p.ne[1]);
    channel = gb_take(batch, p.ne[2]);
    for (uint ky = 0u; ky < p.k[1]; ky++) {
        const int window_y = window_of(y, ky, 1u);
        const uint k = (channel * p.k[1] + ky) * p.k[0];

        for (uint kx = 0u; window_y >= 0 && kx < p.k[0]; kx++) {
            const int window_x = window_of(x, kx, 0u);

            if (window_x >= 0)
                sum += gb_f32(windows, element(k + kx, window_x, window_y) +
                                           batch * p.windows_nb[3]);
        }
    }
    gb_put_f32(image, p.at[0] + gb_offset(number, p.ne, p.image_nb), sum);
}
