/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-q4.c - weights q4_0 and q4_1.
 */
#include "backends/cpu/kernels/block-weight.h"
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
q4_0_units(const void *group, int i, int n, q64 *u)
{
    gb_nibble_units(group, sizeof(struct gb_block_q4_0),
                    offsetof(struct gb_block_q4_0, qs), i, n, u);
}

GB_INLINE void
q4_0_group_scales(const void *group, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_group_halves(group, sizeof(struct gb_block_q4_0), n);
}

static const struct gb_blocks q4_0 = {
    &gb_layout_q4_0, q4_0_scales, q4_0_codes, q4_0_units, q4_0_group_scales,
    NULL
};

GB_BLOCK_WEIGHT(q4_0)

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
q4_1_units(const void *group, int i, int n, q64 *u)
{
    gb_nibble_units(group, sizeof(struct gb_block_q4_1),
                    offsetof(struct gb_block_q4_1, qs), i, n, u);
}

GB_INLINE void
q4_1_group_scales(const void *group, int n, qf *d, qf *m)
{
    gb_group_half_pairs(group, sizeof(struct gb_block_q4_1), n, d, m);
}

static const struct gb_blocks q4_1 = {
    &gb_layout_q4_1, q4_1_scales, q4_1_codes, q4_1_units, q4_1_group_scales,
    NULL
};

GB_BLOCK_WEIGHT(q4_1)
