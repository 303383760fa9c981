#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/convert.comp - values of one floating-point type as another.
//
// An invocation a value, or the two values of a word of dst, 256 a work group;
// limited by the divisions that find an element.  Bits go through F32, which
// holds each value of the others.
//
// GB_STORAGE16  may values of two bytes be written by themselves?
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#ifdef GB_STORAGE16
#extension GL_EXT_shader_16bit_storage : require
#endif
#include "params-convert.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, );
GB_OPERAND_OF_HALVES(0, dst)
GB_OPERAND(1, src, readonly);

float value_of(uint i)
{
    const uint at = p.at[1] + gb_offset(i, p.src_ne, p.src_nb);

    return gb_load(src, p.src_type, at);
}

uint bits_of(float value)
{
    return p.dst_type == GB_VK_F16 ? gb_float_to_half(value)
                                   : gb_float_to_bf16(value);
}

void main()
{
    const uint i = gb_global() * p.values;
    uint to;

    if (gb_global() >= p.n)
        return;
    to = p.at[0] + gb_offset(i, p.dst_ne, p.dst_nb);
    if (p.values == 2u)
        gb_put_u32(dst, to,
                   bits_of(value_of(i)) | bits_of(value_of(i + 1u)) << 16);
    else
        gb_store(dst, p.dst_type, to, value_of(i));
}
