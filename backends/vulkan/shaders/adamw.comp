#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/adamw.comp - a step of AdamW.
//
// An invocation an element, 256 a work group; memory is the limit.
//
// Source: "Decoupled Weight Decay Regularization" (arXiv 1711.05101), algorithm
// 2, with the corrections of the bias given as factors.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-adamw.h"
#include "common/tensor.glsl"

layout(local_size_x = 256) in;
GB_OPERAND(0, weights, );
GB_OPERAND(1, gradient, readonly);
GB_OPERAND(2, first, );
GB_OPERAND(3, second, );
GB_OPERAND(4, params, readonly);

float param(uint i)
{
    return gb_f32(params, p.at[4] + 4u * i);
}

// With gradient g and moments m and v:
//     m = beta1 m + (1 - beta1) g
//     v = beta2 v + (1 - beta2) g^2
//     w = (1 - alpha wd) w - alpha m beta1h / (sqrt(v beta2h) + eps)
void main()
{
    const uint i = gb_global();
    const float alpha = param(0u), beta1 = param(1u), beta2 = param(2u);
    uint w_at, m_at, v_at;
    float g, m, v, step;

    if (i >= p.n)
        return;
    w_at = p.at[0] + gb_offset(i, p.ne, p.weights_nb);
    m_at = p.at[2] + gb_offset(i, p.ne, p.first_nb);
    v_at = p.at[3] + gb_offset(i, p.ne, p.second_nb);
    g = gb_f32(gradient, p.at[1] + gb_offset(i, p.ne, p.gradient_nb));
    m = beta1 * gb_f32(first, m_at) + (1.0 - beta1) * g;
    v = beta2 * gb_f32(second, v_at) + (1.0 - beta2) * g * g;
    gb_put_f32(first, m_at, m);
    gb_put_f32(second, v_at, v);
    step = m * param(5u) / (sqrt(v * param(6u)) + param(3u));
    gb_put_f32(weights, w_at,
               (1.0 - alpha * param(4u)) * gb_f32(weights, w_at) -
                   alpha * step);
}
