/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32-neon.h - dot products along a row for arm64, 32 bytes in two
 * registers.
 *
 * With DOTPROD a dot4 is one instruction (SDOT), of signed bytes, so that wide
 * codes are not biased.  Without it products of 16 bits are added in pairs,
 * twice.  Products of unsigned bytes by signed ones (USDOT, of I8MM) would
 * bring nothing: codes are below 128 and may be taken as signed bytes.
 *
 * Source  Arm Architecture Reference Manual for A-profile, chapter C7.
 */
#ifndef GB_CPU_SIMD_Q32_NEON_H
#define GB_CPU_SIMD_Q32_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#define Q_WIDE_BIAS 0

/* Bytes 0 to 15 and 16 to 31, and the four sums that belong to either. */
typedef struct {
    uint8x16_t low;
    uint8x16_t high;
} q32;

typedef struct {
    int32x4_t low;
    int32x4_t high;
} qs;

typedef struct {
    float32x4_t low;
    float32x4_t high;
} qf;

/* Loading and storing. */

static inline q32
q32_load2(const void *p, const void *p2)
{
    return (q32){ vld1q_u8(p), vld1q_u8(p2) };
}

static inline q32
q32_load(const void *p)
{
    return q32_load2(p, (const uint8_t *)p + 16);
}

static inline void
q32_store(void *p, q32 v)
{
    vst1q_u8(p, v.low);
    vst1q_u8((uint8_t *)p + 16, v.high);
}

static inline q32
q32_set1(int x)
{
    const uint8x16_t half = vdupq_n_u8((uint8_t)x);

    return (q32){ half, half };
}

/* Unpacking. */

/* Both halves of a byte, one for each register. */
static inline q32
q32_nibbles(const void *p)
{
    const uint8x16_t bytes = vld1q_u8(p);

    return (q32){ vandq_u8(bytes, vdupq_n_u8(15)), vshrq_n_u8(bytes, 4) };
}

/* A shift by a variable goes to the left; a negative count is to the right. */
static inline q32
q32_bits(q32 v, int n, int mask)
{
    const int8x16_t by = vdupq_n_s8((int8_t)-n);
    const uint8x16_t m = vdupq_n_u8((uint8_t)mask);

    return (q32){ vandq_u8(vshlq_u8(v.low, by), m),
                  vandq_u8(vshlq_u8(v.high, by), m) };
}

static inline q32
q32_shift_left(q32 v, int n)
{
    const int8x16_t by = vdupq_n_s8((int8_t)n);

    return (q32){ vshlq_u8(v.low, by), vshlq_u8(v.high, by) };
}

static inline q32
q32_or(q32 a, q32 b)
{
    return (q32){ vorrq_u8(a.low, b.low), vorrq_u8(a.high, b.high) };
}

static inline q32
q32_add(q32 a, q32 b)
{
    return (q32){ vaddq_u8(a.low, b.low), vaddq_u8(a.high, b.high) };
}

static inline q32
q32_xor(q32 a, q32 b)
{
    return (q32){ veorq_u8(a.low, b.low), veorq_u8(a.high, b.high) };
}

static inline q32
q32_mask_of_bits(uint32_t bits)
{
    /* Byte i is given that byte of BITS which its bit is in; CMTST says whether
     * the bit is set. */
    const uint8x16_t bytes = vreinterpretq_u8_u32(vdupq_n_u32(bits));
    const uint8x16_t bit = vreinterpretq_u8_u64(
        vdupq_n_u64(0x8040201008040201u));
    const uint8x16_t first = vcombine_u8(vdup_n_u8(0), vdup_n_u8(1));
    const uint8x16_t last = vcombine_u8(vdup_n_u8(2), vdup_n_u8(3));

    return (q32){ vtstq_u8(vqtbl1q_u8(bytes, first), bit),
                  vtstq_u8(vqtbl1q_u8(bytes, last), bit) };
}

static inline q32
q32_where(q32 m, q32 v)
{
    return (q32){ vandq_u8(m.low, v.low), vandq_u8(m.high, v.high) };
}

/* -v is (v ^ -1) - -1; where the mask is 0 nothing changes. */
static inline q32
q32_negate(q32 m, q32 v)
{
    return (q32){ vsubq_u8(veorq_u8(v.low, m.low), m.low),
                  vsubq_u8(veorq_u8(v.high, m.high), m.high) };
}

