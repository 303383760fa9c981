/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q5.c - GGML/GGUF Q5_0 and Q5_1: blocks of 32 values.
 *
 *     Q5_0  | d f16 | qh 4 | qs 16 |          22 bytes, value = d * (code - 16)
 *     Q5_1  | d f16 | m f16 | qh 4 | qs 16 |  24 bytes, value = d * code + m
 *
 * The low four bits of code e are those of Q4_0 (q4.c); the fifth is bit e of
 * the 32-bit word qh.
 *
 * GEMV (gemv.h, GB_ORDER_NIBBLES): as q4.c, and 64 fifth bits, collected from
 * the words of four blocks in a general register, are a mask with which 16 is
 * added.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/repacked.h"
#include "lib/base/byte-order.h"
#include "lib/type/blocks.h"

#include <stddef.h>

/* CODES, with 16 added where the bit of the word QH is set. */
GB_INLINE q32
add_fifth_bits(q32 codes, const uint8_t *qh)
{
    uint32_t bits;

    memcpy(&bits, qh, sizeof(bits));
    return q32_or(codes, q32_where(q32_mask_of_bits(gb_le32(bits)),
                                   q32_set1(16)));
}

/* Sixteen bits from bit AT (0 or 16) on of each of four words. */
GB_INLINE uint64_t
sixteen_of_each(const uint32_t *w, int at)
{
    const uint64_t mask = 0x0000ffff0000ffff;
    const uint64_t even = w[0] | (uint64_t)w[2] << 32;
    const uint64_t odd = w[1] | (uint64_t)w[3] << 32;

    return (even >> at & mask) | (odd >> at & mask) << 16;
}

/* Two vectors of codes as gb_nibble_codes64 makes them, with fifth bits: AT is
 * where the word of fifth bits is in a block; nibbles are behind it. */
GB_INLINE void
five_bit_codes64(const void *super_block, size_t bytes, size_t at, int i, int n,
                 q64 *u)
{
    uint32_t w[4];

    for (int j = 0; j < 4; j++)
        memcpy(&w[j], gb_nth_block(super_block, bytes, 4 * i + j, n) + at,
               sizeof(w[j]));
    gb_le_bytes(w, sizeof(w[0]), sizeof(w));
    gb_nibble_codes64(super_block, bytes, at + sizeof(w[0]), i, n, u);
    u[0] = q64_or_where(u[0], sixteen_of_each(w, 0), 16);
    u[1] = q64_or_where(u[1], sixteen_of_each(w, 16), 16);
}

GB_INLINE void
q5_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q5_0 *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q5_0_codes32(const void *block, int i)
{
    const struct gb_block_q5_0 *b = block;

    (void)i;
    return add_fifth_bits(q32_nibbles(b->qs), b->qh);
}

GB_INLINE void
q5_0_codes64(const void *super_block, int i, int n, q64 *u)
{
    five_bit_codes64(super_block, sizeof(struct gb_block_q5_0),
                     offsetof(struct gb_block_q5_0, qh), i, n, u);
}

GB_INLINE void
q5_0_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_block_halves(super_block, sizeof(struct gb_block_q5_0), n);
}

static const struct gb_format q5_0_format = {
    .activation = GGML_TYPE_Q8_0,
    .block = 32,
    .bytes = 22,
    GB_MICRO_KERNEL_OF(32, 4, 0),
    .bias = 16,
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_block_reader q5_0 = {
    .format = &q5_0_format,
    .scales = q5_0_scales,
    .codes32 = q5_0_codes32,
    .codes64 = q5_0_codes64,
    .scale_vectors = q5_0_scale_vectors,
};

GB_FORMAT_KERNELS(q5_0)

/* The word of fifth bits is in front of the nibbles. */
GB_INLINE void
five_bit_repacked_codes(const char *x, vq *u)
{
    const vq bits = vq_load(x);

    repacked_nibbles(x + REPACKED_STEP, u);
#pragma GCC unroll 8
    for (int j = 0; j < REPACKED_DOT4S; j++)
        u[j] = vq_or_fifth(u[j], bits, j);
}

GB_REPACKED_KERNELS(q5_0, five_bit_repacked_codes)

GB_INLINE void
q5_1_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q5_1 *b = block;

    q_half_pairs(d, m, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q5_1_codes32(const void *block, int i)
{
    const struct gb_block_q5_1 *b = block;

    (void)i;
    return add_fifth_bits(q32_nibbles(b->qs), b->qh);
}

GB_INLINE void
q5_1_codes64(const void *super_block, int i, int n, q64 *u)
{
    five_bit_codes64(super_block, sizeof(struct gb_block_q5_1),
                     offsetof(struct gb_block_q5_1, qh), i, n, u);
}

GB_INLINE void
q5_1_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    gb_block_half_pairs(super_block, sizeof(struct gb_block_q5_1), n, d, m);
}

static const struct gb_format q5_1_format = {
    .activation = GGML_TYPE_Q8_1,
    .block = 32,
    .bytes = 24,
    GB_MICRO_KERNEL_OF(32, 4, 1),
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_block_reader q5_1 = {
    .format = &q5_1_format,
    .scales = q5_1_scales,
    .codes32 = q5_1_codes32,
    .codes64 = q5_1_codes64,
    .scale_vectors = q5_1_scale_vectors,
};

GB_FORMAT_KERNELS(q5_1)
GB_REPACKED_KERNELS(q5_1, five_bit_repacked_codes)
