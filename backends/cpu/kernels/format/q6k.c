/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q6k.c - weights q6_K.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

GB_INLINE void
q6_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q6_k *b = block;
    const float factor = q_half(&b->d);

    (void)n;
    (void)m;
    q_floats_i8(d, b->scales, factor);
    q_floats_i8(d + 8, b->scales + 8, factor);
}

GB_INLINE q32
q6_k_codes(const void *block, int g)
{
    const struct gb_block_q6_k *b = block;
    const int h = g / 4;
    const int k = g % 4;
    const q32 low = q32_bits(
        q32_load(b->ql + 64 * h + 32 * (k % 2)), 4 * (k / 2), 15);
    const q32 high = q32_bits(q32_load(b->qh + 32 * h), 2 * k, 3);

    return q32_or(low, q32_shift_left(high, 4));
}

GB_INLINE void
q6_k_units(const void *super_block, int i, int n, q64 *u)
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
    .sub_block = 16,
    .bias = 32,
    .dot4s = 2,
};

static const struct gb_block_reader q6_k = {
    .format = &q6_k_format,
    .scales = q6_k_scales,
    .codes = q6_k_codes,
    .units = q6_k_units,
};

GB_FORMAT_KERNELS(q6_k)
