// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-tq.glsl - blocks of 256 values of three levels;
// see unpack.glsl.

#if defined GB_TYPE_TQ1_0

#define GB_AT_SCALE 52u

// A byte stands for the fraction byte / 256, whose digits to the base of 3 are
// the codes.  Digit k comes into the upper byte of (byte * 3^k mod 256) * 3;
// two bytes at a time in the halves of a word.
uint gb_digits2(uint halves, uint power)
{
    return (halves * power & 0x00ff00ffu) * 3u >> 8 & 0x00ff00ffu;
}

uint gb_digits4(uint word, uint power)
{
    return gb_digits2(word & 0x00ff00ffu, power) |
           gb_digits2(word >> 8 & 0x00ff00ffu, power) << 8;
}

// 3^k for k below 4; and 81.
uint gb_power(uint k)
{
    return k < 4u ? 0x1b090301u >> 8u * k & 255u : 81u;
}

// 160 values of 32 bytes, 80 of 16, and 16 of 4.
uvec2 gb_codes8(uint at, uint part)
{
    uvec2 words;
    uint power;

    if (part >= 30u) {
        const uint word = gb_word(at + 48u);
        const uint k = 2u * (part - 30u);

        return uvec2(gb_digits4(word, gb_power(k)),
                     gb_digits4(word, gb_power(k + 1u)));
    }
    if (part < 20u) {
        words = gb_words2(at + 8u * (part & 3u));
        power = gb_power(part >> 2);
    } else {
        words = gb_words2(at + 32u + 8u * (part & 1u));
        power = gb_power((part - 20u) >> 1);
    }
    return uvec2(gb_digits4(words.x, power), gb_digits4(words.y, power));
}

#else

#define GB_AT_SCALE 64u

// As the two bits of q2_K.
uvec2 gb_codes8(uint at, uint part)
{
    return gb_pairs8(gb_words2(at + 32u * (part >> 4) + 8u * (part & 3u)),
                     2u * (part >> 2 & 3u));
}

#endif

float gb_scale8(uint at, uint part)
{
    return gb_half(at + GB_AT_SCALE);
}

float gb_min8(uint at, uint part)
{
    return gb_half(at + GB_AT_SCALE);
}
