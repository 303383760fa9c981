// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack.glsl - eight values at a time of operand
// weights.
//
//   gb_unpack8(at, part, v)   values 8 * part … 8 * part + 7 of the block that
//                             begins at byte AT, a multiple of 2 (of 4 for
//                             types whose blocks are)
//   gb_unpack1(at)            one value, of types without blocks
//
// A shader includes format.glsl, declares weights (and tables, if
// GB_USES_TABLE), and then includes this.  Quantised types are read by three
// functions, which a shader may call by themselves; a value is scale * code -
// min:
//
//   gb_codes8(at, part)   the codes, a byte each, the first lowest; of two's
//                         complement where GB_CODES_ARE_SIGNED
//   gb_scale8(at, part)
//   gb_min8(at, part)
//
// scale * code is exact for every type, so that a fused subtraction gives no
// other result than two operations.
#ifndef GB_UNPACK_GLSL
#define GB_UNPACK_GLSL

#if defined GB_IS_FLOAT
#include "unpack-float.glsl"
#else
#include "unpack-words.glsl"
#if defined GB_USES_TABLE
#include "unpack-iq.glsl"
#elif defined GB_TYPE_TQ1_0 || defined GB_TYPE_TQ2_0
#include "unpack-tq.glsl"
#elif defined GB_TYPE_IQ4_NL || defined GB_TYPE_IQ4_XS
#include "unpack-iq4.glsl"
#elif GB_BLOCK == 32
#include "unpack-32.glsl"
#else
#include "unpack-k.glsl"
#endif

// Bits of a code, and what is added to it by gb_big_code(): conversions of integers
// are slow on cards, so a code's bits become those of a float behind an exponent.
// Signed ones are larger by 128 before.
#if defined GB_CODES_ARE_SIGNED
#define GB_CODE_BITS 8u
#elif defined GB_TYPE_Q6_K
#define GB_CODE_BITS 6u
#elif defined GB_TYPE_Q5_0 || defined GB_TYPE_Q5_1 || defined GB_TYPE_Q5_K || \
    defined GB_TYPE_IQ1_S || defined GB_TYPE_IQ1_M
#define GB_CODE_BITS 5u
#elif defined GB_TYPE_Q3_K
#define GB_CODE_BITS 3u
#elif defined GB_TYPE_Q2_K || defined GB_TYPE_TQ1_0 || defined GB_TYPE_TQ2_0
#define GB_CODE_BITS 2u
#else
#define GB_CODE_BITS 4u
#endif
#ifdef GB_CODES_ARE_SIGNED
#define GB_CODE_OFFSET 384.0
#else
#define GB_CODE_OFFSET float(1u << GB_CODE_BITS)
#endif

// Codes as gb_big_code() takes them.
uvec2 gb_big_codes8(uint at, uint part)
{
#ifdef GB_CODES_ARE_SIGNED
    return gb_codes8(at, part) ^ 0x80808080u;
#else
    return gb_codes8(at, part);
#endif
}

// Code I, and GB_CODE_OFFSET.
float gb_big_code(uvec2 codes, uint i)
{
    const uint word = i < 4u ? codes.x : codes.y;
    const uint at = 8u * (i & 3u);
    const uint to = 23u - GB_CODE_BITS;
    const uint bits = at <= to ? word << to - at : word >> at - to;
    const uint mask = (1u << GB_CODE_BITS) - 1u << to;

    return uintBitsToFloat(bits & mask | 127u + GB_CODE_BITS << 23);
}

void gb_unpack8(uint at, uint part, out float v[8])
{
    const uvec2 codes = gb_big_codes8(at, part);
    const float scale = gb_scale8(at, part);
    // Read once, since compilers may not know that both are the same.
#ifdef GB_MIDDLE
    const float least = GB_MIDDLE * scale;
#else
    const float least = gb_min8(at, part);
#endif

    for (uint i = 0u; i < 8u; i++)
        v[i] = scale * (gb_big_code(codes, i) - GB_CODE_OFFSET) - least;
}

#endif
#endif
