/* SPDX-License-Identifier: MIT */
/*
 * type/tq.c - ternary formats: every value is -d, 0 or d.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/pack.h"
#include "lib/type/search.h"

#include <math.h>

/* Digits 0, 1, 2 for -d, 0, d, d being the largest magnitude; the scale d. */
static float
ternary(const float *x, uint8_t *digits)
{
    const float d = fabsf(gb_search_largest(GB_QK_K, x));
    const float id = d != 0.0f ? 1.0f / d : 0.0f;

    for (int e = 0; e < GB_QK_K; e++)
        digits[e] = (uint8_t)(gb_round_away(x[e] * id, 1) + 1);
    return d;
}

/* A run of bytes of tq1_0: digit k of byte j is value first + stride k + j. */
struct run {
    int first;
    int stride; /* values between two digits of a byte, and bytes in the run */
    int digits;
};

static const struct run runs[] = {
    { 0, 32, 5 },
    { 160, 16, 5 },
    { 240, 4, 4 },
};

#define N_RUNS (int)(sizeof(runs) / sizeof(runs[0]))

/* The run's bytes: qs holds the first two runs, qh the last. */
static const uint8_t *
run_bytes(const struct gb_block_tq1_0 *block, int run)
{
    return run == 2 ? block->qh : block->qs + runs[run].first / 5;
}

/* Digits to the base of 3, at DIGITS[0], DIGITS[stride] …, as a fraction of 256
 * that is rounded up; then reading gets each of them back exactly. */
static uint8_t
pack_digits(const struct run *run, const uint8_t *digits)
{
    unsigned value = 0;

    for (int k = 0; k < 5; k++)
        value = 3 * value + (k < run->digits ? digits[k * run->stride] : 0);
    return (uint8_t)((256 * value + 242) / 243);
}

void
gb_tq1_0_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_tq1_0 *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int r = 0; r < N_RUNS; r++) {
            const uint8_t *bytes = run_bytes(block, r);

            for (int j = 0; j < runs[r].stride; j++) {
                unsigned fraction = bytes[j];

                for (int k = 0; k < runs[r].digits; k++) {
                    fraction *= 3;
                    x[runs[r].first + runs[r].stride * k + j] =
                        d * (float)((int)(fraction >> 8) - 1);
                    fraction &= 255;
                }
            }
        }
    }
}

void
gb_tq1_0_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_tq1_0 *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        uint8_t digits[GB_QK_K];

        block->d = gb_f32_to_f16_le(ternary(x, digits));
        for (int j = 0; j < 32; j++)
            block->qs[j] = pack_digits(&runs[0], digits + j);
        for (int j = 0; j < 16; j++)
            block->qs[32 + j] = pack_digits(&runs[1], digits + 160 + j);
        for (int j = 0; j < 4; j++)
            block->qh[j] = pack_digits(&runs[2], digits + 240 + j);
    }
}

void
gb_tq1_0_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance; /* the largest value decides alone */
    gb_tq1_0_from_float(x, y, n);
}

void
gb_tq2_0_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_tq2_0 *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);
        uint8_t digits[GB_QK_K];

        gb_unpack_pairs(block->qs, digits);
        for (int e = 0; e < GB_QK_K; e++)
            x[e] = d * (float)(digits[e] - 1);
    }
}

void
gb_tq2_0_from_float(const float *x, void *y, int64_t n)
{
    struct gb_block_tq2_0 *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        uint8_t digits[GB_QK_K];

        block->d = gb_f32_to_f16_le(ternary(x, digits));
        gb_pack_pairs(digits, block->qs);
    }
}

void
gb_tq2_0_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    (void)importance;
    gb_tq2_0_from_float(x, y, n);
}
