/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q4.c - weights q4_0 and q4_1.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
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
q4_0_codes(const void *block, int g)
{
    const struct gb_block_q4_0 *b = block;

    (void)g;
    return q32_nibbles(b->qs);
}

GB_INLINE void
q4_0_units(const void *super_block, int i, int n, q64 *u)
{
    gb_nibble_units(super_block, sizeof(struct gb_block_q4_0),
                    offsetof(struct gb_block_q4_0, qs), i, n, u);
}

GB_INLINE void
q4_0_all_scales(const void *super_block, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_block_halves(super_block, sizeof(struct gb_block_q4_0), n);
}

static const struct gb_format q4_0_format = {
    .activation = GGML_TYPE_Q8_0,
    .block = 32,
    .bytes = 18,
    .sub_block = 32,
    .bias = 8,
    .dot4s = 8,
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_block_reader q4_0 = {
    .format = &q4_0_format,
    .scales = q4_0_scales,
    .codes = q4_0_codes,
    .units = q4_0_units,
    .all_scales = q4_0_all_scales,
};

GB_FORMAT_KERNELS(q4_0)

GB_INLINE void
q4_1_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q4_1 *b = block;

    q_half_pairs(d, m, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q4_1_codes(const void *block, int g)
{
    const struct gb_block_q4_1 *b = block;

    (void)g;
    return q32_nibbles(b->qs);
}

GB_INLINE void
q4_1_units(const void *super_block, int i, int n, q64 *u)
{
    gb_nibble_units(super_block, sizeof(struct gb_block_q4_1),
                    offsetof(struct gb_block_q4_1, qs), i, n, u);
}

GB_INLINE void
q4_1_all_scales(const void *super_block, int n, qf *d, qf *m)
{
    gb_block_half_pairs(super_block, sizeof(struct gb_block_q4_1), n, d, m);
}

static const struct gb_format q4_1_format = {
    .activation = GGML_TYPE_Q8_1,
    .block = 32,
    .bytes = 20,
    .sub_block = 32,
    .has_min = 1,
    .dot4s = 8,
    .order = GB_ORDER_NIBBLES,
};

static const struct gb_block_reader q4_1 = {
    .format = &q4_1_format,
    .scales = q4_1_scales,
    .codes = q4_1_codes,
    .units = q4_1_units,
    .all_scales = q4_1_all_scales,
};

GB_FORMAT_KERNELS(q4_1)
