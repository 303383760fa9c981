/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-neon.h - int8 micro-kernel words for arm64, four rows a vector.
 *
 * With DOTPROD a dot4 is one instruction (SDOT), of signed bytes: wide codes
 * are not biased here.  It can take one of four operands of the other vector
 * for all its lanes, so that sixteen activations are loaded at once and need no
 * broadcast; two columns at a time share the weights' loads.  Without it
 * products are made in 16 bits and added there (VQ_HALVES).
 *
 * MR x NR is 8 x 4 with DOTPROD, 4 x 4 without, and 16 x 4 for floats.
 */
#ifndef GB_CPU_SIMD_DOT4_NEON_H
#define GB_CPU_SIMD_DOT4_NEON_H

#define VF_ROWS         4
#define VF_COLS         4
#define VF_PAIRS        0
#define VQ_COLS         4
#define VQ_TRANSPOSES_HALVES 0

#ifdef __ARM_FEATURE_DOTPROD
#define VQ_ROWS   2
#define VQ_HALVES 0
#define VQ_TILES  1
#else
#define VQ_ROWS   1
#define VQ_HALVES 1
#define VQ_TILES  0
#endif

typedef uint8x16_t vq;
typedef int32x4_t vi;

/* One product for each byte: those of bytes 0 to 7, and of bytes 8 to 15.  Four
 * neighbours belong to a lane of a vi. */
typedef struct {
    int16x8_t low;
    int16x8_t high;
} vh;

static inline vq
vq_load(const void *p)
{
    return vld1q_u8(p);
}

static inline void
vq_store(void *p, vq v)
{
    vst1q_u8(p, v);
}

static inline vq
vq_low_nibbles(vq v)
{
    return vandq_u8(v, vdupq_n_u8(15));
}

static inline vq
vq_high_nibbles(vq v)
{
    return vshrq_n_u8(v, 4);
}

static inline vq
vq_lookup(const void *p, vq v)
{
    return vqtbl1q_u8(vld1q_u8(p), v);
}

/* The byte of the word that has the four bits goes to all bytes of the lane,
 * and each tests its own. */
static inline vq
vq_or_fifth(vq u, vq w, int j)
{
    static const uint8_t from[16] = { 0, 0, 0, 0, 4, 4, 4, 4,
                                      8, 8, 8, 8, 12, 12, 12, 12 };
    const uint8x16_t bytes = vqtbl1q_u8(
        w, vaddq_u8(vld1q_u8(from), vdupq_n_u8((uint8_t)(j / 2))));
    const uint8x16_t bits = vreinterpretq_u8_u32(
        vdupq_n_u32(j % 2 == 0 ? 0x08040201 : 0x80402010));

    return vorrq_u8(u, vandq_u8(vtstq_u8(bytes, bits), vdupq_n_u8(16)));
}

static inline vq
vq_flip(vq v)
{
    return veorq_u8(v, vdupq_n_u8(Q_WIDE_BIAS));
}

static inline vq
vq_broadcast(const void *p)
{
    uint32_t operand;

    memcpy(&operand, p, sizeof(operand));
    return vreinterpretq_u8_u32(vdupq_n_u32(operand));
}

/* Four by four operands: pairs of 32 bits interleaved, then pairs of 64. */
static inline void
vq_transpose(void *dst, const void *src, int64_t pitch)
{
    const uint8_t *from = src;
    uint8_t *to = dst;
    const uint32x4_t r0 = vreinterpretq_u32_u8(vq_load(from));
    const uint32x4_t r1 = vreinterpretq_u32_u8(vq_load(from + pitch));
    const uint32x4_t r2 = vreinterpretq_u32_u8(vq_load(from + 2 * pitch));
    const uint32x4_t r3 = vreinterpretq_u32_u8(vq_load(from + 3 * pitch));
    const uint64x2_t a = vreinterpretq_u64_u32(vtrn1q_u32(r0, r1));
    const uint64x2_t b = vreinterpretq_u64_u32(vtrn2q_u32(r0, r1));
    const uint64x2_t c = vreinterpretq_u64_u32(vtrn1q_u32(r2, r3));
    const uint64x2_t d = vreinterpretq_u64_u32(vtrn2q_u32(r2, r3));

    vst1q_u8(to, vreinterpretq_u8_u64(vtrn1q_u64(a, c)));
    vst1q_u8(to + 16, vreinterpretq_u8_u64(vtrn1q_u64(b, d)));
    vst1q_u8(to + 32, vreinterpretq_u8_u64(vtrn2q_u64(a, c)));
    vst1q_u8(to + 48, vreinterpretq_u8_u64(vtrn2q_u64(b, d)));
}

