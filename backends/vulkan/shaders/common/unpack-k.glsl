// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-k.glsl - blocks of 256 values in sub-blocks of
// 16 or 32, each with a scale of a few bits; see unpack.glsl.

#if defined GB_TYPE_Q2_K || defined GB_TYPE_Q3_K

// Two bits of value e are in byte 32 * (e / 128) + e % 32, from bit
// 2 * (e % 128 / 32) on.
uvec2 gb_two_bits(uint at, uint part)
{
    return gb_pairs8(gb_words2(at + 32u * (part >> 4) + 8u * (part & 3u)),
                     2u * (part >> 2 & 3u));
}

#endif
#if defined GB_TYPE_Q2_K

uvec2 gb_codes8(uint at, uint part)
{
    return gb_two_bits(at + 16u, part);
}

float gb_scale8(uint at, uint part)
{
    return gb_half(at + 80u) * float(gb_byte(at + (part >> 1)) & 15u);
}

float gb_min8(uint at, uint part)
{
    return gb_half(at + 82u) * float(gb_byte(at + (part >> 1)) >> 4);
}

#elif defined GB_TYPE_Q3_K
#define GB_MIDDLE 4.0

uvec2 gb_codes8(uint at, uint part)
{
    const uvec2 high =
        gb_words2(at + 8u * (part & 3u)) >> (part >> 2) & 0x01010101u;

    return gb_two_bits(at + 32u, part) | high << 2;
}

float gb_scale8(uint at, uint part)
{
    const uint i = part >> 1;
    const uint low = gb_byte(at + 96u + (i & 7u)) >> 4u * (i >> 3) & 15u;
    const uint high = gb_byte(at + 104u + (i & 3u)) >> 2u * (i >> 2) & 3u;

    return gb_half(at + 108u) * float(int(low | high << 4) - 32);
}

float gb_min8(uint at, uint part)
{
    return GB_MIDDLE * gb_scale8(at, part);
}

#elif defined GB_TYPE_Q4_K || defined GB_TYPE_Q5_K

uvec2 gb_codes8(uint at, uint part)
{
    const uint column = 8u * (part & 3u);
#if defined GB_TYPE_Q4_K
    return gb_nibbles8(gb_words2(at + 16u + 32u * (part >> 3) + column),
                       part & 4u);
#else
    const uvec2 low = gb_nibbles8(
        gb_words2(at + 48u + 32u * (part >> 3) + column), part & 4u);
    const uvec2 high =
        gb_words2(at + 16u + column) >> (part >> 2) & 0x01010101u;

    return low | high << 4;
#endif
}

// Scale (MINS = 0) or min (1) of sub-block I: the first four are the low six
// bits of a byte each, the others a nibble and the top of a first one's byte.
float gb_six_bits(uint at, uint i, uint mins)
{
    if (i < 4u)
        return float(gb_byte(at + i + 4u * mins) & 63u);
    return float((gb_byte(at + i + 4u) >> 4u * mins & 15u) |
                 gb_byte(at + i - 4u + 4u * mins) >> 6 << 4);
}

float gb_scale8(uint at, uint part)
{
    return gb_half(at) * gb_six_bits(at + 4u, part >> 2, 0u);
}

float gb_min8(uint at, uint part)
{
    return gb_half(at + 2u) * gb_six_bits(at + 4u, part >> 2, 1u);
}

#elif defined GB_TYPE_Q6_K
#define GB_MIDDLE 32.0

uvec2 gb_codes8(uint at, uint part)
{
    const uint half_at = part >> 4;
    const uint k = part >> 2 & 3u;
    const uint column = 8u * (part & 3u);
    const uvec2 low = gb_nibbles8(
        gb_words2(at + 64u * half_at + 32u * (k & 1u) + column), k >> 1 << 2);
    const uvec2 high =
        gb_pairs8(gb_words2(at + 128u + 32u * half_at + column), 2u * k);

    return low | high << 4;
}

float gb_scale8(uint at, uint part)
{
    const uint scale = gb_byte(at + 192u + (part >> 1));

    return gb_half(at + 208u) * float(bitfieldExtract(int(scale), 0, 8));
}

float gb_min8(uint at, uint part)
{
    return GB_MIDDLE * gb_scale8(at, part);
}

#endif
