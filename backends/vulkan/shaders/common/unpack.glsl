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

// Byte I of codes.
float gb_code(uvec2 codes, uint i)
{
    const uint word = i < 4u ? codes.x : codes.y;
#ifdef GB_CODES_ARE_SIGNED
    return float(bitfieldExtract(int(word), int(8u * (i & 3u)), 8));
#else
    return float(bitfieldExtract(word, int(8u * (i & 3u)), 8));
#endif
}

void gb_unpack8(uint at, uint part, out float v[8])
{
    const uvec2 codes = gb_codes8(at, part);
    const float scale = gb_scale8(at, part);
    // Read once, since compilers may not know that both are the same.
#ifdef GB_MIDDLE
    const float least = GB_MIDDLE * scale;
#else
    const float least = gb_min8(at, part);
#endif

    for (uint i = 0u; i < 8u; i++)
        v[i] = scale * gb_code(codes, i) - least;
}

#endif
#endif
