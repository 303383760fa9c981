/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q4.c - GGML/GGUF Q4_0 and Q4_1: blocks of 32 values.
 *
 *     Q4_0  | d f16 | qs 16 |          18 bytes, value = d * (code - 8)
 *     Q4_1  | d f16 | m f16 | qs 16 |  20 bytes, value = d * code + m
 *
 * Code e is the low nibble of qs[e] for e < 16, else the high nibble of qs[e -
 * 16].
 *
 * GEMV (gemv.h, GB_ORDER_NIBBLES): the qs of four blocks are one vector of 64
 * bytes; a mask and a shift with a mask make two vectors of codes.  A
 * super-block is 8 blocks: 2 vectors loaded, 4 dot4 of 64 bytes, 2 sums of
 * int32 made floats.  The bias of Q4_0 and the m of Q4_1 meet the sums of
 * activations in one multiply-add.  Rows with a rest are read by windows
 * (windows.h).
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/repacked.h"
#include "lib/type/blocks.h"

#include <stddef.h>

GB_INLINE void
q4_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q4_0 *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q4_0_codes32(const void *block, int i)
{
    const struct gb_block_q4_0 *b = block;

    (void)i;
    return q32_nibbles(b->qs);
}

GB_INLINE void
q4_0_codes64(const void *super_block, int i, int n, q64 *u)
{
    gb_nibble_codes64(super_block, sizeof(struct gb_block_q4_0),
                      offsetof(struct gb_block_q4_0, qs), i, n, u);
}

GB_INLINE void
q4_0_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_block_halves(super_block, sizeof(struct gb_block_q4_0), n);
}

static const struct gb_format q4_0_format = {
    .activation = GGML_TYPE_Q8_0,
    .block = 32,
    .bytes = 18,
    GB_MICRO_KERNEL_OF(32, 8, 0),
    .bias = 8,
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_windows q4_0_windows =
    GB_WINDOWS(gb_block_q4_0, NULL);

static const struct gb_block_reader q4_0 = {
    .format = &q4_0_format,
    .scales = q4_0_scales,
    .codes32 = q4_0_codes32,
    .codes64 = q4_0_codes64,
    .scale_vectors = q4_0_scale_vectors,
    .windows = &q4_0_windows,
};

GB_FORMAT_KERNELS(q4_0)
GB_REPACKED_KERNELS(q4_0, repacked_nibbles)

GB_INLINE void
q4_1_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q4_1 *b = block;

    q_half_pairs(d, m, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q4_1_codes32(const void *block, int i)
{
    const struct gb_block_q4_1 *b = block;

    (void)i;
    return q32_nibbles(b->qs);
}

GB_INLINE void
q4_1_codes64(const void *super_block, int i, int n, q64 *u)
{
    gb_nibble_codes64(super_block, sizeof(struct gb_block_q4_1),
                      offsetof(struct gb_block_q4_1, qs), i, n, u);
}

GB_INLINE void
q4_1_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    gb_block_half_pairs(super_block, sizeof(struct gb_block_q4_1), n, d, m);
}

static const struct gb_format q4_1_format = {
    .activation = GGML_TYPE_Q8_1,
    .block = 32,
    .bytes = 20,
    GB_MICRO_KERNEL_OF(32, 8, 1),
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_windows q4_1_windows =
    GB_WINDOWS(gb_block_q4_1, NULL);

static const struct gb_block_reader q4_1 = {
    .format = &q4_1_format,
    .scales = q4_1_scales,
    .codes32 = q4_1_codes32,
    .codes64 = q4_1_codes64,
    .scale_vectors = q4_1_scale_vectors,
    .windows = &q4_1_windows,
};

GB_FORMAT_KERNELS(q4_1)
GB_REPACKED_KERNELS(q4_1, repacked_nibbles)
