#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/binary.comp - functions of two tensors, element by element.
//
// An invocation an element, 256 a work group.  Computed in F32, rounded once to
// the type of dst.  All is limited by memory, but what is not contiguous by the
// divisions that find an element.
//
// FUNCTION  one more than its number; 0: p.function is it
// SHAPE     GB_VK_ALIKE, GB_VK_REPEATED: all are contiguous F32; 0: p says
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-binary.h"
#include "common/tensor.glsl"
#include "common/math.glsl"

layout(constant_id = 0) const uint FUNCTION = 0;
layout(constant_id = 1) const uint SHAPE = 0;
layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, a, readonly);
GB_OPERAND(2, b, readonly);

// With s = 1 / (1 + e^-x), silu(x) = x s has the derivative s (1 + x (1 - s)).
float silu_back(float dy, float x)
{
    const float s = gb_sigmoid(x);

    return dy * s * (1.0 + x * (1.0 - s));
}

float binary(float x, float y)
{
    switch (FUNCTION > 0u ? FUNCTION - 1u : p.function) {
    case GB_VK_SUB:
        return x - y;
    case GB_VK_MUL:
        return x * y;
    case GB_VK_DIV:
        return x / y;
    case GB_VK_SILU_BACK:
        return silu_back(x, y);
    }
    return x + y;
}

// Where the element I of dst, of that many along each dimension, is in b.
uint repeated(uint i)
{
    uint at = gb_take(i, p.ne[0]) % p.b_ne[0] * p.b_nb[0];

    at += gb_take(i, p.ne[1]) % p.b_ne[1] * p.b_nb[1];
    at += gb_take(i, p.ne[2]) % p.b_ne[2] * p.b_nb[2];
    return at + i % p.b_ne[3] * p.b_nb[3];
}

void main()
{
    const uint i = gb_global();
    const uint dst_type = p.types & 15u;
    const uint a_type = p.types >> 4 & 15u;
    const uint b_type = p.types >> 8;
    uint to, from, with;
    float x, y;

    if (i >= p.n)
        return;
    if (SHAPE != 0u) {
        x = gb_f32(a, p.at[1] + 4u * i);
        y = gb_f32(b, p.at[2] + 4u * (SHAPE == GB_VK_ALIKE ? i : i % p.n_b));
        gb_put_f32(dst, p.at[0] + 4u * i, binary(x, y));
        return;
    }
    if (p.n_b != 0u) {
        to = p.at[0] + 4u * i;
        from = p.at[1] + 4u * i;
        with = p.at[2] + 4u * (p.n_b == p.n ? i : i % p.n_b);
    } else {
        to = p.at[0] + gb_offset(i, p.ne, p.dst_nb);
        from = p.at[1] + gb_offset(i, p.ne, p.a_nb);
        with = p.at[2] + repeated(i);
    }
    x = gb_load(a, a_type, from);
    y = gb_load(b, b_type, with);
    x = binary(x, y);
    gb_store(dst, dst_type, to, x);
}
