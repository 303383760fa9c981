/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/blocks.h - blocks of quantised types from any bytes.
 */
#ifndef GB_TESTS_CPU_BLOCKS_H
#define GB_TESTS_CPU_BLOCKS_H

#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"

#include "ggml.h"

#include <stddef.h>
#include <stdint.h>

/* A block's half float, and the float of q8_K, as numbers. */
static inline float
block_half(uint16_t half)
{
    return ggml_fp16_to_fp32(gb_le16(half));
}

static inline float
block_float(float d)
{
    gb_le_bytes(&d, sizeof(d), sizeof(d));
    return d;
}

/* Where the upper bytes of a block's one or two half floats are. */
struct block_halves {
    int n;
    size_t at[2];
};

static inline struct block_halves
block_halves(enum ggml_type type)
{
#define ONE(block, d) { 1, { offsetof(struct gb_block_##block, d) + 1, 0 } }
#define TWO(block, d, m)                             \
    { 2, { offsetof(struct gb_block_##block, d) + 1, \
           offsetof(struct gb_block_##block, m) + 1 } }
    static const struct block_halves halves[GGML_TYPE_COUNT] = {
        [GGML_TYPE_Q4_0] = ONE(q4_0, d),
        [GGML_TYPE_Q4_1] = TWO(q4_1, d, m),
        [GGML_TYPE_Q5_0] = ONE(q5_0, d),
        [GGML_TYPE_Q5_1] = TWO(q5_1, d, m),
        [GGML_TYPE_Q8_0] = ONE(q8_0, d),
        [GGML_TYPE_Q2_K] = TWO(q2_k, d, dmin),
        [GGML_TYPE_Q3_K] = ONE(q3_k, d),
        [GGML_TYPE_Q4_K] = TWO(q4_k, d, dmin),
        [GGML_TYPE_Q5_K] = TWO(q5_k, d, dmin),
        [GGML_TYPE_Q6_K] = ONE(q6_k, d),
        [GGML_TYPE_TQ1_0] = ONE(tq1_0, d),
        [GGML_TYPE_TQ2_0] = ONE(tq2_0, d),
        [GGML_TYPE_IQ1_S] = ONE(iq1_s, d),
        /* The upper four bits are the last byte's. */
        [GGML_TYPE_IQ1_M] = ONE(iq1_m, scales[6]),
        [GGML_TYPE_IQ2_XXS] = ONE(iq2_xxs, d),
        [GGML_TYPE_IQ2_XS] = ONE(iq2_xs, d),
        [GGML_TYPE_IQ2_S] = ONE(iq2_s, d),
        [GGML_TYPE_IQ3_XXS] = ONE(iq3_xxs, d),
        [GGML_TYPE_IQ3_S] = ONE(iq3_s, d),
        [GGML_TYPE_IQ4_NL] = ONE(iq4_nl, d),
        [GGML_TYPE_IQ4_XS] = ONE(iq4_xs, d),
    };
#undef ONE
#undef TWO

    return halves[type];
}

/*
 * N blocks of TYPE, filled with any bytes, get scales between 1/8 and 2, of
 * either sign: any other byte may be in a file as it is, but among scales of
 * any size one block would hide all others, and some are not finite.
 */
static inline void
settle_scales(enum ggml_type type, size_t n, void *blocks)
{
    const struct block_halves halves = block_halves(type);
    uint8_t *block = blocks;

    for (size_t i = 0; i < n; i++, block += ggml_type_size(type))
        for (int h = 0; h < halves.n; h++)
            block[halves.at[h]] =
                (uint8_t)((block[halves.at[h]] & 0x8F) | 0x30);
}

#endif
