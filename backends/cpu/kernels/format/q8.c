/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q8.c - weights q8_0.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
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
    return q32_xor(q32_load(b->qs), q32_set1(Q_WIDE_BIAS));
}

GB_INLINE void
q8_0_units(const void *group, int i, int n, q64 *u)
{
    const size_t bytes = sizeof(struct gb_block_q8_0);
    const size_t at = offsetof(struct gb_block_q8_0, qs);
    const q64 both = q64_load2(gb_group_block(group, bytes, 2 * i, n) + at,
                               gb_group_block(group, bytes, 2 * i + 1, n) + at);

    u[0] = q64_xor(both, q64_set1(Q_WIDE_BIAS));
}

GB_INLINE void
q8_0_group_scales(const void *group, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_group_halves(group, sizeof(struct gb_block_q8_0), n);
}

static const struct gb_block_reader q8_0 = {
    .format = {
        .activation = GGML_TYPE_Q8_0,
        .block = 32,
        .bytes = 34,
        .sub_block = 32,
        .bias = Q_WIDE_BIAS,
    },
    .scales = q8_0_scales,
    .codes = q8_0_codes,
    .units = q8_0_units,
    .group_scales = q8_0_group_scales,
};

GB_FORMAT_KERNELS(q8_0)