/* TBL gives 0 where the index is above 15. */
static inline q32
q32_pick16(q32 v, const uint8_t *p)
{
    return (q32){ vqtbl1q_u8(v.low, vld1q_u8(p)),
                  vqtbl1q_u8(v.high, vld1q_u8(p + 16)) };
}

/* Words of 16 bits times words of 16 bits, the lower half of the product. */
static inline uint8x16_t
q_times(uint8x16_t v, int16x8_t w)
{
    return vreinterpretq_u8_s16(vmulq_s16(vreinterpretq_s16_u8(v), w));
}

static inline q32
q32_times(q32 v, const int16_t *p)
{
    return (q32){ q_times(v.low, vld1q_s16(p)),
                  q_times(v.high, vld1q_s16(p + 8)) };
}

/* 3 * v >> 8 is 1 from 86 on and 2 from 171 on.  A comparison that holds gives
 * 255, which is -1. */
static inline uint8x16_t
q_thirds(uint8x16_t v)
{
    const uint8x16_t minus =
        vaddq_u8(vcgtq_u8(v, vdupq_n_u8(85)), vcgtq_u8(v, vdupq_n_u8(170)));

    return vsubq_u8(vdupq_n_u8(0), minus);
}

static inline q32
q32_thirds(q32 v)
{
    return (q32){ q_thirds(v.low), q_thirds(v.high) };
}

/* TBL, sixteen lookups at once. */
static inline q32
q32_lookup(const void *p, q32 v)
{
    const uint8x16_t table = vld1q_u8(p);

    return (q32){ vqtbl1q_u8(table, v.low), vqtbl1q_u8(table, v.high) };
}

/* Eight floats times F as integers (FCVTNS: to the nearest, ties to even),
 * narrowed with saturation. */
static inline int8x8_t
q_scaled8(const float *p, float f)
{
    const int32x4_t low = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(p), f));
    const int32x4_t high = vcvtnq_s32_f32(vmulq_n_f32(vld1q_f32(p + 4), f));

    return vqmovn_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high)));
}

/* Eight floats at a time. */
static inline q32
q32_scaled(const float *p, float f)
{
    return (q32){
        vreinterpretq_u8_s8(vcombine_s8(q_scaled8(p, f), q_scaled8(p + 8, f))),
        vreinterpretq_u8_s8(
            vcombine_s8(q_scaled8(p + 16, f), q_scaled8(p + 24, f)))
    };
}

/* By way of the stack. */
static inline q32
q32_words(const void *const *p)
{
    uint32_t w[8];

    for (int i = 0; i < 8; i++)
        memcpy(&w[i], p[i], sizeof(w[i]));
    return q32_load(w);
}

/* Four by four operands: TRN interleaves pairs of 32 bits, and halves are
 * joined. */
static inline void
q_transpose(uint8x16_t *a, uint8x16_t *b, uint8x16_t *c, uint8x16_t *d)
{
    const uint32x4x2_t ab =
        vtrnq_u32(vreinterpretq_u32_u8(*a), vreinterpretq_u32_u8(*b));
    const uint32x4x2_t cd =
        vtrnq_u32(vreinterpretq_u32_u8(*c), vreinterpretq_u32_u8(*d));

    *a = vreinterpretq_u8_u32(vcombine_u32(
        vget_low_u32(ab.val[0]), vget_low_u32(cd.val[0])));
    *b = vreinterpretq_u8_u32(vcombine_u32(
        vget_low_u32(ab.val[1]), vget_low_u32(cd.val[1])));
    *c = vreinterpretq_u8_u32(vcombine_u32(
        vget_high_u32(ab.val[0]), vget_high_u32(cd.val[0])));
    *d = vreinterpretq_u8_u32(vcombine_u32(
        vget_high_u32(ab.val[1]), vget_high_u32(cd.val[1])));
}

static inline void
q32_transpose(q32 *v)
{
    q_transpose(&v[0].low, &v[1].low, &v[2].low, &v[3].low);
    q_transpose(&v[0].high, &v[1].high, &v[2].high, &v[3].high);
}

/* Scales: F16 of successive blocks. */

static inline float
q_half(const void *p)
{
    uint16_t h;

    memcpy(&h, p, sizeof(h));
    return vgetq_lane_f32(vf_from_f16_bits(vdup_n_u16(h)), 0);
}

