// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-iq.glsl - blocks of 256 values that are rows of
// a table; see unpack.glsl.
//
// Tables (ops/tables.c) have a byte a value, a row of eight or four of them in
// one or two words.

#if defined GB_TYPE_IQ1_S || defined GB_TYPE_IQ1_M

// Levels -1, 0, 1 are 0, 8, 16 in the table; an eighth of the distance is the
// shift, which with the middle makes the min 7 or 9 scales.

// Bits 0 … 2 of the head are the row's upper ones; bit 3 is the shift's sign.
uint gb_head(uint at, uint part)
{
#if defined GB_TYPE_IQ1_S
    const uint word = gb_half_bits(at + 34u + 2u * (part >> 2));

    return (word >> 3u * (part & 3u) & 7u) | word >> 15 << 3;
#else
    return gb_byte(at + 32u + (part >> 1)) >> 4u * (part & 1u) & 15u;
#endif
}

uvec2 gb_codes8(uint at, uint part)
{
#if defined GB_TYPE_IQ1_S
    const uint low = gb_byte(at + 2u + part);
#else
    const uint low = gb_byte(at + part);
#endif
    const uint row = low | (gb_head(at, part) & 7u) << 8;

    return uvec2(tables_w[2u * row], tables_w[2u * row + 1u]);
}

float gb_scale8(uint at, uint part)
{
#if defined GB_TYPE_IQ1_S
    const uint s = gb_half_bits(at + 34u + 2u * (part >> 2)) >> 12 & 7u;
    const float d = gb_half(at);
#else
    // The scale of the block is spread over the tops of four words.
    const uvec2 words = gb_words2(at + 48u);
    const uint s = gb_half_bits(at + 48u + 2u * (part >> 3)) >>
                   3u * (part >> 1 & 3u) & 7u;
    const float d = gb_half_to_float(
        (words.x >> 12 & 0xfu) | (words.x >> 24 & 0xf0u) |
        (words.y >> 4 & 0xf00u) | (words.y >> 16 & 0xf000u));
#endif
    return d * (float(2u * s + 1u) * 0.125);
}

float gb_min8(uint at, uint part)
{
    return gb_scale8(at, part) * ((gb_head(at, part) & 8u) != 0u ? 9.0 : 7.0);
}

#else

#define GB_CODES_ARE_SIGNED

// Four bytes from 1 to 127, negative where a bit of NEGATIVE (0 … 3) is set.
uint gb_signed4(uint magnitudes, uint negative)
{
    const uint ones = gb_spread4(negative);

    return (magnitudes ^ ones * 255u) + ones;
}

uvec2 gb_signed8(uint first, uint second, uint negative)
{
    return uvec2(gb_signed4(first, negative),
                 gb_signed4(second, negative >> 4));
}

// Signs of eight values from the seven that are stored: the number of negative
// ones is even.
uint gb_eight_signs(uint seven)
{
    return seven | (uint(bitCount(seven)) & 1u) << 7;
}

// The word with the scale and four times seven signs of a sub-block of 32.
#if defined GB_TYPE_IQ2_XXS
uint gb_signs_word(uint at, uint part)
{
    return gb_word(at + 6u + 8u * (part >> 2));
}
#elif defined GB_TYPE_IQ3_XXS
uint gb_signs_word(uint at, uint part)
{
    return gb_word(at + 66u + 4u * (part >> 2));
}
#endif

#if defined GB_TYPE_IQ2_XXS || defined GB_TYPE_IQ2_XS || defined GB_TYPE_IQ2_S

uvec2 gb_codes8(uint at, uint part)
{
#if defined GB_TYPE_IQ2_XXS
    const uint row = gb_byte(at + 2u + 8u * (part >> 2) + (part & 3u));
    const uint signs =
        gb_eight_signs(gb_signs_word(at, part) >> 7u * (part & 3u) & 127u);
#elif defined GB_TYPE_IQ2_XS
    const uint word = gb_half_bits(at + 2u + 2u * part);
    const uint row = word & 511u;
    const uint signs = gb_eight_signs(word >> 9);
#else
    const uint high = gb_byte(at + 66u + (part >> 2)) >> 2u * (part & 3u) & 3u;
    const uint row = gb_byte(at + 2u + part) | high << 8;
    const uint signs = gb_byte(at + 34u + part);
#endif
    return gb_signed8(tables_w[2u * row], tables_w[2u * row + 1u], signs);
}

// d * (0.5 + s) / 4
float gb_scale8(uint at, uint part)
{
#if defined GB_TYPE_IQ2_XXS
    const uint s = gb_signs_word(at, part) >> 28;
#elif defined GB_TYPE_IQ2_XS
    const uint both = gb_byte(at + 66u + (part >> 2));
    const uint s = both >> 4u * (part >> 1 & 1u) & 15u;
#else
    const uint both = gb_byte(at + 74u + (part >> 2));
    const uint s = both >> 4u * (part >> 1 & 1u) & 15u;
#endif
    return gb_half(at) * (float(2u * s + 1u) * 0.125);
}

#else

uvec2 gb_codes8(uint at, uint part)
{
    uint row0 = gb_byte(at + 2u + 2u * part);
    uint row1 = gb_byte(at + 3u + 2u * part);
#if defined GB_TYPE_IQ3_XXS
    const uint signs =
        gb_eight_signs(gb_signs_word(at, part) >> 7u * (part & 3u) & 127u);
#else
    const uint high = gb_byte(at + 66u + (part >> 2)) >> 2u * (part & 3u);
    const uint signs = gb_byte(at + 74u + part);

    row0 |= (high & 1u) << 8;
    row1 |= (high & 2u) << 7;
#endif
    return gb_signed8(tables_w[row0], tables_w[row1], signs);
}

// d * (0.5 + s) / 2; d * (2 s + 1)
float gb_scale8(uint at, uint part)
{
#if defined GB_TYPE_IQ3_XXS
    const uint s = gb_signs_word(at, part) >> 28;

    return gb_half(at) * (float(2u * s + 1u) * 0.25);
#else
    const uint s = gb_byte(at + 106u + (part >> 3)) >> (part & 4u) & 15u;

    return gb_half(at) * float(2u * s + 1u);
#endif
}

#endif

float gb_min8(uint at, uint part)
{
    return 0.0;
}

#endif
