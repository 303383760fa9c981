/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-q8.c - weights q8_0.
 */
#include "backends/cpu/kernels/block-weight.h"
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
q8_0_codes(const void *block, int g)
{
    const struct gb_block_q8_0 *b = block;

    (void)g;
    return q32_xor(q32_load(b->qs), q32_set1(Q_WIDE_OFFSET));
}

GB_INLINE void
q8_0_units(const void *group, int i, int n, q64 *u)
{
    const size_t bytes = sizeof(struct gb_block_q8_0);
    const size_t at = offsetof(struct gb_block_q8_0, qs);
    const q64 both = q64_load2(gb_group_block(group, bytes, 2 * i, n) + at,
                               gb_group_block(group, bytes, 2 * i + 1, n) + at);

    u[0] = q64_xor(both, q64_set1(Q_WIDE_OFFSET));
}

GB_INLINE void
q8_0_group_scales(const void *group, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_group_halves(group, sizeof(struct gb_block_q8_0), n);
}

static const struct gb_blocks q8_0 = {
    &gb_layout_q8_0, q8_0_scales, q8_0_codes, q8_0_units, q8_0_group_scales,
    NULL
};

GB_BLOCK_WEIGHT(q8_0)