#ifdef __ARM_FEATURE_SVE
#include "backends/cpu/simd/q32-sve.h"
#else

/* The word at P, or 0 where there is none, whose address is not read. */
static inline uint32_t
q_word_at(const char *p, int is_there)
{
    uint32_t w = 0;

    if (is_there)
        memcpy(&w, p, sizeof(w));
    return w;
}

/* N of four words, PITCH bytes apart, and zeros. */
static inline uint32x4_t
q_four_words(const char *p, size_t pitch, int n)
{
    return (uint32x4_t){ q_word_at(p, n > 0), q_word_at(p + pitch, n > 1),
                         q_word_at(p + 2 * pitch, n > 2),
                         q_word_at(p + 3 * pitch, n > 3) };
}

#endif

/* Two F16 are a word: XTN keeps the lower ones, SHRN the upper ones. */
static inline void
q_half_pairs(float *a, float *b, const void *p, size_t pitch, int n)
{
    const char *from = p;
    const uint32x4_t low = q_four_words(from, pitch, n);
    const uint32x4_t high = q_four_words(from + 4 * pitch, pitch, n - 4);

    vf_store(a, vf_from_f16_bits(vmovn_u32(low)));
    vf_store(a + 4, vf_from_f16_bits(vmovn_u32(high)));
    vf_store(b, vf_from_f16_bits(vshrn_n_u32(low, 16)));
    vf_store(b + 4, vf_from_f16_bits(vshrn_n_u32(high, 16)));
}

static inline void
q_halves(float *dst, const void *p, size_t pitch, int n)
{
    const char *from = p;

    vf_store(dst, vf_from_f16_bits(
        vmovn_u32(q_four_words(from, pitch, n))));
    vf_store(dst + 4, vf_from_f16_bits(
        vmovn_u32(q_four_words(from + 4 * pitch, pitch, n - 4))));
}

/* By the conversion of a whole vector. */
static inline uint16_t
q_to_half(float x)
{
    return vget_lane_u16(vf_to_f16_bits(vf_set1(x)), 0);
}

/* Widened twice, then converted. */
static inline void
q_floats_u8(float *dst, const void *p, float f)
{
    const uint16x8_t v = vmovl_u8(vld1_u8(p));

    vf_store(dst, vmulq_n_f32(vcvtq_f32_u32(vmovl_u16(vget_low_u16(v))), f));
    vf_store(dst + 4, vmulq_n_f32(vcvtq_f32_u32(vmovl_high_u16(v)), f));
}

static inline void
q_floats_i8(float *dst, const void *p, float f)
{
    const int16x8_t v = vmovl_s8(vld1_s8(p));

    vf_store(dst, vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(v))), f));
    vf_store(dst + 4, vmulq_n_f32(vcvtq_f32_s32(vmovl_high_s16(v)), f));
}

/* Integer sums. */

static inline qs
qs_set_lanes04(int32_t a, int32_t b)
{
    const int32x4_t zero = vdupq_n_s32(0);

    return (qs){ vsetq_lane_s32(a, zero, 0), vsetq_lane_s32(b, zero, 0) };
}

static inline qs
qs_set_lane0(int32_t a)
{
    return qs_set_lanes04(a, 0);
}

static inline qs
qs_load(const int32_t *p)
{
    return (qs){ vld1q_s32(p), vld1q_s32(p + 4) };
}

#ifdef __ARM_FEATURE_DOTPROD

static inline int32x4_t
q_dot_words(int32x4_t s, uint8x16_t w, uint8x16_t a)
{
    return vdotq_s32(s, vreinterpretq_s8_u8(w), vreinterpretq_s8_u8(a));
}

#else

/* SMULL makes products of 16 bits, ADDP adds neighbours (activations are not
 * below -127, so that two fit), SADALP adds two of those to a sum of 32. */
static inline int32x4_t
q_dot_words(int32x4_t s, uint8x16_t w, uint8x16_t a)
{
    const int8x16_t x = vreinterpretq_s8_u8(w);
    const int8x16_t y = vreinterpretq_s8_u8(a);

    return vpadalq_s16(s, vpaddq_s16(
        vmull_s8(vget_low_s8(x), vget_low_s8(y)), vmull_high_s8(x, y)));
}

#endif

