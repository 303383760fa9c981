#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/floats.comp - rows of any type as floats.
//
// An invocation 8 values of a row, 256 a work group; memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-floats.h"
#include "common/format.glsl"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(2, tables, readonly);
#endif

#ifndef GB_IS_FLOAT
#include "common/unpack.glsl"
#endif
#include "common/row8.glsl"
GB_ROW8

void main()
{
    uint index = gb_global();
    uint i, row, at;
    float v[8];

    if (index >= p.n)
        return;
    i = gb_take(index, (p.ne[0] + 7u) / 8u) * 8u;
    row = index;
    at = p.at[1] + gb_take(index, p.ne[1]) * p.nb[0];
    at += gb_take(index, p.ne[2]) * p.nb[1];
    gb_row8(at + index * p.nb[2], i, p.ne[0], v);
    for (uint j = 0u; j < 8u && i + j < p.ne[0]; j++)
        gb_put_f32(dst, p.at[0] + (row * p.ne[0] + i + j) * 4u, v[j]);
}
