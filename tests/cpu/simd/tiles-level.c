/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/simd/tiles-level.c - the words for tiles of the level that is being
 * compiled, against the operations that TDPBF16PS's manual page lists, one by
 * one, by the C library's fmaf.
 */
#include "config.h"

#include "tests/cpu/simd/tiles.h"

#include "backends/cpu/kernels/api/variant.h"

#if !GB_HAS_TILES

const char *
GB_K(check_tiles)(void)
{
    return "";
}

#else

#include "backends/cpu/simd/tiles.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* What values of a tile are drawn from. */
enum kind {
    MODERATE,  /* about 1, both signs, some zeros */
    CANCELLING, /* powers of two and what is next to them */
    SMALL,     /* sums are about the least normal float, some values below */
    LARGE,     /* sums overflow */
    ANY,       /* any bits, NaN and infinities among them */
    KINDS,
};

static uint32_t state = 7;

static uint32_t
draw(void)
{
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

static float
float_of(uint32_t bits)
{
    float x;

    memcpy(&x, &bits, sizeof(x));
    return x;
}

static uint32_t
bits_of(float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* Sign, exponent from LEAST on of RANGE, fraction. */
static uint16_t
draw_exponent(uint32_t least, uint32_t range, uint32_t fraction)
{
    return (uint16_t)((draw() & 1) << 15 | (least + draw() % range) << 7 |
                      (fraction & 0x7f));
}

static uint16_t
draw_value(enum kind kind)
{
    if (draw() % 16 == 0)
        return (uint16_t)((draw() & 1) << 15);
    switch (kind) {
    case MODERATE:
        return draw_exponent(120, 10, draw());
    case CANCELLING:
        return draw_exponent(115, 30, draw() % 3 == 0 ? 1 : 0);
    case SMALL:
        return draw() % 8 == 0 ? (uint16_t)(draw() & 0x807f)
                               : draw_exponent(58, 12, draw());
    case LARGE:
        return draw_exponent(185, 8, draw());
    default:
        return (uint16_t)draw();
    }
}

/* A sum to begin with, of the size that products have. */
static float
draw_sum(enum kind kind)
{
    const uint32_t sign = (draw() & 1) << 31;
    const uint32_t fraction = draw() & 0x7fffff;

    switch (kind) {
    case MODERATE:
        return float_of(sign | (124 + draw() % 8) << 23 | fraction);
    case CANCELLING:
        return float_of(sign | (105 + draw() % 50) << 23 | fraction % 2);
    case SMALL:
        return float_of(sign | (draw() % 4) << 23 | fraction);
    case LARGE:
        return float_of(sign | (250 + draw() % 4) << 23 | fraction);
    default:
        return float_of(sign ^ draw() << 8 ^ draw());
    }
}

static float
flushed(float x)
{
    return fabsf(x) < FLT_MIN ? copysignf(0.0f, x) : x;
}

/* Whether a result is subnormal is asked once it is rounded to 24 bits: so it
 * is where the exponent does not matter. */
static float
fma_of(float a, float b, float c)
{
    float x;

    a = flushed(a);
    b = flushed(b);
    c = flushed(c);
    x = fmaf(a, b, c);
    if (fabsf(x) <= 2.0f * FLT_MIN &&
        fabsf(fmaf(ldexpf(a, 32), ldexpf(b, 32), ldexpf(c, 64))) <
            ldexpf(FLT_MIN, 64))
        return copysignf(0.0f, x);
    return x;
}

static void
multiply(uint16_t a[16][32], uint16_t b[16][32], float c[16][16])
{
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float sums[2] = { 0.0f, 0.0f };

            for (int k = 0; k < 16; k++)
                for (int i = 0; i < 2; i++)
                    sums[i] =
                        fma_of(float_of((uint32_t)a[m][2 * k + i] << 16),
                               float_of((uint32_t)b[k][2 * n + i] << 16),
                               sums[i]);
            c[m][n] = flushed(flushed(c[m][n]) + flushed(sums[0] + sums[1]));
        }
}

static bool
is_same(float got, float want)
{
    return isnan(want) ? isnan(got) : bits_of(got) == bits_of(want);
}

static const char *
check_dot(struct tiles *t, enum kind kind, enum kind other)
{
    static char text[120];
    uint16_t a[16][32], b[16][32];
    float want[16][16], got[16][16];

    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 32; j++) {
            a[i][j] = draw_value(kind);
            b[i][j] = draw_value(other);
        }
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            want[i][j] = draw_sum(kind);
    tile_load(t, 3, want, 64);
    tile_load(t, 4, a, 64);
    tile_load(t, 7, b, 64);
    for (int i = 0; i < 2; i++) {
        tile_dot_bf16(t, 3, 4, 7);
        multiply(a, b, want);
    }
    tile_store(t, 3, got, 64);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            if (!is_same(got[i][j], want[i][j])) {
                snprintf(text, sizeof(text),
                         "tile_dot_bf16, values of kinds %d and %d: %a, not %a",
                         (int)kind, (int)other, got[i][j], want[i][j]);
                return text;
            }
    return NULL;
}

