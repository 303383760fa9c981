/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/iq4.c - weights iq4_nl and iq4_xs.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"
#include "lib/type/iq4.h"

#include <stddef.h>

/* The values as wide codes. */
#define WIDE(v) (uint8_t)((v) + Q_WIDE_BIAS)
static const uint8_t wide_values[16] = { GB_IQ4_VALUES(WIDE) };

/* Nibbles as the numbers of values. */
GB_INLINE void
look_up(q64 *u)
{
    for (int j = 0; j < 2; j++)
        u[j] = q64_lookup(wide_values, u[j]);
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
    return q32_lookup(wide_values, q32_nibbles(b->qs));
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

static const struct gb_block_reader iq4_nl = {
    .format = {
        .activation = GGML_TYPE_Q8_0,
        .block = 32,
        .bytes = 18,
        .sub_block = 32,
        .bias = Q_WIDE_BIAS,
        .order = GB_ORDER_NIBBLES,
    },
    .scales = iq4_nl_scales,
    .codes = iq4_nl_codes,
    .units = iq4_nl_units,
    .group_scales = iq4_nl_group_scales,
};

GB_FORMAT_KERNELS(iq4_nl)

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

    return q32_lookup(wide_values, q32_nibbles(b->qs + 16 * g));
}

GB_INLINE void
values_of(q64 both, q64 *u)
{
    u[0] = q64_bits(both, 0, 15);
    u[1] = q64_bits(both, 4, 15);
    look_up(u);
}

GB_INLINE void
iq4_xs_units(const void *group, int i, int n, q64 *u)
{
    const struct gb_block_iq4_xs *b = group;

    (void)n;
    values_of(q64_load_once(b->qs + 64 * i), u);
}

#if Q_WIDE_BIAS == 128

/* The scales that units 0 and 1 have in lane i, and units 2 and 3. */
static const int32_t pieces[2][16] = {
    { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 },
    { 4, 4, 4, 4, 5, 5, 5, 5, 6, 6, 6, 6, 7, 7, 7, 7 },
};

/* Their low four bits in scales_l; the others behind D, above those. */
static const int32_t low_at[8] = { 0, 4, 8, 12, 16, 20, 24, 28 };
static const int32_t high_at[8] = { 12, 14, 16, 18, 20, 22, 24, 26 };

/* Twice eight values of 127 at most times as many activations of 127 * 257 and
 * scales of 32 at most are below 2^31. */
GB_INLINE void
iq4_xs_add(struct gb_gemv_sums *sums, const void *block, const void *group)
{
    const struct gb_block_iq4_xs *b = block;
    const struct gb_q8_super_block *y = group;
    /* Both here: the processor fetches ahead best what it reads in order. */
    const q64 codes[2] = { q64_load_once(b->qs), q64_load_once(b->qs + 64) };
    uint32_t low;
    uint32_t high;
    qs scales;
    q64s s[2];
    q64 u[4];

    memcpy(&low, b->scales_l, sizeof(low));
    memcpy(&high, b, sizeof(high));
    scales = qs_add(qs_add(qs_fields(low, low_at, 15),
                           qs_fields(high, high_at, 48)),
                    qs_set1(-32));
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        values_of(codes[i], u + 2 * i);
        s[i] = gb_add_some_units(q64s_load(y->correction[i]), true, u, 2 * i,
                                 2 * i + 2, y);
        s[i] = q64s_mul(s[i], q64s_pick(scales, pieces[i]));
    }
    gb_add_scaled(&sums->acc[0], q64s_add(s[0], s[1]), y->scale,
                  q64f_set1(q_half(&b->d)));
}

#define IQ4_XS_ADD iq4_xs_add
#else
#define IQ4_XS_ADD NULL
#endif

static const struct gb_block_reader iq4_xs = {
    .format = {
        .activation = GGML_TYPE_Q8_K,
        .block = 256,
        .bytes = 136,
        .sub_block = 32,
        .bias = Q_WIDE_BIAS,
        .order = GB_ORDER_NIBBLES,
        .gemv = GB_GEMV_WIDE_PAIRS,
        .gemv_bias = Q_WIDE_BIAS,
    },
    .scales = iq4_xs_scales,
    .codes = iq4_xs_codes,
    .units = iq4_xs_units,
    .add = IQ4_XS_ADD,
};

GB_FORMAT_KERNELS(iq4_xs)
