/* SPDX-License-Identifier: MIT */
/*
 * type/half.h - F16 and BF16, one value and rows.
 *
 * A half is handled as its 16 bits.  Results depend neither on the machine nor
 * on whether it flushes subnormals to zero; the rounding mode must be the usual
 * one (to nearest, ties to even).
 */
#ifndef GB_TYPE_HALF_H
#define GB_TYPE_HALF_H

#include "lib/base/byte-order.h"

#include <stdint.h>
#include <string.h>

static inline float
gb_f32_from_bits(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static inline uint32_t
gb_f32_bits(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Exact; a NaN stays one with its payload and becomes quiet. */
static inline float
gb_f16_to_f32(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000) << 16;
    const uint32_t magnitude = h & 0x7FFF;

    /* A subnormal is a multiple of 2^-24. */
    if (magnitude < 0x0400)
        return gb_f32_from_bits(
            sign | gb_f32_bits((float)magnitude * 0x1p-24f));
    if (magnitude < 0x7C00)
        return gb_f32_from_bits(
            sign | ((magnitude << 13) + ((127u - 15u) << 23)));
    return gb_f32_from_bits(sign | 0x7F800000 | magnitude << 13 |
                            (magnitude > 0x7C00 ? 0x00400000u : 0u));
}

/* To nearest, ties to even; from 65520 on infinity; NaN: sign and 0x7E00. */
static inline uint16_t
gb_f32_to_f16(float x)
{
    const uint32_t bits = gb_f32_bits(x);
    const uint32_t sign = bits >> 16 & 0x8000;
    const uint32_t magnitude = bits & 0x7FFFFFFF;

    if (magnitude > 0x7F800000)
        return (uint16_t)(sign | 0x7E00);
    if (magnitude >= 0x477FF000)
        return (uint16_t)(sign | 0x7C00);
    /* Below 2^-14 the addition of 0.5, whose last place is 2^-24, rounds. */
    if (magnitude < 0x38800000)
        return (uint16_t)(sign | (gb_f32_bits(gb_f32_from_bits(magnitude) +
                                              0.5f) - 0x3F000000));
    return (uint16_t)(sign | (magnitude - ((127u - 15u) << 23) + 0x0FFF +
                              (magnitude >> 13 & 1)) >> 13);
}

/* The same for scales of blocks, which are finite: 65504 for what is beyond, 0
 * for a NaN. */
static inline uint16_t
gb_f32_to_finite_f16(float x)
{
    const uint16_t half = gb_f32_to_f16(x);

    if ((half & 0x7FFF) > 0x7C00)
        return 0;
    return (half & 0x7FFF) == 0x7C00 ? (uint16_t)(half - 1) : half;
}

static inline float
gb_bf16_to_f32(uint16_t b)
{
    return gb_f32_from_bits((uint32_t)b << 16);
}

/* To nearest, ties to even, subnormals too; a NaN stays one. */
static inline uint16_t
gb_f32_to_bf16(float x)
{
    const uint32_t bits = gb_f32_bits(x);

    if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return (uint16_t)(bits >> 16 | 0x0040);
    return (uint16_t)((bits + 0x7FFF + (bits >> 16 & 1)) >> 16);
}

/* The same for the halves of blocks, which are little-endian. */
static inline float
gb_f16_le_to_f32(uint16_t half)
{
    return gb_f16_to_f32(gb_le16(half));
}

static inline uint16_t
gb_f32_to_f16_le(float x)
{
    return gb_le16(gb_f32_to_f16(x));
}

/* Rows of N values, each as the function for one value does it. */
void gb_f16_to_f32_row(const void *halves, float *values, int64_t n);
void gb_f32_to_f16_row(const float *values, void *halves, int64_t n);
void gb_bf16_to_f32_row(const void *halves, float *values, int64_t n);
void gb_f32_to_bf16_row(const float *values, void *halves, int64_t n);

#endif
