/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q5.c - weights q5_0 and q5_1.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

#include <stddef.h>

/* CODES plus 16 where the bit of QH is set. */
GB_INLINE q32
add_fifth_bits(q32 codes, const uint8_t *qh)
{
    uint32_t bits;

    memcpy(&bits, qh, sizeof(bits));
    return q32_or(codes, q32_where(q32_mask_of_bits(bits), q32_set1(16)));
}

/* Sixteen from each of four words, the first ones when AT is 0, the second ones
 * when it is 16. */
GB_INLINE uint64_t
sixteens(const uint32_t *w, int at)
{
    const uint64_t mask = 0x0000ffff0000ffff;
    const uint64_t even = w[0] | (uint64_t)w[2] << 32;
    const uint64_t odd = w[1] | (uint64_t)w[3] << 32;

    return (even >> at & mask) | (odd >> at & mask) << 16;
}

/* The units of blocks whose fifth bits lie before their nibbles. */
GB_INLINE void
fifth_units(const void *group, size_t bytes, size_t at, int i, int n, q64 *u)
{
    uint32_t w[4];

    for (int j = 0; j < 4; j++)
        memcpy(&w[j], gb_group_block(group, bytes, 4 * i + j, n) + at,
               sizeof(w[j]));
    gb_nibble_units(group, bytes, at + sizeof(w[0]), i, n, u);
    u[0] = q64_or_where(u[0], sixteens(w, 0), 16);
    u[1] = q64_or_where(u[1], sixteens(w, 16), 16);
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

GB_INLINE void
q5_0_units(const void *group, int i, int n, q64 *u)
{
    fifth_units(group, sizeof(struct gb_block_q5_0),
                offsetof(struct gb_block_q5_0, qh), i, n, u);
}

GB_INLINE void
q5_0_group_scales(const void *group, int n, qf *d, qf *m)
{
    (void)m;
    *d = gb_group_halves(group, sizeof(struct gb_block_q5_0), n);
}

static const struct gb_block_reader q5_0 = {
    .format = {
        .activation = GGML_TYPE_Q8_0,
        .block = 32,
        .bytes = 22,
        .sub_block = 32,
        .bias = 16,
        .dot4s = 4,
        .order = GB_ORDER_NIBBLES,
    },
    .scales = q5_0_scales,
    .codes = q5_0_codes,
    .units = q5_0_units,
    .group_scales = q5_0_group_scales,
};

GB_FORMAT_KERNELS(q5_0)

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

GB_INLINE void
q5_1_units(const void *group, int i, int n, q64 *u)
{
    fifth_units(group, sizeof(struct gb_block_q5_1),
                offsetof(struct gb_block_q5_1, qh), i, n, u);
}

GB_INLINE void
q5_1_group_scales(const void *group, int n, qf *d, qf *m)
{
    gb_group_half_pairs(group, sizeof(struct gb_block_q5_1), n, d, m);
}

static const struct gb_block_reader q5_1 = {
    .format = {
        .activation = GGML_TYPE_Q8_1,
        .block = 32,
        .bytes = 24,
        .sub_block = 32,
        .has_min = 1,
        .dot4s = 4,
        .order = GB_ORDER_NIBBLES,
    },
    .scales = q5_1_scales,
    .codes = q5_1_codes,
    .units = q5_1_units,
    .group_scales = q5_1_group_scales,
};

GB_FORMAT_KERNELS(q5_1)
