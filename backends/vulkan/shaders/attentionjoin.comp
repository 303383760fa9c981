#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/attentionjoin.comp - results of parts of the keys joined.
//
// An invocation an element of dst, 128 a work group; parts in the order of the
// keys. A part that the mask hides has a sum of 0.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-attentionjoin.h"
#include "common/tensor.glsl"
#include "common/math.glsl"

layout(local_size_x = 128) in;
GB_OPERAND(0, dst, writeonly);
GB_OPERAND(1, parts, readonly);

void main()
{
    const uint i = gb_global();
    const uint row = i / p.d;
    const uint first = p.at[1] + row * (p.d + 2u) * 4u;
    const uint step = p.n_rows * (p.d + 2u) * 4u;
    float most = -3e38, sum = 0.0, value = 0.0;

    if (row >= p.n_rows)
        return;
    for (uint part = 0u; part < p.n_parts; part++)
        most = max(most, gb_f32(parts, first + part * step));
    for (uint part = 0u; part < p.n_parts; part++) {
        const uint at = first + part * step;
        const float of_part = gb_f32(parts, at + 4u);

        if (of_part > 0.0) {
            const float factor = gb_exp(gb_f32(parts, at) - most);

            sum = fma(of_part, factor, sum);
            value = fma(gb_f32(parts, at + 8u + i % p.d * 4u), factor, value);
        }
    }
    gb_put_f32(dst, p.at[0] + i * 4u, sum > 0.0 ? value / sum : 0.0);
}
