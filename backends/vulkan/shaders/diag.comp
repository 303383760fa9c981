#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/diag.comp - diagonal matrices.
//
// An invocation an element, 256 a work group; limited by writing.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-diag.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);

void main()
{
    const uint i = gb_global();
    uint rest = i;
    uint i0, i1, i2, bits;

    if (i >= p.n)
        return;
    i0 = gb_take(rest, p.ne[0]);
    i1 = gb_take(rest, p.ne[1]);
    i2 = gb_take(rest, p.ne[2]);
    bits = i0 == i1 ? gb_u32(src, p.at[1] + i0 * p.src_nb[0] +
                                      i2 * p.src_nb[2] + rest * p.src_nb[3])
                    : 0u;
    gb_put_u32(dst, p.at[0] + gb_offset(i, p.ne, p.dst_nb), bits);
}
