/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/dot-q45k.c - weights q4_K and q5_K.
 */
#include "backends/cpu/kernels/block-weight.h"
#include "lib/type/blocks.h"

/* Eight scales and as many mins of six bits each, four at a time. */
GB_INLINE void
scales_and_mins(const uint8_t *packed, const void *d_half,
                const void *dmin_half, float *d, float *m)
{
    uint32_t w[3];
    uint32_t scales[2];
    uint32_t mins[2];

    memcpy(w, packed, sizeof(w));
    scales[0] = w[0] & 0x3f3f3f3f;
    mins[0] = w[1] & 0x3f3f3f3f;
    scales[1] = (w[2] & 0x0f0f0f0f) | (w[0] >> 2 & 0x30303030);
    mins[1] = (w[2] >> 4 & 0x0f0f0f0f) | (w[1] >> 2 & 0x30303030);
    q_floats_u8(d, scales, q_half(d_half));
    q_floats_u8(m, mins, -q_half(dmin_half));
}

GB_INLINE void
q4_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q4_k *b = block;

    (void)n;
    scales_and_mins(b->scales, &b->d, &b->dmin, d, m);
}

GB_INLINE q32
q4_k_codes(const void *block, int g)
{
    const struct gb_block_q4_k *b = block;

    return q32_bits(q32_load(b->qs + 32 * (g / 2)), 4 * (g % 2), 15);
}

GB_INLINE void
q4_k_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_q4_k *b = group;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs + 64 * (i / 2)), 4 * (i % 2), 15);
}

static const struct gb_blocks q4_k = {
    &gb_layout_q4_k, q4_k_scales, q4_k_codes, q4_k_units, NULL, NULL
};

GB_BLOCK_WEIGHT(q4_k)

GB_INLINE void
q5_k_scales(const void *block, int n, float *d, float *m)
{
    const struct gb_block_q5_k *b = block;

    (void)n;
    scales_and_mins(b->scales, &b->d, &b->dmin, d, m);
}

GB_INLINE q32
q5_k_codes(const void *block, int g)
{
    const struct gb_block_q5_k *b = block;
    const q32 low = q32_bits(q32_load(b->qs + 32 * (g / 2)), 4 * (g % 2), 15);
    const q32 fifth = q32_bits(q32_load(b->qh), g, 1);

    return q32_or(low, q32_shift_left(fifth, 4));
}

/* Pieces P and P + 2. */
GB_INLINE void
q5_k_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_q5_k *b = group;
    const int p = 4 * (i / 2) + i % 2;
    const q64 low = q64_bits(q64_load(b->qs + 64 * (i / 2)), 4 * (i % 2), 15);
    const q64 fifth = q64_bits2(q64_load2(b->qh, b->qh), p, p + 2, 1);

    (void)n;
    u[0] = q64_or(low, q64_shift_left(fifth, 4));
}

static const struct gb_blocks q5_k = {
    &gb_layout_q5_k, q5_k_scales, q5_k_codes, q5_k_units, NULL, NULL
};

GB_BLOCK_WEIGHT(q5_k)
