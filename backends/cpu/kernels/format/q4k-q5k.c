/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q4k-q5k.c - weights q4_K and q5_K.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

/* Eight scales and as many mins of six bits each, four at a time. */
GB_INLINE void
bytes_of_six(const uint8_t *packed, uint32_t *scales, uint32_t *mins)
{
    uint32_t w[3];

    memcpy(w, packed, sizeof(w));
    scales[0] = w[0] & 0x3f3f3f3f;
    mins[0] = w[1] & 0x3f3f3f3f;
    scales[1] = (w[2] & 0x0f0f0f0f) | (w[0] >> 2 & 0x30303030);
    mins[1] = (w[2] >> 4 & 0x0f0f0f0f) | (w[1] >> 2 & 0x30303030);
}

GB_INLINE void
scales_and_mins(const uint8_t *packed, const void *d_half,
                const void *dmin_half, float *d, float *m)
{
    uint32_t scales[2];
    uint32_t mins[2];

    bytes_of_six(packed, scales, mins);
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

static const struct gb_block_reader q4_k = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 144,
        .sub_block = 32,
        .has_min = 1,
        .dot4s = 8,
        .order = GB_ORDER_HALVES,
    },
    .scales = q4_k_scales,
    .codes = q4_k_codes,
    .units = q4_k_units,
};

GB_FORMAT_KERNELS(q4_k)

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

#if Q_WIDE_BIAS == 128

/* Which scales the pairs of a unit's values have, as words. */
#define FOUR(p)   p, 128, p, 128, p, 128, p, 128
#define HALF(p)   FOUR(p), FOUR(p), FOUR(p), FOUR(p)
#define PIECES(p) { HALF(p), HALF((p) + 2) }
static const uint8_t pieces[4][64] = {
    PIECES(0), PIECES(1), PIECES(4), PIECES(5)
};

/* Which mins sub-blocks of 16 values have, twice. */
#define PAIRS 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
static const uint8_t chunks[32] = { PAIRS, PAIRS };

GB_INLINE q64s
add_units_times(q64s s, const q64 *u, const q64 *scales, const int8_t *y)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s = q64s_dot_times(s, u[i], q64_load(y + 64 * i), scales[i]);
    return s;
}

GB_INLINE void
q5_k_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const struct gb_block_q5_k *b = block;
    const struct gb_q8_super_block *y = group;
    const q64 codes[2] = { q64_load_once(b->qs), q64_load_once(b->qs + 64) };
    /* Of two units each as bits 4 and 5; the others are any. */
    const q64 high = q64_bits2(q64_load2(b->qh, b->qh), 0, 2, 255);
    const q64 fifths[2] = { q64_shift_left(high, 4), high };
    const int8_t *activations = y->high;
    q64s s = q64s_zero();
    uint32_t bytes[2];
    uint32_t mins[2];
    q64 scales[4];
    q64 u[4];

    bytes_of_six(b->scales, bytes, mins);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        scales[i] = q64_of_8(bytes[0] | (uint64_t)bytes[1] << 32, pieces[i]);
        u[i] = q64_or(q64_bits(codes[i / 2], 4 * (i % 2), 15),
                      q64_bits(fifths[i / 2], i % 2, 16));
    }
    if (y->has_low[0] != 0) {
        s = q64s_add_256(s, add_units_times(s, u, scales, y->high));
        activations = y->low;
    }
    s = add_units_times(s, u, scales, activations);
    gb_add_minima(sums, s,
                  qs_dot(qs_set_lane0(0),
                         q32_of_8(mins[0] | (uint64_t)mins[1] << 32, chunks),
                         q32_load(y->sub_block_sums.codes)),
                  y, &b->d);
}

#define Q5_K_ADD q5_k_add
#else
#define Q5_K_ADD NULL
#endif

static const struct gb_block_reader q5_k = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 176,
        .sub_block = 32,
        .has_min = 1,
        .dot4s = 4,
        .order = GB_ORDER_HALVES,
        .gemv = GB_GEMV_WIDE_SUMS,
    },
    .scales = q5_k_scales,
    .codes = q5_k_codes,
    .units = q5_k_units,
    .add = Q5_K_ADD,
};

GB_FORMAT_KERNELS(q5_k)
