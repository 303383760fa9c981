// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/pack-iq4xs.glsl - iq4_xs; see quantize256.comp.

#include "search-iq4.glsl"

#define BLOCK_BYTES 136

void pack_search(uint b, float x[GB_SUB])
{
    TEAM.scales[b] = gb_search_iq4(x);
}

void pack_code(uint b, float x[GB_SUB])
{
    float largest = 0.0, d, multiple, inverse, value;

    for (uint i = 0u; i < SUBS; i++)
        largest = abs(TEAM.scales[i]) > abs(largest) ? TEAM.scales[i] : largest;
    d = -largest * (1.0 / 32.0);
    multiple =
        gb_round_even(gb_mul(gb_inverse(d), TEAM.scales[b]), -32.0, 31.0);
    inverse = gb_inverse(gb_mul(d, multiple));
    if (b == 0u)
        TEAM.d = d;
    TEAM.scale_codes[b] = uint(multiple + 32.0);
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] =
            gb_iq4_nearest(gb_mul(inverse, x[i]), value);
}

// Byte J of the two with the upper bits of the scales.
uint upper_byte(uint j)
{
    uint bits = 0u;

    for (uint k = 0u; k < 4u; k++)
        bits |= TEAM.scale_codes[4u * j + k] >> 4 << 2u * k;
    return bits;
}

uint block_byte(uint j)
{
    if (j < 2u)
        return half_byte(TEAM.d, j);
    if (j < 4u)
        return upper_byte(j - 2u);
    if (j < 8u)
        return (TEAM.scale_codes[2u * (j - 4u)] & 15u) |
               (TEAM.scale_codes[2u * (j - 4u) + 1u] & 15u) << 4;
    return pack_nibbles(j - 8u, 16u);
}
