/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-q8.c - weights q8_0.
 */
#include "backends/cpu/kernels/blocks.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"

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

static const struct gb_blocks q8_0 = {
    &gb_layout_q8_0, q8_0_scales, q8_0_codes
};

void
GB_K(dots_q8_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                const void *column, float *dst)
{
    gb_block_dots(&q8_0, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_q8_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  const struct gb_panel *panel)
{
    gb_block_unpack(&q8_0, k, rows, x, pitch, panel);
}
