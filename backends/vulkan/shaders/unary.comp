#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/unary.comp - functions of one tensor, element by element.
//
// An invocation an element, 256 a work group; memory is the limit.  The result may
// be multiplied by a second tensor, as what the function gates.
//
// FUNCTION  one more than its number, where IS_FLAT
// IS_FLAT   all are contiguous F32 of one shape; 0: p says what they are
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-unary.h"
#include "unary-functions.h"
#include "common/exact.glsl"
#include "common/tensor.glsl"
#include "common/unary.glsl"

layout(constant_id = 0) const uint FUNCTION = 0;
layout(constant_id = 1) const uint IS_FLAT = 0;
layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, gated, readonly);
GB_OPERAND(3, inner, writeonly);

// X times Y; x goes where somebody else wants it too.
float gate(float x, float y, uint i)
{
    if ((p.flags & GB_VK_UNARY_HAS_INNER) != 0u)
        gb_put_f32(inner, p.at[3] + 4u * i, x);
    return gb_mul(x, y);
}

void main()
{
    const uint i = gb_global();
    uint to, from;
    float x;

    if (i >= p.n)
        return;
    if (IS_FLAT != 0u) {
        x = gb_unary(FUNCTION - 1u, gb_f32(src, p.at[1] + 4u * i), p.p0, p.p1);
        if ((p.flags & GB_VK_UNARY_GATES) != 0u)
            x = gate(x, gb_f32(gated, p.at[2] + 4u * i), i);
        gb_put_f32(dst, p.at[0] + 4u * i, x);
        return;
    }
    to = p.at[0] + gb_offset(i, p.ne, p.dst_nb);
    from = p.at[1] + gb_offset(i, p.ne, p.src_nb);
    x = gb_load(src, p.src_type, from);
    x = gb_unary(p.function, x, p.p0, p.p1);
    if ((p.flags & GB_VK_UNARY_GATES) != 0u) {
        const uint with = p.at[2] + gb_offset(i, p.ne, p.gated_nb);

        x = gate(x, gb_load(gated, p.gated_type, with), i);
    }
    gb_store(dst, p.dst_type, to, x);
}
