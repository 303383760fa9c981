// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-iq4.glsl - nibbles that number sixteen levels;
// see unpack.glsl.

#define GB_CODES_ARE_SIGNED

// Levels -127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89,
// 113 for nibbles 0 … 15, a byte each.
const uvec4 gb_iq4_levels =
    uvec4(0xbfad9881u, 0xf6eaddcfu, 0x26190d01u, 0x71594535u);

uint gb_iq4_level(uint nibble)
{
    return gb_iq4_levels[nibble >> 2] >> 8u * (nibble & 3u) & 255u;
}

uint gb_iq4_levels4(uint nibbles)
{
    return gb_iq4_level(nibbles & 15u) |
           gb_iq4_level(nibbles >> 8 & 15u) << 8 |
           gb_iq4_level(nibbles >> 16 & 15u) << 16 |
           gb_iq4_level(nibbles >> 24 & 15u) << 24;
}

uvec2 gb_codes8(uint at, uint part)
{
#if defined GB_TYPE_IQ4_NL
    const uvec2 words = gb_words2(at + 2u + 8u * (part & 1u));
#else
    const uvec2 words =
        gb_words2(at + 8u + 16u * (part >> 2) + 8u * (part & 1u));
#endif
    const uvec2 nibbles = gb_nibbles8(words, 4u * (part >> 1 & 1u));

    return uvec2(gb_iq4_levels4(nibbles.x), gb_iq4_levels4(nibbles.y));
}

float gb_scale8(uint at, uint part)
{
#if defined GB_TYPE_IQ4_NL
    return gb_half(at);
#else
    const uint i = part >> 2;
    const uint low = gb_byte(at + 4u + (i >> 1)) >> 4u * (i & 1u) & 15u;
    const uint high = gb_half_bits(at + 2u) >> 2u * i & 3u;

    return gb_half(at) * float(int(low | high << 4) - 32);
#endif
}

float gb_min8(uint at, uint part)
{
    return 0.0;
}
