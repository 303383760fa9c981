#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/ssmconv.comp - convolutions along tokens.
//
// An invocation an element of the result, 256 a work group; memory is the
// limit.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-ssmconv.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, src, readonly);
GB_OPERAND(2, taps, readonly);

void main()
{
    const uint number = gb_global();
    uint seq = number, channel, token, x, tap;
    float sum = 0.0;

    if (number >= p.n)
        return;
    channel = gb_take(seq, p.ne[0]);
    token = gb_take(seq, p.ne[1]);
    x = p.at[1] + 4u * token + channel * p.src_nb[0] + seq * p.src_nb[1];
    tap = p.at[2] + 4u * channel * p.n_taps;
    for (uint i = 0u; i < p.n_taps; i++)
        sum += gb_f32(src, x + 4u * i) * gb_f32(taps, tap + 4u * i);
    gb_put_f32(dst, p.at[0] + 4u * number, sum);
}
