// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/halves.glsl - floats as F16, which has few exponents:
// multiplied by a power of two that suits the largest of them.
//
// A shader asks for GL_EXT_shader_explicit_arithmetic_types_float16.
#ifndef GB_HALVES_GLSL
#define GB_HALVES_GLSL

// Below this F16 has so few digits that the largest value would lose some.
#define GB_LEAST_HALF 2.44140625e-4 // 2^-12
#define GB_MOST_HALF  65504.0

float gb_largest(float v[8])
{
    float most = abs(v[0]);

    [[unroll]] for (uint i = 1u; i < 8u; i++)
        most = max(most, abs(v[i]));
    return most;
}

// Are values of which LARGEST is the largest, times BY, none that F16 has well?
bool gb_is_off(float largest, float by)
{
    const float value = largest * by;

    return value > GB_MOST_HALF || (largest > 0.0 && value < GB_LEAST_HALF);
}

// A power of two by which LARGEST becomes 2^14 to 2^15, at most 2^126.
float gb_power_for(float largest)
{
    const int exponent = int(floatBitsToUint(largest) >> 23);

    return uintBitsToFloat(uint(clamp(268 - exponent, 1, 253)) << 23);
}

// 1 / POWER, exactly.
float gb_inverse(float power)
{
    return uintBitsToFloat(0x7f000000u - floatBitsToUint(power));
}

// SUM times two powers, the smaller first, so that no product is beyond F32 that the
// result is not.
float gb_scaled(float sum, float a, float b)
{
    return sum * min(a, b) * max(a, b);
}

// Values times BY, two in a word.
uvec4 gb_halves(float v[8], float by)
{
    uvec4 words;

    [[unroll]] for (uint i = 0u; i < 4u; i++)
        words[i] = packFloat2x16(
            f16vec2(vec2(v[2u * i] * by, v[2u * i + 1u] * by)));
    return words;
}

#endif
