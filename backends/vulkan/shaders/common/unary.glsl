// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unary.glsl - functions of one value by their numbers.
#ifndef GB_UNARY_GLSL
#define GB_UNARY_GLSL

#include "math.glsl"

float gb_swish(float x, float slope)
{
    return x * gb_sigmoid(slope * x);
}

float gb_hard_sigmoid(float x)
{
    return min(max((x + 3.0) / 6.0, 0.0), 1.0);
}

// The tanh form of Gaussian error linear units (arXiv 1606.08415).
float gb_gelu(float x)
{
    const float inner = 0.79788456080286535588 * x * (1.0 + 0.044715 * x * x);

    return 0.5 * x * (1.0 + gb_tanh(inner));
}

float gb_unary(uint function, float x, float p0, float p1)
{
    switch (function) {
    case GB_VK_ABS:
        return abs(x);
    case GB_VK_SGN:
        return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
    case GB_VK_NEG:
        return -x;
    case GB_VK_STEP:
        return x > 0.0 ? 1.0 : 0.0;
    case GB_VK_TANH:
        return gb_tanh(x);
    case GB_VK_ELU:
        return x > 0.0 ? x : gb_expm1(x);
    case GB_VK_RELU:
        return max(x, 0.0);
    case GB_VK_SIGMOID:
        return gb_sigmoid(x);
    case GB_VK_GELU:
        return gb_gelu(x);
    case GB_VK_GELU_QUICK:
        return gb_swish(x, 1.702);
    case GB_VK_SILU:
        return gb_swish(x, 1.0);
    case GB_VK_HARDSWISH:
        return x * gb_hard_sigmoid(x);
    case GB_VK_HARDSIGMOID:
        return gb_hard_sigmoid(x);
    case GB_VK_EXP:
        return gb_exp(x);
    case GB_VK_SQR:
        return x * x;
    case GB_VK_SQRT:
        return sqrt(x);
    case GB_VK_LOG:
        return gb_log(x);
    case GB_VK_SIN:
        return gb_sin(x);
    case GB_VK_COS:
        return gb_cos(x);
    case GB_VK_SCALE:
        return x * p0;
    case GB_VK_CLAMP:
        return min(max(x, p0), p1);
    case GB_VK_LEAKY_RELU:
        return x > 0.0 ? x : x * p0;
    }
    return x;
}

#endif
