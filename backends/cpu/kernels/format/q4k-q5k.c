/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/format/q4k-q5k.c - GGML/GGUF Q4_K and Q5_K: super-blocks of 256
 * values, 8 sub-blocks of 32.
 *
 *     Q4_K  | d f16 | dmin f16 | scales 12 | qs 128 |           144 bytes
 *     Q5_K  | d f16 | dmin f16 | scales 12 | qh 32 | qs 128 |   176 bytes
 *
 *     value e = d * scale[b] * code - dmin * min[b],   b = e / 32
 *
 * 32 bytes of qs hold 64 values: the low nibbles the first 32, the high nibbles
 * the next 32.  The fifth bit of Q5_K is bit b of qh[e % 32].  Scales and mins
 * have six bits, packed as
 *
 *                     bits 7, 6          bits 5 to 0
 *     bytes 0 to 3    scale 4 to 7 high  scale 0 to 3
 *     bytes 4 to 7    min 4 to 7 high    min 0 to 3
 *
 *                     bits 7 to 4        bits 3 to 0
 *     bytes 8 to 11   min 4 to 7 low     scale 4 to 7 low
 *
 * GEMV of Q4_K (gemv.h, in order, GB_ORDER_HALVES): 64 bytes of qs give two
 * vectors, of sub-blocks 0 and 2, 1 and 3; 4 dot4 of 64 bytes and 4 conversions
 * to float a super-block.
 *
 * GEMV of Q5_K is lane-interleaved where wide codes are unsigned: pairs of
 * products are added to 16 bits, multiplied with their six-bit scale and added
 * to int32 (two instructions instead of one dot4), so that only one sum
 * becomes floats.  Mins meet the int8 sums of the activations' sub-blocks in
 * one dot4 of 32 bytes.
 */
#include "backends/cpu/kernels/format/format-kernels.h"
#include "lib/type/blocks.h"

/* The eight scales and eight mins of six bits as bytes, four in a word. */
GB_INLINE void
unpack_six_bits(const uint8_t *packed, uint32_t *scales, uint32_t *mins)
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

    unpack_six_bits(packed, scales, mins);
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
q4_k_codes32(const void *block, int i)
{
    const struct gb_block_q4_k *b = block;

    return q32_bits(q32_load(b->qs + 32 * (i / 2)), 4 * (i % 2), 15);
}

GB_INLINE void
q4_k_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_q4_k *b = super_block;

    (void)n;
    u[0] = q64_bits(q64_load(b->qs + 64 * (i / 2)), 4 * (i % 2), 15);
}

static const struct gb_format q4_k_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 144,
    GB_MICRO_KERNEL_OF(32, 8, 1),
    .order = GB_ORDER_HALVES,
};

static const struct gb_block_reader q4_k = {
    .format = &q4_k_format,
    .scales = q4_k_scales,
    .codes32 = q4_k_codes32,
    .codes64 = q4_k_codes64,
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
q5_k_codes32(const void *block, int i)
{
    const struct gb_block_q5_k *b = block;
    const q32 low = q32_bits(q32_load(b->qs + 32 * (i / 2)), 4 * (i % 2), 15);
    const q32 fifth = q32_bits(q32_load(b->qh), i, 1);

    return q32_or(low, q32_shift_left(fifth, 4));
}

/* Sub-blocks P and P + 2. */
GB_INLINE void
q5_k_codes64(const void *super_block, int i, int n, q64 *u)
{
    const struct gb_block_q5_k *b = super_block;
    const int p = 4 * (i / 2) + i % 2;
    const q64 low = q64_bits(q64_load(b->qs + 64 * (i / 2)), 4 * (i % 2), 15);
    const q64 fifth = q64_bits2(q64_load2(b->qh, b->qh), p, p + 2, 1);

    (void)n;
    u[0] = q64_or(low, q64_shift_left(fifth, 4));
}

#if Q_WIDE_BIAS == 128

/* Vector i has sub-blocks P and P + 2: of which sub-block the scale is of each
 * pair of its codes, as 16-bit words (128 gives a byte of 0). */
#define FOUR(p)      p, 128, p, 128, p, 128, p, 128
#define SUB_BLOCK(p) FOUR(p), FOUR(p), FOUR(p), FOUR(p)
#define SUB_BLOCKS(p)                    \
    {                                    \
        SUB_BLOCK(p), SUB_BLOCK((p) + 2) \
    }
static const uint8_t scale_order[4][64] = { SUB_BLOCKS(0), SUB_BLOCKS(1),
                                            SUB_BLOCKS(4), SUB_BLOCKS(5) };

/* Activations' sums are of 16 values: the sub-block whose min each of them
 * meets, for their high parts and again for their low parts. */
#define PAIRS 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7
static const uint8_t min_order[32] = { PAIRS, PAIRS };

/* S + the products of four vectors with the activations at Y, times scales. */
GB_INLINE q64s
add_scaled_vectors(q64s s, const q64 *u, const q64 *scales, const int8_t *y)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        s = q64s_dot_times(s, u[i], q64_load(y + 64 * i), scales[i]);
    return s;
}

GB_INLINE void
q5_k_add(struct gb_gemv_sums *sums, const void *block, const void *super_block)
{
    const struct gb_block_q5_k *b = block;
    const struct gb_q8_super_block *y = super_block;
    const q64 codes[2] = { q64_load_once(b->qs), q64_load_once(b->qs + 64) };
    /* Fifth bits of vectors 0 and 1 as bits 4 and 5 of fifths[0], of 2 and 3
     * likewise; other bits are not used. */
    const q64 high = q64_bits2(q64_load2(b->qh, b->qh), 0, 2, 255);
    const q64 fifths[2] = { q64_shift_left(high, 4), high };
    const int8_t *activations = y->high;
    q64s s = q64s_zero();
    uint32_t scale_bytes[2];
    uint32_t mins[2];
    q64 scales[4];
    q64 u[4];

    unpack_six_bits(b->scales, scale_bytes, mins);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        scales[i] = q64_of_8(scale_bytes[0] | (uint64_t)scale_bytes[1] << 32,
                             scale_order[i]);
        u[i] = q64_or(q64_bits(codes[i / 2], 4 * (i % 2), 15),
                      q64_bits(fifths[i / 2], i % 2, 16));
    }
    if (y->has_low[0] != 0) {
        s = q64s_add_256(s, add_scaled_vectors(s, u, scales, y->high));
        activations = y->low;
    }
    s = add_scaled_vectors(s, u, scales, activations);
    gb_add_minima(sums, s,
                  qs_dot(qs_set_lane0(0),
                         q32_of_8(mins[0] | (uint64_t)mins[1] << 32, min_order),
                         q32_load(y->sub_block_sums.codes)),
                  y, &b->d);
}

#define Q5_K_ADD q5_k_add
#else
#define Q5_K_ADD NULL
#endif

static const struct gb_format q5_k_format = {
    .activation = GGML_TYPE_Q8_K,
    .block = 256,
    .bytes = 176,
    GB_MICRO_KERNEL_OF(32, 4, 1),
    .order = GB_ORDER_HALVES,
    .gemv = GB_GEMV_WIDE_SUMS,
};

static const struct gb_block_reader q5_k = {
    .format = &q5_k_format,
    .scales = q5_k_scales,
    .codes32 = q5_k_codes32,
    .codes64 = q5_k_codes64,
    .add = Q5_K_ADD,
};

GB_FORMAT_KERNELS(q5_k)
