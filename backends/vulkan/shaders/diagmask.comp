#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/diagmask.comp - a matrix with all right of a diagonal
// replaced.
//
// An invocation an element, 256 a work group; memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-diagmask.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);

void main()
{
    const uint i = gb_global();
    uint rest = i;
    uint column, row, bits;

    if (i >= p.n)
        return;
    column = gb_take(rest, p.ne[0]);
    row = gb_take(rest, p.ne[1]);
    bits = column > p.n_past + row
        ? p.value
        : gb_u32(src, p.at[1] + gb_offset(i, p.ne, p.src_nb));
    gb_put_u32(dst, p.at[0] + gb_offset(i, p.ne, p.dst_nb), bits);
}
