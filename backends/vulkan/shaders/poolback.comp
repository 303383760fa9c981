#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/poolback.comp - the gradient of windows over planes.
//
// An invocation an element of a plane, 256 a work group: it adds up the
// gradients of the windows that cover it, or of those whose largest element it
// is, in their order.  Memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-poolback.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, grad, readonly);
GB_OPERAND(2, places, readonly);

// Windows that cover PLACE along dimension D, from first to before last.
ivec2 windows_at(int place, uint d)
{
    const int end = place + p.pad[d];
    const int behind = end - p.k[d];
    const int first = behind >= 0 ? behind / p.s[d] + 1 : 0;

    return ivec2(first, min(end / p.s[d] + 1, int(p.grad_ne[d])));
}

void main()
{
    const uint number = gb_global();
    uint index = number, i2, plane;
    ivec2 at, columns, rows;
    float sum = 0.0;

    if (number >= p.n)
        return;
    at.x = int(gb_take(index, p.ne[0]));
    at.y = int(gb_take(index, p.ne[1]));
    i2 = gb_take(index, p.ne[2]);
    plane = index * p.ne[2] + i2;
    columns = windows_at(at.x, 0u);
    rows = windows_at(at.y, 1u);
    for (int y = rows.x; y < rows.y; y++)
        for (int x = columns.x; x < columns.y; x++) {
            const uint window =
                (plane * p.grad_ne[1] + uint(y)) * p.grad_ne[0] + uint(x);
            const uint from = p.at[1] + uint(x) * p.grad_nb[0] +
                              uint(y) * p.grad_nb[1] + i2 * p.grad_nb[2] +
                              index * p.grad_nb[3];

            if (p.is_max == 0u)
                sum += gb_f32(grad, from) / float(p.k[0] * p.k[1]);
            else if (gb_u32(places, p.at[2] + 4u * window) ==
                     uint(at.y) * p.ne[0] + uint(at.x))
                sum += gb_f32(grad, from);
        }
    gb_put_f32(dst, p.at[0] + gb_offset(number, p.ne, p.dst_nb), sum);
}
