/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q6k.c - GGML/GGUF Q6_K: super-blocks of 256 values, 16
 * sub-blocks of 16.
 *
 *     | ql 128 | qh 64 | scales int8 16 | d f16 |   210 bytes
 *
 *     value e = d * scales[e / 16] * (code - 32)
 *
 * Each half of a super-block (128 values) has 64 bytes of ql and 32 of qh:
 *
 *                  ql, byte 0 to 31     ql, byte 32 to 63    qh, bits
 *     values   0   low nibble                                0, 1
 *             32                        low nibble           2, 3
 *             64   high nibble                               4, 5
 *             96                        high nibble          6, 7
 *
 * GEMV (gemv.h, in order, GB_ORDER_PLAIN): low nibbles of 64 bytes of ql are
 * codes 0 to 63 of a half, high nibbles 64 to 127; the two high bits come from
 * qh twice, shifted by different counts in each 32 bytes.  A super-block takes
 * 4 dot4 of 64 bytes and 4 conversions with 4 scales each; the bias is a
 * zero-point correction in float, scale times minus 32 times the sum of the
 * sub-block's activations.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

GB_INLINE void
q6_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q6_k *b = block;
    const float super_scale = q_half(&b->d);

    (void)n;
    (void)m;
    q_floats_i8(d, b->scales, super_scale);
    q_floats_i8(d + 8, b->scales + 8, super_scale);
}

GB_INLINE q32
q6_k_codes32(const void *block, int i)
{
    const struct gb_block_q6_k *b = block;
    const int h = i / 4;
    const int k = i % 4;
    const q32 low = q32_bits(
        q32_load(b->ql + 64 * h + 32 * (k % 2)), 4 * (k / 2), 15);
    const q32 high = q32_bits(q32_load(b->qh + 32 * h), 2 * k, 3);

    return q32_or(low, q32_shift_left(high, 4));
}

GB_INLINE void
q6_k_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_q6_k *b = super_block;
    const int h = i / 2;
    const int k = i % 2 * 2;
    const uint8_t *qh = b->qh + 32 * h;
    const q64 low = q64_bits(q64_load(b->ql + 64 * h), 4 * (i % 2), 15);
    const q64 high = q64_bits2(q64_load2(qh, qh), 2 * k, 2 * k + 2, 3);

    (void)n;
    u[0] = q64_or(low, q64_shift_left(high, 4));
}

static const struct gb_format q6_k_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 210,
    GB_MICRO_KERNEL_OF(16, 2, 0),
    .bias = 32,
};

static const struct gb_block_reader q6_k = {
    .format = &q6_k_format,
    .scales = q6_k_scales,
    .codes32 = q6_k_codes32,
    .codes64 = q6_k_codes64,
};

GB_FORMAT_KERNELS(q6_k)