static inline vi
vi_set1(int32_t x)
{
    return vdupq_n_s32(x);
}

static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    return q_dot_words(s, w, a);
}

static inline vi
vi_dot(vi s, vq u, vq a)
{
    return vi_dot_wide(s, u, a);
}

/* SMULL makes sixteen products of 16 bits, in two vectors. */
static inline vh
vh_dot(vq u, vq a)
{
    const int8x16_t x = vreinterpretq_s8_u8(u);
    const int8x16_t y = vreinterpretq_s8_u8(a);

    return (vh){ vmull_s8(vget_low_s8(x), vget_low_s8(y)),
                 vmull_high_s8(x, y) };
}

/* The caller knows how many products 16 bits hold. */
static inline vh
vh_dot_more(vh h, vq u, vq a)
{
    const int8x16_t x = vreinterpretq_s8_u8(u);
    const int8x16_t y = vreinterpretq_s8_u8(a);

    return (vh){ vmlal_s8(h.low, vget_low_s8(x), vget_low_s8(y)),
                 vmlal_high_s8(h.high, x, y) };
}

/* Neighbours added in 16 bits, then to the sums of 32. */
static inline vi
vi_add_pairs(vi s, vh h)
{
    return vpadalq_s16(s, vpaddq_s16(h.low, h.high));
}

static inline vi
vi_add_256(vi s, vi t)
{
    return vaddq_s32(s, vshlq_n_s32(t, 8));
}

static inline vf
vf_from_vi(vi s)
{
    return vcvtq_f32_s32(s);
}

#if defined(__ARM_FEATURE_MATMUL_INT8)
#include "backends/cpu/simd/dot4-i8mm.h"
#elif defined(__ARM_FEATURE_DOTPROD)

/* Sixteen weights of four rows, as four successive operands; then sixteen
 * activations of either column, and the sums of either. */
typedef struct {
    int8x16_t operand[4];
} vq4;

typedef struct {
    int8x16_t column[2];
} va2;

typedef struct {
    vi sum[2];
} vi2;

static inline void
vq4_transpose(void *dst, const void *src, int64_t pitch)
{
    vq_transpose(dst, src, pitch);
}

static inline vq4
vq4_load(const void *p)
{
    const int8_t *from = p;

    return (vq4){ { vld1q_s8(from), vld1q_s8(from + 16), vld1q_s8(from + 32),
                    vld1q_s8(from + 48) } };
}

static inline va2
va2_load(const void *p, const void *p2)
{
    return (va2){ { vld1q_s8(p), vld1q_s8(p2) } };
}

static inline vi2
vi2_join(vi s, vi s2)
{
    return (vi2){ { s, s2 } };
}

static inline vi
vi2_sums(vi2 t, int i)
{
    return t.sum[i];
}

/* Four dot4 with the four operands of a column, each taken from its place in
 * A. */
static inline vi
vi_dot_column(vi s, vq4 w, int8x16_t a)
{
    s = vdotq_laneq_s32(s, w.operand[0], a, 0);
    s = vdotq_laneq_s32(s, w.operand[1], a, 1);
    s = vdotq_laneq_s32(s, w.operand[2], a, 2);
    return vdotq_laneq_s32(s, w.operand[3], a, 3);
}

static inline vi2
vi2_dot_wide(vi2 t, vq4 w, va2 a)
{
    return vi2_join(vi_dot_column(t.sum[0], w, a.column[0]),
                    vi_dot_column(t.sum[1], w, a.column[1]));
}

static inline vi2
vi2_dot(vi2 t, vq4 u, va2 a)
{
    return vi2_dot_wide(t, u, a);
}

#endif

/* Saturated to 16 bits, then to bytes; the four of them leave as a word. */
static inline void
vf_store_words_i8(int8_t *p, int32x4_t words)
{
    const int16x4_t halves = vqmovn_s32(words);
    const int8x8_t bytes = vqmovn_s16(vcombine_s16(halves, halves));
    const int32_t four = vget_lane_s32(vreinterpret_s32_s8(bytes), 0);

    memcpy(p, &four, sizeof(four));
}

static inline void
vf_store_i8(int8_t *p, vf v)
{
    vf_store_words_i8(p, vcvtnq_s32_f32(v));
}

static inline void
vf_store_i8_trunc(int8_t *p, vf v)
{
    vf_store_words_i8(p, vcvtq_s32_f32(v));
}

#endif
