#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/unary.comp - functions of one tensor, element by element.
//
// An invocation an element, 256 a work group; memory is the limit.  The result may
// be multiplied by a second tensor, as what the function gates.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-unary.h"
#include "unary-functions.h"
#include "common/exact.glsl"
#include "common/tensor.glsl"
#include "common/unary.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, gated, readonly);
GB_OPERAND(3, inner, writeonly);

void main()
{
    const uint i = gb_global();
    uint to, from;
    float x;

    if (i >= p.n)
        return;
    to = p.at[0] + gb_offset(i, p.ne, p.dst_nb);
    from = p.at[1] + gb_offset(i, p.ne, p.src_nb);
    x = gb_load(src, p.src_type, from);
    x = gb_unary(p.function, x, p.p0, p.p1);
    if ((p.flags & GB_VK_UNARY_GATES) != 0u) {
        const uint with = p.at[2] + gb_offset(i, p.ne, p.gated_nb);
        const float y = gb_mul(x, gb_load(gated, p.gated_type, with));

        if ((p.flags & GB_VK_UNARY_HAS_INNER) != 0u)
            gb_put_f32(inner, p.at[3] + 4u * i, x);
        x = y;
    }
    gb_store(dst, p.dst_type, to, x);
}
