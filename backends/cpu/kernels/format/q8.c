/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q8.c - GGML/GGUF Q8_0: blocks of 32 values.
 *
 *     | d f16 | qs int8 32 |   34 bytes, value = d * qs[e]
 *
 * Codes are wide (simd/q32.h): where dot4 takes unsigned bytes for weights, the
 * sign bit is flipped, code = qs + 128, and the bias is 128; else codes are qs
 * and the bias is 0.
 *
 * GEMV (gemv.h, in order, GB_ORDER_PLAIN): two blocks are a vector of 64 codes,
 * 4 dot4 of 64 bytes a super-block of 8 blocks.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "backends/cpu/kernels/format/repacked.h"
#include "lib/type/blocks.h"

#include <stddef.h>

GB_INLINE void
q8_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q8_0 *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q8_0_codes32(const void *block, int i)
{
    const struct gb_block_q8_0 *b = block;

    (void)i;
    return q32_xor(q32_load(b->qs), q32_set1(Q_WIDE_BIAS));
}

GB_INLINE void
q8_0_codes64(const void *super_block, int i, int n, q64 *u)
{
    const size_t bytes = sizeof(struct gb_block_q8_0);
    const size_t at = offsetof(struct gb_block_q8_0, qs);
    const q64 both = q64_load2(gb_nth_block(super_block, bytes, 2 * i, n) + at,
                               gb_nth_block(super_block, bytes, 2 * i + 1, n) +
                                   at);

    u[0] = q64_xor(both, q64_set1(Q_WIDE_BIAS));
}

GB_INLINE void
q8_0_scale_vectors(const void *super_block, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_block_halves(super_block, sizeof(struct gb_block_q8_0), n);
}

static const struct gb_format q8_0_format = {
    .activation = GGML_TYPE_Q8_0,
    .block = 32,
    .bytes = 34,
    GB_MICRO_KERNEL_OF(32, 0, 0),
    .bias = Q_WIDE_BIAS,
};

static const struct gb_block_reader q8_0 = {
    .format = &q8_0_format,
    .scales = q8_0_scales,
    .codes32 = q8_0_codes32,
    .codes64 = q8_0_codes64,
    .scale_vectors = q8_0_scale_vectors,
};

GB_FORMAT_KERNELS(q8_0)

GB_INLINE void
q8_0_repacked_codes(const char *x, vq *u)
{
#pragma GCC unroll 8
    for (int j = 0; j < REPACKED_DOT4S; j++)
        u[j] = vq_flip(vq_load(x + REPACKED_STEP * j));
}

GB_REPACKED_KERNELS(q8_0, q8_0_repacked_codes)
