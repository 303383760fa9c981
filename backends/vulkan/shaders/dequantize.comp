#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/dequantize.comp - blocks into floats.
//
// An invocation eight values, 128 a work group; memory is the limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-quantize.h"
#include "common/tensor.glsl"
#include "common/format.glsl"

layout(local_size_x = 128) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, weights, readonly);
#ifdef GB_USES_TABLE
GB_OPERAND(2, tables, readonly);
#endif

#include "common/unpack.glsl"

void main()
{
    const uint i = gb_global();
    const uint parts = GB_BLOCK / 8;
    uint to, from;
    float v[8];

    if (i >= p.n * parts)
        return;
    to = p.at[0] + gb_offset(8u * i, p.dst_ne, p.dst_nb);
    from = p.at[1] + gb_offset(i / parts, p.src_ne, p.src_nb);
    gb_unpack8(from, i % parts, v);
    for (uint j = 0u; j < 8u; j++)
        gb_put_f32(dst, to + 4u * j, v[j]);
}
