#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/join.comp - the sum of the parts of a product whose k was
// split, and what is added to it.
//
// An invocation an element, 256 a work group; parts in their order.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-join.h"
#include "common/exact.glsl"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, parts, readonly);
GB_OPERAND(2, addend, readonly);

void main()
{
    const uint i = gb_global();
    float sum = 0.0;

    if (i >= p.n)
        return;
    for (uint part = 0u; part < p.n_parts; part++)
        sum += gb_f32(parts, p.at[1] + (part * p.n + i) * 4u);
    if (p.has_addend != 0u)
        sum = gb_add(sum, gb_f32(addend, p.at[2] +
                                             gb_offset(i, p.ne, p.addend_nb)));
    gb_put_f32(dst, p.at[0] + gb_offset(i, p.ne, p.dst_nb), sum);
}
