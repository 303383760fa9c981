// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/pack.glsl - small codes in shared bytes, from those of
// a team (quantize256.comp).

// Byte J of 64 with the low two bits of codes j, j + 32, j + 64 and j + 96 of
// each 128.
uint pack_pairs(uint j)
{
    const uint c = 128u * (j / 32u) + j % 32u;

    return (TEAM.codes[c] & 3u) | (TEAM.codes[c + 32u] & 3u) << 2 |
           (TEAM.codes[c + 64u] & 3u) << 4 | (TEAM.codes[c + 96u] & 3u) << 6;
}

// Byte J of bits SHIFT of codes j, j + 32 … j + 224.
uint pack_bits(uint j, uint shift)
{
    uint bits = 0u;

    for (uint k = 0u; k < 8u; k++)
        bits |= (TEAM.codes[j + 32u * k] >> shift & 1u) << k;
    return bits;
}

// Byte J of N at a time, with the low nibbles of codes j and j + N of each 2 N.
uint pack_nibbles(uint j, uint n)
{
    const uint c = 2u * n * (j / n) + j % n;

    return (TEAM.codes[c] & 15u) | (TEAM.codes[c + n] & 15u) << 4;
}

// Byte J, 0 or 1, of a half float.
uint half_byte(float value, uint j)
{
    return gb_float_to_half(value) >> 8u * j & 255u;
}

// A scale as a reader will see it.
float as_stored(float value)
{
    return gb_half_to_float(gb_float_to_half(value));
}
