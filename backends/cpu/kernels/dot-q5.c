/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-q5.c - weights q5_0 and q5_1.
 */
#include "backends/cpu/kernels/blocks.h"
#include "backends/cpu/kernels/weights.h"
#include "lib/type/blocks.h"

/* CODES plus 16 where the bit of QH is set. */
GB_INLINE q32
add_fifth_bits(q32 codes, const uint8_t *qh)
{
    uint32_t bits;

    memcpy(&bits, qh, sizeof(bits));
    return q32_or(codes, q32_where(q32_spread(bits), q32_set1(16)));
}

GB_INLINE void
q5_0_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q5_0 *b = block;

    (void)m;
    q_halves(d, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q5_0_codes(const void *block, int g)
{
    const struct gb_block_q5_0 *b = block;

    (void)g;
    return add_fifth_bits(q32_nibbles(b->qs), b->qh);
}

static const struct gb_blocks q5_0 = {
    &gb_layout_q5_0, q5_0_scales, q5_0_codes
};

void
GB_K(dots_q5_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                const void *column, float *dst)
{
    gb_block_dots(&q5_0, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_q5_0)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  const struct gb_panel *panel)
{
    gb_block_unpack(&q5_0, k, rows, x, pitch, panel);
}

GB_INLINE void
q5_1_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q5_1 *b = block;

    q_half_pairs(d, m, &b->d, sizeof(*b), n);
}

GB_INLINE q32
q5_1_codes(const void *block, int g)
{
    const struct gb_block_q5_1 *b = block;

    (void)g;
    return add_fifth_bits(q32_nibbles(b->qs), b->qh);
}

static const struct gb_blocks q5_1 = {
    &gb_layout_q5_1, q5_1_scales, q5_1_codes
};

void
GB_K(dots_q5_1)(int64_t k, int64_t rows, const void *x, size_t pitch,
                const void *column, float *dst)
{
    gb_block_dots(&q5_1, k, rows, x, pitch, column, dst);
}

void
GB_K(unpack_q5_1)(int64_t k, int64_t rows, const void *x, size_t pitch,
                  const struct gb_panel *panel)
{
    gb_block_unpack(&q5_1, k, rows, x, pitch, panel);
}