/* Rows of 64 bytes and nothing between them. */
static const char *
check_moves(struct tiles *t)
{
    enum { PITCH = 80 };
    static unsigned char from[16 * PITCH], to[16 * PITCH], other[16 * 64];

    for (int i = 0; i < 16 * PITCH; i++) {
        from[i] = (unsigned char)draw();
        to[i] = 0x55;
    }
    tile_load(t, 0, from, PITCH);
    tile_zero(t, 1);
    tile_store(t, 0, to, PITCH);
    tile_store(t, 1, other, 64);
    for (int i = 0; i < 16 * PITCH; i++)
        if (to[i] != (i % PITCH < 64 ? from[i] : 0x55))
            return "tile_load, tile_store";
    for (int i = 0; i < 16 * 64; i++)
        if (other[i] != 0)
            return "tile_zero";
    tile_transpose(other, from, PITCH);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 16; j++)
            if (memcmp(other + 64 * j + 4 * i, from + PITCH * i + 4 * j, 4) !=
                0)
                return "tile_transpose";
    return NULL;
}

/* X rounded to BF16 as VCVTNEPS2BF16's page says: subnormal floats are 0. */
static uint16_t
rounded(float x)
{
    const uint32_t bits = bits_of(flushed(x));
    const uint32_t rest = bits & 0xffff;
    const uint32_t above = bits >> 16;

    if (isnan(x))
        return (uint16_t)(above | 0x40);
    return (uint16_t)(above +
                      (rest > 0x8000 || (rest == 0x8000 && above % 2 == 1)));
}

static const char *
check_rounding(void)
{
    static const uint32_t bits[] = {
        0x00000000, 0x80000000, 0x007fffff, 0x807fffff, 0x00800000, 0x00807fff,
        0x3f808000, 0x3f818000, 0x3f808001, 0x3f817fff, 0x7f7f7fff, 0x7f7f8000,
        0x7f800000, 0xff800000, 0x7f800001, 0xffc12345, 0x00000001, 0x3fffffff,
    };
    enum { N = 4096 };

    for (int i = 0; i < N; i += VF_LEN) {
        float values[VF_LEN];
        uint16_t got[VF_LEN];

        for (int j = 0; j < VF_LEN; j++)
            values[j] = float_of(i + j < (int)(sizeof(bits) / sizeof(bits[0]))
                                     ? bits[i + j]
                                     : draw() << 8 ^ draw());
        tile_store_bf16(got, vf_load(values));
        for (int j = 0; j < VF_LEN; j++)
            if (got[j] != rounded(values[j]))
                return "tile_store_bf16";
    }
    return NULL;
}

const char *
GB_K(check_tiles)(void)
{
    struct tiles t;
    const char *wrong;

    tiles_configure(&t);
    tiles_configure(&t); /* once more does no harm */
    wrong = check_moves(&t);
    if (wrong == NULL)
        wrong = check_rounding();
    for (int i = 0; i < 20 && wrong == NULL; i++)
        for (int kind = 0; kind < KINDS && wrong == NULL; kind++)
            for (int other = 0; other < KINDS && wrong == NULL; other++)
                if (i == 0 || kind == other)
                    wrong = check_dot(&t, (enum kind)kind, (enum kind)other);
    tiles_release();
    return wrong;
}

#endif
