// SPDX-License-Identifier: MIT
//
// vulkan/shaders/common/pack-asym.glsl - q2_K, q4_K, q5_K: scales and mins of
// sub-blocks; see quantize256.comp.

#include "search-asym.glsl"

#if defined GB_TYPE_Q2_K
#define BLOCK_BYTES 84
#define TOP 3.0
#define SCALE_TOP 15.0
#elif defined GB_TYPE_Q4_K
#define BLOCK_BYTES 144
#define TOP 15.0
#define SCALE_TOP 63.0
#else
#define BLOCK_BYTES 176
#define TOP 31.0
#define SCALE_TOP 63.0
#endif

void pack_search(uint b, float x[GB_SUB])
{
#if defined GB_TYPE_Q2_K
    const float rms = 0.0;
    const gb_steps steps = gb_steps(-0.5, 0.1, 15, true);
#else
    const float rms = gb_sqrt(gb_energy(x));
#if defined GB_TYPE_Q4_K
    const gb_steps steps = gb_steps(-1.0, 0.1, 20, false);
#else
    const gb_steps steps = gb_steps(-0.5, 0.1, 15, false);
#endif
#endif
    const gb_line line = gb_search_asym(x, rms, TOP, steps);

    TEAM.scales[b] = line.scale;
    TEAM.mins[b] = -line.least;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] = uint(gb_line_number(line, x[i], TOP));
}

// The multiple that MINE is of the scale D, which makes HIGHEST, not below 0,
// the most.
uint multiple_of(float mine, float highest, out float d)
{
    const float inverse = highest > 0.0 ? gb_divide(SCALE_TOP, highest) : 0.0;

    d = highest > 0.0 ? gb_divide(highest, SCALE_TOP) : 0.0;
    return uint(gb_round_even(gb_mul(inverse, mine), 0.0, SCALE_TOP));
}

void pack_code(uint b, float x[GB_SUB])
{
    float scale_most = TEAM.scales[0], min_most = TEAM.mins[0];
    float d, dmin, scale, least;
    uint scale_code, min_code;

    for (uint i = 1u; i < SUBS; i++) {
        scale_most =
            TEAM.scales[i] > scale_most ? TEAM.scales[i] : scale_most;
        min_most = TEAM.mins[i] > min_most ? TEAM.mins[i] : min_most;
    }
    scale_code = multiple_of(TEAM.scales[b], scale_most, d);
    min_code = multiple_of(TEAM.mins[b], min_most, dmin);
    TEAM.scale_codes[b] = scale_code;
    TEAM.min_codes[b] = min_code;
    if (b == 0u) {
        TEAM.d = d;
        TEAM.dmin = dmin;
    }
    scale = gb_mul(float(scale_code), as_stored(d));
    least = gb_mul(float(min_code), as_stored(dmin));
    if (scale == 0.0)
        return;
    for (uint i = 0u; i < GB_SUB; i++)
        TEAM.codes[GB_SUB * b + i] = uint(gb_round_even(
            gb_divide(gb_add(x[i], least), scale), 0.0, TOP));
}

#if defined GB_TYPE_Q2_K

uint block_byte(uint j)
{
    if (j < 16u)
        return TEAM.scale_codes[j] | TEAM.min_codes[j] << 4;
    if (j < 80u)
        return pack_pairs(j - 16u);
    return j < 82u ? half_byte(TEAM.d, j - 80u)
                   : half_byte(TEAM.dmin, j - 82u);
}

#else

// Byte I of the twelve in which eight scales and mins have six bits.
uint scale_byte(uint i)
{
    const uint b = i % 4u;
    const uint scale = TEAM.scale_codes[b + 4u];
    const uint least = TEAM.min_codes[b + 4u];

    if (i < 4u)
        return TEAM.scale_codes[b] | scale >> 4 << 6;
    if (i < 8u)
        return TEAM.min_codes[b] | least >> 4 << 6;
    return (scale & 15u) | (least & 15u) << 4;
}

uint block_byte(uint j)
{
    if (j < 2u)
        return half_byte(TEAM.d, j);
    if (j < 4u)
        return half_byte(TEAM.dmin, j - 2u);
    if (j < 16u)
        return scale_byte(j - 4u);
#if defined GB_TYPE_Q5_K
    if (j < 48u)
        return pack_bits(j - 16u, 4u);
    return pack_nibbles(j - 48u, 32u);
#else
    return pack_nibbles(j - 16u, 32u);
#endif
}

#endif
