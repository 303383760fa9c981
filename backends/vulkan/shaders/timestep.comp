#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/timestep.comp - embeddings of times by sines and cosines.
//
// An invocation an element, 256 a work group; limited by computing.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-timestep.h"
#include "common/math.glsl"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, times, readonly);

// 2^x = 2^n 2^r with |r| <= 1/2, for x from -126 to 127: the specification lets
// exp2() be wrong by some ulp, which count as often as a time is long.
float power_of_2(float x)
{
    const float n = floor(min(max(x, -126.0), 127.0) + 0.5);
    const float r = x - n;
    float q = 1.55946764e-4;

    q = q * r + 1.34066434e-3;
    q = q * r + 9.6176928e-3;
    q = q * r + 5.55031039e-2;
    q = q * r + 2.40226522e-1;
    q = q * r + 6.93147242e-1;
    return (1.0 + q * r) * uintBitsToFloat(uint(int(n) + 127) << 23);
}

float timestep(float time, uint i)
{
    const bool is_sine = i >= p.frequencies;
    const float number = float(is_sine ? i - p.frequencies : i);
    const float phase =
        time * (power_of_2(number * p.high) * power_of_2(number * p.low));

    if (i >= 2u * p.frequencies)
        return 0.0;
    return is_sine ? gb_sin(phase) : gb_cos(phase);
}

void main()
{
    uint row = gb_global();
    uint i;
    float time;

    if (row >= p.n)
        return;
    i = gb_take(row, p.ne0);
    time = gb_f32(times, p.at[1] + row * p.times_nb);
    gb_put_f32(dst, p.at[0] + i * p.dst_nb[0] + row * p.dst_nb[1],
               timestep(time, i));
}