static inline qs
qs_dot_wide(qs s, q32 w, q32 a)
{
    return (qs){ q_dot_words(s.low, w.low, a.low),
                 q_dot_words(s.high, w.high, a.high) };
}

static inline qs
qs_dot(qs s, q32 u, q32 a)
{
    return qs_dot_wide(s, u, a);
}

/* Sums below 2^15 are narrowed to 16 bits and multiplied with W there. */
static inline int32x4_t
q_dot_sums(int32x4_t s, int32x4_t a, int32x4_t b, uint8x16_t w)
{
    const int16x8_t words = vreinterpretq_s16_u8(w);
    const int32x4_t first = vmull_s16(vmovn_s32(a), vget_low_s16(words));
    const int32x4_t last = vmull_s16(vmovn_s32(b), vget_high_s16(words));

    return vaddq_s32(s, vpaddq_s32(first, last));
}

static inline qs
qs_dot_words(qs s, qs a, qs b, q32 w)
{
    return (qs){ q_dot_sums(s.low, a.low, b.low, w.low),
                 q_dot_sums(s.high, a.high, b.high, w.high) };
}

static inline qs
qs_add_256(qs s, qs t)
{
    return (qs){ vaddq_s32(s.low, vshlq_n_s32(t.low, 8)),
                 vaddq_s32(s.high, vshlq_n_s32(t.high, 8)) };
}

static inline void
qs_store(int32_t *p, qs s)
{
    vst1q_s32(p, s.low);
    vst1q_s32(p + 4, s.high);
}

/* Neighbours added twice: the sums of four vectors in one. */
static inline int32x4_t
q_sums4(int32x4_t a, int32x4_t b, int32x4_t c, int32x4_t d)
{
    return vpaddq_s32(vpaddq_s32(a, b), vpaddq_s32(c, d));
}

static inline void
qs_store_sums4(int32_t *p, const qs *s)
{
    vst1q_s32(p, q_sums4(s[0].low, s[1].low, s[2].low, s[3].low));
    vst1q_s32(p + 4, q_sums4(s[0].high, s[1].high, s[2].high, s[3].high));
}

/* Over the lanes of four vectors. */

/* Neighbours' maxima, twice. */
static inline void
vf_store_max4(float *p, const vf *v)
{
    vf_store(p, vpmaxq_f32(vpmaxq_f32(v[0], v[1]), vpmaxq_f32(v[2], v[3])));
}

static inline void
vf_store_sums4(float *p, const vf *v)
{
    vf_store(p, vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3])));
}

/* Floats. */

static inline qf
qf_zero(void)
{
    return (qf){ vf_zero(), vf_zero() };
}

static inline qf
qf_set1(float x)
{
    return (qf){ vf_set1(x), vf_set1(x) };
}

static inline qf
qf_load(const float *p)
{
    return (qf){ vf_load(p), vf_load(p + 4) };
}

static inline void
qf_store(float *p, qf v)
{
    vf_store(p, v.low);
    vf_store(p + 4, v.high);
}

static inline qf
qf_mul(qf a, qf b)
{
    return (qf){ vf_mul(a.low, b.low), vf_mul(a.high, b.high) };
}

static inline qf
qf_fma(qf a, qf b, qf c)
{
    return (qf){ vf_fma(a.low, b.low, c.low), vf_fma(a.high, b.high, c.high) };
}

/* FMLA by one element, which needs no broadcast. */
static inline qf
qf_add2(qf acc, qs s, const float *p)
{
    return (qf){ vfmaq_n_f32(acc.low, vcvtq_f32_s32(s.low), p[0]),
                 vfmaq_n_f32(acc.high, vcvtq_f32_s32(s.high), p[1]) };
}

static inline qf
qf_add(qf acc, qs s, float f)
{
    return qf_add2(acc, s, (const float[]){ f, f });
}

static inline qf
qf_from(qs s)
{
    return (qf){ vcvtq_f32_s32(s.low), vcvtq_f32_s32(s.high) };
}

static inline float
qf_sum(qf acc)
{
    return vf_sum(vf_add(acc.low, acc.high));
}

/* In the order of qf_sum: FADDP adds neighbours. */
static inline vf
qf_sum_rows(const vf *v)
{
    return vf_add(vf_add(vf_add(v[0], v[4]), vf_add(v[1], v[5])),
                  vf_add(vf_add(v[2], v[6]), vf_add(v[3], v[7])));
}

#endif
