// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/pack-sym.glsl - q3_K, q6_K: scales of sub-blocks; see
// quantize256.comp.

#include "search-sym.glsl"

float largest_scale()
{
    float largest = 0.0;

    for (uint i = 0u; i < SUBS; i++)
        largest = abs(TEAM.scales[i]) > abs(largest) ? TEAM.scales[i] : largest;
    return largest;
}

// Codes against the scale that a reader will see.
void code_again(uint b, float x[GB_SUB], float scale, float top)
{
    if (scale == 0.0)
        return;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] = uint(
            gb_round_even(gb_divide(x[i], scale), -top, top - 1.0) + top);
}

#if defined GB_TYPE_Q3_K

#define BLOCK_BYTES 110

void pack_search(uint b, float x[GB_SUB])
{
    float numbers[GB_SUB];

    TEAM.scales[b] = gb_search_sym_by_moves(x, 4.0, numbers);
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] = uint(numbers[i] + 4.0);
}

void pack_code(uint b, float x[GB_SUB])
{
    const float largest = largest_scale();
    const bool is_zero = largest == 0.0;
    const float inverse = is_zero ? 0.0 : gb_divide(-32.0, largest);
    const float d = is_zero ? 0.0 : gb_divide(1.0, inverse);
    const float multiple =
        is_zero ? -32.0
                : gb_round_even(gb_mul(inverse, TEAM.scales[b]), -32.0, 31.0);

    if (b == 0u)
        TEAM.d = d;
    TEAM.scale_codes[b] = uint(multiple + 32.0);
    code_again(b, x, gb_mul(as_stored(d), multiple), 4.0);
}

// Byte I of the twelve in which sixteen scales have six bits.
uint scale_byte(uint i)
{
    uint bits = 0u;

    if (i < 8u)
        return (TEAM.scale_codes[i] & 15u) |
               (TEAM.scale_codes[i + 8u] & 15u) << 4;
    for (uint k = 0u; k < 4u; k++)
        bits |= TEAM.scale_codes[i - 8u + 4u * k] >> 4 << 2u * k;
    return bits;
}

uint block_byte(uint j)
{
    if (j < 32u)
        return pack_bits(j, 2u);
    if (j < 96u)
        return pack_pairs(j - 32u);
    if (j < 108u)
        return scale_byte(j - 96u);
    return half_byte(TEAM.d, j - 108u);
}

#else

#define BLOCK_BYTES 210

void pack_search(uint b, float x[GB_SUB])
{
    const gb_best best = gb_search_sym(x, 32.0);
    const bool is_zero = abs(gb_largest(x)) < GB_SEARCH_TINY;

    TEAM.scales[b] = best.scale;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] =
            is_zero ? 0u
                    : uint(gb_round_even(gb_mul(x[i], best.inverse), -32.0,
                                         31.0) + 32.0);
}

// A block without a largest scale is all zeros.
void pack_code(uint b, float x[GB_SUB])
{
    const float largest = largest_scale();
    const bool is_zero = abs(largest) < GB_SEARCH_TINY;
    const float inverse = is_zero ? 0.0 : gb_divide(-128.0, largest);
    const float d = is_zero ? 0.0 : gb_divide(1.0, inverse);
    const float scale =
        gb_round_even(gb_mul(inverse, TEAM.scales[b]), -128.0, 127.0);

    if (b == 0u)
        TEAM.d = d;
    TEAM.scale_codes[b] = uint(int(scale)) & 255u;
    if (is_zero)
        for (uint i = 0u; i < GB_SUB; i++)
            TEAM.codes[GB_SUB * b + i] = 0u;
    code_again(b, x, gb_mul(as_stored(d), scale), 32.0);
}

// Byte J of 64 with the upper two bits of codes.
uint pack_upper_pairs(uint j)
{
    const uint c = 128u * (j / 32u) + j % 32u;

    return TEAM.codes[c] >> 4 | TEAM.codes[c + 32u] >> 4 << 2 |
           TEAM.codes[c + 64u] >> 4 << 4 | TEAM.codes[c + 96u] >> 4 << 6;
}

uint block_byte(uint j)
{
    if (j < 128u)
        return pack_nibbles(j, 64u);
    if (j < 192u)
        return pack_upper_pairs(j - 128u);
    if (j < 208u)
        return TEAM.scale_codes[j - 192u];
    return half_byte(TEAM.d, j - 208u);
}

#endif
