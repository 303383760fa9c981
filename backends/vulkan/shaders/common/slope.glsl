// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/slope.glsl - how much a mask counts for a head.
#ifndef GB_SLOPE_GLSL
#define GB_SLOPE_GLSL

// ALiBi ("Train Short, Test Long", arXiv 2108.12409, section 3): the first
// POWER heads have a geometric sequence of slopes, those beyond every other one
// of the sequence for twice as many.
float gb_slope(float max_bias, uint power, uint head)
{
    if (max_bias <= 0.0)
        return 1.0;
    if (head < power)
        return exp2(-max_bias / float(power) * float(head + 1u));
    return exp2(-max_bias / float(2u * power) *
                float(2u * (head - power) + 1u));
}

#endif
