#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/attentionjoin.comp - results of parts of the keys joined.
//
// An invocation an element of dst, 128 a work group; parts in the order of the
// keys. A part that the mask hides has a sum of 0.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require
#include "params-attentionjoin.h"
#include "common/tensor.glsl"
#include "common/math.glsl"

#define AT_ONCE 8u // parts that are read before any is used

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
    for (uint part = 0u; part < p.n_parts; part += AT_ONCE)
        [[unroll]] for (uint j = 0u; j < AT_ONCE; j++)
            most = max(most, gb_f32(parts, first + min(part + j, p.n_parts - 1u) *
                                                       step));
    for (uint part = 0u; part < p.n_parts; part += AT_ONCE) {
        float of_max[AT_ONCE], of_part[AT_ONCE], of_value[AT_ONCE];

        [[unroll]] for (uint j = 0u; j < AT_ONCE; j++) {
            const uint at = first + min(part + j, p.n_parts - 1u) * step;

            of_max[j] = gb_f32(parts, at);
            of_part[j] = part + j < p.n_parts ? gb_f32(parts, at + 4u) : 0.0;
            of_value[j] = gb_f32(parts, at + 8u + i % p.d * 4u);
        }
        [[unroll]] for (uint j = 0u; j < AT_ONCE; j++) {
            if (of_part[j] > 0.0) {
                const float factor = gb_exp(of_max[j] - most);

                sum = fma(of_part[j], factor, sum);
                value = fma(of_value[j], factor, value);
            }
        }
    }
    gb_put_f32(dst, p.at[0] + i * 4u, sum > 0.0 ? value / sum : 0.0);
}
