// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/unpack-words.glsl - words and halves of blocks, and
// four bytes at a time.
//
// A shader that reads blocks of two operands declares its own gb_word_of(i),
// word I of one of them, and defines GB_HAS_WORD_OF.
#ifndef GB_HAS_WORD_OF
uint gb_word_of(uint i)
{
    return weights_w[i];
}
#endif

// Two words at a multiple of 2, or of 4 for types whose blocks begin at one.
// None is read behind them.
uvec2 gb_words2(uint at)
{
    const uint i = at >> 2;
    const uint first = gb_word_of(i);
    const uint second = gb_word_of(i + 1u);
#if GB_BLOCK_BYTES % 4 == 0
    return uvec2(first, second);
#else
    const uint third = gb_word_of((at + 6u) >> 2);

    return (at & 2u) == 0u
        ? uvec2(first, second)
        : uvec2(first >> 16 | second << 16, second >> 16 | third << 16);
#endif
}

uint gb_byte(uint at)
{
    return gb_word_of(at >> 2) >> ((at & 3u) << 3) & 0xffu;
}

uint gb_half_bits(uint at)
{
    return gb_word_of(at >> 2) >> ((at & 2u) << 3) & 0xffffu;
}

uint gb_word(uint at)
{
#if GB_BLOCK_BYTES % 4 == 0
    return gb_word_of(at >> 2);
#else
    return gb_half_bits(at) | gb_half_bits(at + 2u) << 16;
#endif
}

float gb_half(uint at)
{
    return gb_half_to_float(gb_half_bits(at));
}

// Bits 0 … 3 as the lowest bits of four bytes; eight of them.
uint gb_spread4(uint bits)
{
    return (bits & 15u) * 0x00204081u & 0x01010101u;
}

uvec2 gb_spread8(uint bits)
{
    return uvec2(gb_spread4(bits), gb_spread4(bits >> 4));
}

// Eight bytes: the four or two bits of each from SHIFT on.
uvec2 gb_nibbles8(uvec2 words, uint shift)
{
    return words >> shift & 0x0f0f0f0fu;
}

uvec2 gb_pairs8(uvec2 words, uint shift)
{
    return words >> shift & 0x03030303u;
}
