/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-iq4.c - weights iq4_nl and iq4_xs.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"

#include <stddef.h>

/* Nibbles as the numbers of values. */
GB_INLINE void
look_up(q64 *u)
{
    for (int j = 0; j < 2; j++)
        u[j] = q64_xor(q64_lookup(gb_iq4_values, u[j]),
                       q64_set1(Q_WIDE_OFFSET));
}

GB_INLINE void
iq4_nl_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq4_nl *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
iq4_nl_codes(const void *block, int g)
{
    const struct gb_block_iq4_nl *b = block;

    (void)g;
    return q32_xor(q32_lookup(gb_iq4_values, q32_nibbles(b->qs)),
                   q32_set1(Q_WIDE_OFFSET));
}

GB_INLINE void
iq4_nl_units(const void *group, int i, int n, q64 *u)
{
    gb_nibble_units(group, sizeof(struct gb_block_iq4_nl),
                    offsetof(struct gb_block_iq4_nl, qs), i, n, u);
    look_up(u);
}

GB_INLINE void
iq4_nl_group_scales(const void *group, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_group_halves(group, sizeof(struct gb_block_iq4_nl), n);
}

static const struct gb_blocks iq4_nl = {
    &gb_layout_iq4_nl, iq4_nl_scales, iq4_nl_codes, iq4_nl_units,
    iq4_nl_group_scales, NULL
};

GB_BLOCK_WEIGHT(iq4_nl)

/* Eight scales of six bits minus 32, the low four bits of which are neighbours'
 * nibbles. */
GB_INLINE void
iq4_xs_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_iq4_xs *b = block;
    int8_t scales[8];

    (void)n;
    (void)m;
#pragma GCC unroll 8
    for (int g = 0; g < 8; g++)
        scales[g] = (int8_t)((b->scales_l[g / 2] >> 4 * (g % 2) & 15) +
                             (b->scales_h >> 2 * g & 3) * 16 - 32);
    q_floats_i8(d, scales, q_half(&b->d));
}

GB_INLINE q32
iq4_xs_codes(const void *block, int g)
{
    const struct gb_block_iq4_xs *b = block;

    return q32_xor(q32_lookup(gb_iq4_values, q32_nibbles(b->qs + 16 * g)),
                   q32_set1(Q_WIDE_OFFSET));
}

GB_INLINE void
iq4_xs_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq4_xs *b = group;
    const q64 both = q64_load(b->qs + 64 * i);

    (void)n;
    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
    look_up(u);
}

static const struct gb_blocks iq4_xs = {
    &gb_layout_iq4_xs, iq4_xs_scales, iq4_xs_codes, iq4_xs_units, NULL, NULL
};

GB_BLOCK_WEIGHT(iq4_xs)
