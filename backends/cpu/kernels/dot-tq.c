/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-tq.c - weights tq1_0 and tq2_0.
 */
#include "backends/cpu/kernels/few.h"
#include "backends/cpu/kernels/turned.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"

/* The same scale for all pieces. */
GB_INLINE void
one_scale(const void *half, float *d)
{
    const float scale = q_half(half);

    for (int i = 0; i < GB_QK_K / 32; i++)
        d[i] = scale;
}

GB_INLINE void
tq1_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_tq1_0 *b = block;

    (void)n;
    (void)m;
    one_scale(&b->d, d);
}

/* Digits K of N bytes: what is above the point in three times the rest that
 * multiplying with 3^K leaves. */
GB_INLINE void
ternary_digits(const uint8_t *bytes, int n, int k, uint8_t *digits)
{
    static const uint8_t powers[] = { 1, 3, 9, 27, 81 };

    for (int i = 0; i < n; i++) {
        const uint8_t rest = (uint8_t)(bytes[i] * powers[k]);

        digits[i] = (uint8_t)(rest * 3 >> 8);
    }
}

GB_INLINE q32
tq1_0_codes(const void *block, int g)
{
    const struct gb_block_tq1_0 *b = block;
    uint8_t codes[32];

    if (g < 5) {
        ternary_digits(b->qs, 32, g, codes);
    } else if (g < 7) {
        ternary_digits(b->qs + 32, 16, 2 * (g - 5), codes);
        ternary_digits(b->qs + 32, 16, 2 * (g - 5) + 1, codes + 16);
    } else {
        ternary_digits(b->qs + 32, 16, 4, codes);
        for (int k = 0; k < 4; k++)
            ternary_digits(b->qh, 4, k, codes + 16 + 4 * k);
    }
    return q32_load(codes);
}

static const struct gb_blocks tq1_0 = {
    &gb_layout_tq1_0, tq1_0_scales, tq1_0_codes, NULL, NULL
};

void
GB_K(dots_tq1_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&tq1_0, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_tq1_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&tq1_0, k, rows, x, pitch, panel);
}

void
GB_K(floats_tq1_0)(int64_t n, float *dst, const void *x)
{
    gb_block_floats(&tq1_0, n, dst, x);
}

void
GB_K(turn_tq1_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&tq1_0, k, rows, x, pitch, to);
}

GB_INLINE void
tq2_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_tq2_0 *b = block;

    (void)n;
    (void)m;
    one_scale(&b->d, d);
}

GB_INLINE q32
tq2_0_codes(const void *block, int g)
{
    const struct gb_block_tq2_0 *b = block;

    return q32_bits(q32_load(b->qs + 32 * (g / 4)), 2 * (g % 4), 3);
}

GB_INLINE void
tq2_0_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_tq2_0 *b = group;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs), 2 * i, 3);
}

static const struct gb_blocks tq2_0 = {
    &gb_layout_tq2_0, tq2_0_scales, tq2_0_codes, tq2_0_units, NULL
};

void
GB_K(dots_tq2_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 const void *column, float *dst)
{
    gb_block_dots(&tq2_0, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_tq2_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                   const struct gb_panel *panel)
{
    gb_block_unpack(&tq2_0, k, rows, x, pitch, panel);
}

void
GB_K(floats_tq2_0)(int64_t n, float *dst, const void *x)
{
    gb_block_floats(&tq2_0, n, dst, x);
}

void
GB_K(turn_tq2_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                 struct gb_codes *to)
{
    gb_block_turn(&tq2_0, k, rows, x, pitch, to);
}
