#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/arange.comp - numbers in equal steps.
//
// An invocation a number, 256 a work group; limited by writing.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-arange.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);

void main()
{
    const uint i = gb_global();
    precise float value;

    if (i >= p.n)
        return;
    value = p.start + p.step * float(i);
    gb_put_f32(dst, p.at[0] + 4u * i, value);
}
