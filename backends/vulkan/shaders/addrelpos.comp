#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/addrelpos.comp - relative positions added to rows.
//
// An invocation an element, 256 a work group; memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-addrelpos.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, columns, readonly);
GB_OPERAND(3, rows, readonly);

void main()
{
    const uint number = gb_global();
    uint row = number, x, y;

    if (number >= p.n)
        return;
    x = gb_take(row, p.side);
    y = gb_take(row, p.side);
    gb_put_f32(dst, p.at[0] + 4u * number,
               gb_f32(src, p.at[1] + 4u * number) +
                   gb_f32(columns, p.at[2] + 4u * (row * p.side + x)) +
                   gb_f32(rows, p.at[3] + 4u * (row * p.side + y)));
}
