// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/dot.glsl - dot products of four bytes, and codes of weights
// for them: gb_dot_codes8(at, part), signed bytes of which a value is
//
//   gb_scale8() * code             or, with DOT_HAS_MIN,
//   gb_scale8() * code - gb_min8()
//
// DOT_HALVES   of types that have a scale for 16 values, and not for 32
//
// Included behind format.glsl and unpack.glsl, with GL_EXT_spirv_intrinsics.
#ifndef GB_DOT_GLSL
#define GB_DOT_GLSL

#if defined GB_TYPE_Q2_K || defined GB_TYPE_Q3_K || defined GB_TYPE_Q6_K
#define DOT_HALVES
#endif
#if defined GB_TYPE_Q4_1 || defined GB_TYPE_Q5_1 || defined GB_TYPE_Q2_K || \
    defined GB_TYPE_Q4_K || defined GB_TYPE_Q5_K
#define DOT_HAS_MIN
#endif

// OpSDotKHR; 6018 and 6019 are its capabilities, for bytes that are packed.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"],
                  capabilities = [6018, 6019], id = 4450)
int gb_dot4_of(int a, int b, spirv_literal int format);

int gb_dot4(uint a, uint b)
{
    return gb_dot4_of(int(a), int(b), 0);
}

// Bits of 1.5 * 2^23: an integer below 2^22 that is added to them is added to it.
#define DOT_ZERO 0x4b400000

// SUM and the product of 16 bytes.
int gb_dot16(uvec4 a, uvec4 b, int sum)
{
    sum += gb_dot4(a.x, b.x);
    sum += gb_dot4(a.y, b.y);
    sum += gb_dot4(a.z, b.z);
    return sum + gb_dot4(a.w, b.w);
}

// A sum that began with DOT_ZERO.
float gb_dot_float(int sum)
{
    return intBitsToFloat(sum) - 12582912.0;
}

// Bytes below 128, less the middle.
uvec2 gb_dot_codes8(uint at, uint part)
{
#ifdef GB_MIDDLE
    const uint middle = uint(GB_MIDDLE) * 0x01010101u;

    return (gb_codes8(at, part) | 0x80808080u) - middle ^ 0x80808080u;
#else
    return gb_codes8(at, part);
#endif
}

#endif
