/* SPDX-License-Identifier: MIT */
/*
 * type/q6k.c - six bits a value, sub-blocks of 16 with an eight-bit scale.
 */
#include "config.h"

#include "lib/type/blocks.h"
#include "lib/type/format.h"
#include "lib/type/half.h"
#include "lib/type/search.h"

#include <math.h>
#include <string.h>

#define SUBS 16 /* sub-blocks, and values in each */

/* Where a value's bits are. */
struct place {
    int low;        /* byte of ql */
    int low_shift;  /* 0 or 4 */
    int high;       /* byte of qh */
    int high_shift; /* 0, 2, 4 or 6 */
};

static struct place
place_of(int e)
{
    const int half = e / 128, k = e % 128 / 32, l = e % 32;

    return (struct place){
        .low = 64 * half + l + 32 * (k % 2),
        .low_shift = 4 * (k / 2),
        .high = 32 * half + l,
        .high_shift = 2 * k,
    };
}

void
gb_q6_k_to_float(const void *y, float *x, int64_t n)
{
    const struct gb_block_q6_k *block = y;

    for (; n > 0; n -= GB_QK_K, x += GB_QK_K, block++) {
        const float d = gb_f16_le_to_f32(block->d);

        for (int e = 0; e < GB_QK_K; e++) {
            const struct place at = place_of(e);
            const int code =
                (block->ql[at.low] >> at.low_shift & 15) |
                (block->qh[at.high] >> at.high_shift & 3) << 4;

            x[e] = d * (float)block->scales[e / SUBS] * (float)(code - 32);
        }
    }
}

static void
pack(const uint8_t *codes, struct gb_block_q6_k *block)
{
    memset(block->ql, 0, sizeof(block->ql));
    memset(block->qh, 0, sizeof(block->qh));
    for (int e = 0; e < GB_QK_K; e++) {
        const struct place at = place_of(e);

        block->ql[at.low] |= (uint8_t)((codes[e] & 15) << at.low_shift);
        block->qh[at.high] |= (uint8_t)(codes[e] >> 4 << at.high_shift);
    }
}

/* Codes against the scales that a reader will see. */
static void
code_again(const float *x, const struct gb_block_q6_k *block, uint8_t *codes)
{
    const float d = gb_f16_le_to_f32(block->d);

    for (int e = 0; e < GB_QK_K; e++) {
        const float scale = d * (float)block->scales[e / SUBS];

        if (scale != 0.0f)
            codes[e] = (uint8_t)(gb_round(x[e] / scale, -32, 31) + 32);
    }
}

static void
quantize_block(const float *x, const float *importance,
               struct gb_block_q6_k *block)
{
    float scales[SUBS], largest, inverse;
    uint8_t codes[GB_QK_K];

    for (int b = 0; b < SUBS; b++)
        scales[b] = gb_search_sym(
            SUBS, 32, x + SUBS * b,
            importance != NULL ? importance + SUBS * b : NULL,
            codes + SUBS * b);
    largest = gb_search_largest(SUBS, scales);
    if (fabsf(largest) < GB_SEARCH_TINY) {
        memset(block, 0, sizeof(*block));
        return;
    }
    inverse = -128.0f / largest;
    block->d = gb_f32_to_f16_le(1.0f / inverse);
    for (int b = 0; b < SUBS; b++)
        block->scales[b] = (int8_t)gb_round(inverse * scales[b], -128, 127);
    code_again(x, block, codes);
    pack(codes, block);
}

void
gb_q6_k_quantize(const float *x, void *y, int64_t n, const float *importance)
{
    struct gb_block_q6_k *block = y;

    for (int64_t i = 0; i < n; i += GB_QK_K, block++)
        quantize_block(x + i, importance != NULL ? importance + i : NULL,
                       block);
}

void
gb_q6_k_from_float(const float *x, void *y, int64_t n)
{
    gb_q6_k_quantize(x, y, n, NULL);
}
