#version 450
// SPDX-License-Identifier: MIT
//
// vulkan/shaders/quantize32.comp - floats into blocks of 32 values, of the type
// that -D names, with the bits that lib/type/ makes.
//
// An invocation a block, 64 a work group; limited by computing.  Bytes are
// collected as halves of words, which become words where both halves are the
// block's.
#define GB_GLSL
#extension GL_GOOGLE_include_directive : require
#include "params-quantize.h"
#include "common/tensor.glsl"

#define GB_SUB 32
#ifdef GB_TYPE_IQ4_NL
#include "common/search-iq4.glsl"
#else
#include "common/search.glsl"
#endif

layout(local_size_x = 64) in;
GB_OPERAND(0, dst, );
GB_OPERAND(1, src, readonly);

// The block's d, its m or s where it has one, its fifth bits and its bytes.
#if defined GB_TYPE_Q4_0 || defined GB_TYPE_IQ4_NL
#define HALVES 9
#define NIBBLES_AT 1
#elif defined GB_TYPE_Q4_1
#define HALVES 10
#define NIBBLES_AT 2
#elif defined GB_TYPE_Q5_0
#define HALVES 11
#define FIFTH_AT 1
#define NIBBLES_AT 3
#elif defined GB_TYPE_Q5_1
#define HALVES 12
#define FIFTH_AT 2
#define NIBBLES_AT 4
#elif defined GB_TYPE_Q8_0
#define HALVES 17
#define BYTES_AT 1
#elif defined GB_TYPE_Q8_1
#define HALVES 18
#define BYTES_AT 2
#endif

#ifdef NIBBLES_AT
// Code j and code j + 16 in byte j; what codes have above four bits elsewhere.
void put_codes(uint codes[32], inout uint halves[HALVES])
{
    for (uint i = 0u; i < 8u; i++)
        halves[NIBBLES_AT + i] =
            (codes[2u * i] & 15u) | (codes[2u * i + 16u] & 15u) << 4 |
            (codes[2u * i + 1u] & 15u) << 8 |
            (codes[2u * i + 17u] & 15u) << 12;
#ifdef FIFTH_AT
    halves[FIFTH_AT] = 0u;
    halves[FIFTH_AT + 1] = 0u;
    for (uint i = 0u; i < 16u; i++) {
        halves[FIFTH_AT] |= codes[i] >> 4 << i;
        halves[FIFTH_AT + 1] |= codes[i + 16u] >> 4 << i;
    }
#endif
}
#endif

#if defined GB_TYPE_Q4_0 || defined GB_TYPE_Q5_0

#ifdef GB_TYPE_Q4_0
#define TOP 8.0
#else
#define TOP 16.0
#endif

// Codes of x / d + top, halves rounded up: 0 to 2 * top - 1.
void pack(float x[32], out uint halves[HALVES])
{
    const float d = gb_largest(x) * (-1.0 / TOP);
    const float inverse = gb_inverse(d);
    uint codes[32];

    for (uint i = 0u; i < 32u; i++)
        codes[i] = gb_truncate(gb_add(gb_mul(x[i], inverse), TOP + 0.5),
                               2.0 * TOP - 1.0);
    halves[0] = gb_float_to_half(d);
    put_codes(codes, halves);
}

#elif defined GB_TYPE_Q4_1 || defined GB_TYPE_Q5_1

#ifdef GB_TYPE_Q4_1
#define TOP 15.0
#else
#define TOP 31.0
#endif

// Codes of (x - least) / d, halves rounded up: 0 to top.
void pack(float x[32], out uint halves[HALVES])
{
    const vec2 range = gb_range_of(x);
    const float d = gb_divide(gb_sub(range.y, range.x), TOP);
    const float inverse = gb_inverse(d);
    uint codes[32];

    for (uint i = 0u; i < 32u; i++)
        codes[i] = gb_truncate(
            gb_add(gb_mul(gb_sub(x[i], range.x), inverse), 0.5), TOP);
    halves[0] = gb_float_to_half(d);
    halves[1] = gb_float_to_half(range.x);
    put_codes(codes, halves);
}

#elif defined GB_TYPE_IQ4_NL

// One candidate, and its scale fitted: quick enough for activations.
void pack(float x[32], out uint halves[HALVES])
{
    const float largest = gb_largest(x);
    const float inverse = gb_inverse(gb_divide(largest, -127.0));
    const bool is_zero = abs(largest) < GB_SEARCH_TINY;
    const float d = gb_fit_scale(gb_fit_iq4(x, inverse));
    uint codes[32];
    float value;

    for (uint i = 0u; i < 32u; i++)
        codes[i] =
            is_zero ? 0u : gb_iq4_nearest(gb_mul(inverse, x[i]), value);
    halves[0] = is_zero ? 0u : gb_float_to_half(d);
    put_codes(codes, halves);
}

#else

void pack(float x[32], out uint halves[HALVES])
{
    const float d = gb_divide(abs(gb_largest(x)), 127.0);
    const float inverse = gb_inverse(d);
    int sum = 0;

    halves[0] = gb_float_to_half(d);
    for (uint i = 0u; i < 16u; i++) {
        const int low = gb_round_away(gb_mul(x[2u * i], inverse), 127.0);
        const int high = gb_round_away(gb_mul(x[2u * i + 1u], inverse), 127.0);

        sum += low + high;
        halves[BYTES_AT + i] = (uint(low) & 255u) | (uint(high) & 255u) << 8;
    }
#ifdef GB_TYPE_Q8_1
    halves[1] = gb_float_to_half(gb_mul(d, float(sum)));
#endif
}

#endif

void put_halves(uint to, uint halves[HALVES])
{
#if HALVES % 2 == 0
    for (uint i = 0u; i < HALVES; i += 2u)
        gb_put_u32(dst, to + 2u * i, halves[i] | halves[i + 1u] << 16);
#else
    if ((to & 2u) == 0u) {
        for (uint i = 0u; i + 1u < HALVES; i += 2u)
            gb_put_u32(dst, to + 2u * i, halves[i] | halves[i + 1u] << 16);
        gb_put_u16(dst, to + 2u * (HALVES - 1u), halves[HALVES - 1]);
    } else {
        gb_put_u16(dst, to, halves[0]);
        for (uint i = 1u; i < HALVES; i += 2u)
            gb_put_u32(dst, to + 2u * i, halves[i] | halves[i + 1u] << 16);
    }
#endif
}

void main()
{
    const uint i = gb_global();
    const uint size = p.src_type == GB_VK_F32 ? 4u : 2u;
    uint from;
    float x[32];
    uint halves[HALVES];

    if (i >= p.n)
        return;
    from = p.at[1] + gb_offset(32u * i, p.src_ne, p.src_nb);
    for (uint j = 0u; j < 32u; j++)
        x[j] = gb_load(src, p.src_type, from + size * j);
    pack(x, halves);
    put_halves(p.at[0] + gb_offset(i, p.dst_ne, p.dst_nb), halves);
}
