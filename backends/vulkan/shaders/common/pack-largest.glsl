// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/pack-largest.glsl - q8_K, tq1_0, tq2_0, whose scale is
// that of the largest of all values; see quantize256.comp.

#include "search.glsl"

void pack_search(uint b, float x[GB_SUB])
{
    TEAM.scales[b] = gb_largest(x);
}

float largest_of_all()
{
    float largest = 0.0;

    for (uint i = 0u; i < SUBS; i++)
        largest = abs(TEAM.scales[i]) > abs(largest) ? TEAM.scales[i] : largest;
    return largest;
}

#if defined GB_TYPE_Q8_K

#define BLOCK_BYTES 292

void pack_code(uint b, float x[GB_SUB])
{
    const float largest = largest_of_all();
    const float inverse = largest != 0.0 ? gb_divide(-127.0, largest) : 0.0;

    if (b == 0u)
        TEAM.d = largest != 0.0 ? gb_divide(1.0, inverse) : 0.0;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] =
            uint(int(gb_round_even(gb_mul(inverse, x[i]), -127.0, 127.0))) &
            255u;
}

// The sum of codes 16 I … 16 I + 15.
uint sum_of(uint i)
{
    int sum = 0;

    for (uint j = 0u; j < 16u; j++)
        sum += bitfieldExtract(int(TEAM.codes[16u * i + j]), 0, 8);
    return uint(sum);
}

uint block_byte(uint j)
{
    if (j < 4u)
        return floatBitsToUint(TEAM.d) >> 8u * j & 255u;
    if (j < 260u)
        return TEAM.codes[j - 4u];
    return sum_of((j - 260u) / 2u) >> 8u * (j & 1u) & 255u;
}

#else

// Digits 0, 1, 2 for -d, 0, d, d being the largest magnitude.
void pack_code(uint b, float x[GB_SUB])
{
    const float d = abs(largest_of_all());
    const float inverse = gb_inverse(d);

    if (b == 0u)
        TEAM.d = d;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] =
            uint(gb_round_away(gb_mul(x[i], inverse), 1.0) + 1);
}

#if defined GB_TYPE_TQ2_0

#define BLOCK_BYTES 66

uint block_byte(uint j)
{
    return j < 64u ? pack_pairs(j) : half_byte(TEAM.d, j - 64u);
}

#else

#define BLOCK_BYTES 54

// N digits to the base of 3, STRIDE apart, as a fraction of 256 that is rounded
// up; then reading gets each of them back exactly.
uint pack_digits(uint first, uint n, uint stride)
{
    uint value = 0u;

    for (uint k = 0u; k < 5u; k++)
        value = 3u * value + (k < n ? TEAM.codes[first + k * stride] : 0u);
    return (256u * value + 242u) / 243u;
}

uint block_byte(uint j)
{
    if (j < 32u)
        return pack_digits(j, 5u, 32u);
    if (j < 48u)
        return pack_digits(160u + j - 32u, 5u, 16u);
    if (j < 52u)
        return pack_digits(240u + j - 48u, 4u, 4u);
    return half_byte(TEAM.d, j - 52u);
}

#endif
#endif
