/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/neon.h - vectors of four floats, for arm64.
 *
 * Vectors have 128 bits on every arm64 processor.  With SVE, whatever the
 * length of its vectors, neon-sve.h gives those words that gain by its
 * predicates; the others stay these, so that results do not depend on that
 * length.
 *
 * Source  Arm Architecture Reference Manual for A-profile, chapter C7.
 */
#ifndef GB_CPU_SIMD_NEON_H
#define GB_CPU_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>
#include <string.h>

#define VF_LEN 4

typedef float32x4_t vf;
typedef uint32x4_t vm; /* a lane is all ones or all zeros */

/* Loading and storing. */

static inline vf
vf_zero(void)
{
    return vdupq_n_f32(0.0f);
}

static inline vf
vf_set1(float x)
{
    return vdupq_n_f32(x);
}

static inline vf
vf_load(const float *p)
{
    return vld1q_f32(p);
}

static inline void
vf_store(float *p, vf v)
{
    vst1q_f32(p, v);
}

/* Integers to floats; beyond 2^24 they are rounded to the nearest. */

static inline vf
vf_from_i32(const int32_t *p)
{
    return vcvtq_f32_s32(vld1q_s32(p));
}

/* There is no load of four bytes into a vector: they come as a word. */
static inline vf
vf_from_i8(const int8_t *p)
{
    int32_t word;

    memcpy(&word, p, sizeof(word));
    return vcvtq_f32_s32(vmovl_s16(
        vget_low_s16(vmovl_s8(vreinterpret_s8_s32(vdup_n_s32(word))))));
}

/* The shift and the mask are done on four bytes at once in a general
 * register. */
static inline vf
vf_from_nibbles(const uint8_t *p, int is_high)
{
    uint32_t word;

    memcpy(&word, p, sizeof(word));
    word = (is_high ? word >> 4 : word) & 0x0F0F0F0F;
    return vcvtq_f32_u32(vmovl_u16(
        vget_low_u16(vmovl_u8(vreinterpret_u8_u32(vdup_n_u32(word))))));
}

/* Arithmetic, lane by lane. */

static inline vf
vf_add(vf a, vf b)
{
    return vaddq_f32(a, b);
}

static inline vf
vf_sub(vf a, vf b)
{
    return vsubq_f32(a, b);
}

static inline vf
vf_mul(vf a, vf b)
{
    return vmulq_f32(a, b);
}

static inline vf
vf_div(vf a, vf b)
{
    return vdivq_f32(a, b);
}

/* FMLA adds to its first operand. */
static inline vf
vf_fma(vf a, vf b, vf c)
{
    return vfmaq_f32(c, a, b);
}

/* FMLS subtracts the product from its first operand. */
static inline vf
vf_fnma(vf a, vf b, vf c)
{
    return vfmsq_f32(c, a, b);
}

static inline vf
vf_select(vm m, vf yes, vf no)
{
    return vbslq_f32(m, yes, no);
}

/* FMIN gives NaN where either is one, FMINNM where both are; the contract is
 * that of MINPS, and takes a comparison. */
static inline vf
vf_min(vf a, vf b)
{
    return vbslq_f32(vcltq_f32(a, b), a, b);
}

static inline vf
vf_max(vf a, vf b)
{
    return vbslq_f32(vcgtq_f32(a, b), a, b);
}

static inline vf
vf_neg(vf v)
{
    return vnegq_f32(v);
}

static inline vf
vf_abs(vf v)
{
    return vabsq_f32(v);
}

/* BSL takes the bits of SIGN where the mask has ones. */
static inline vf
vf_copysign(vf magnitude, vf sign)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), sign, magnitude);
}

/* REV64 reverses the two words of each 64 bits. */
static inline vf
vf_swap_pairs(vf v)
{
    return vrev64q_f32(v);
}

static inline vf
vf_sqrt(vf v)
{
    return vsqrtq_f32(v);
}

/* FRINTM, towards minus infinity. */
static inline vf
vf_floor(vf v)
{
    return vrndmq_f32(v);
}

/* FRINTN, to the nearest with ties to even. */
static inline vf
vf_round(vf v)
{
    return vrndnq_f32(v);
}

/* Bits 23 to 30 hold the exponent plus 127. */
static inline vf
vf_exponent(vf v)
{
    const int32x4_t biased = vreinterpretq_s32_u32(
        vshrq_n_u32(vreinterpretq_u32_f32(v), 23));

    return vcvtq_f32_s32(vsubq_s32(biased, vdupq_n_s32(127)));
}

/* The fraction, with the exponent of 1. */
static inline vf
vf_mantissa(vf v)
{
    return vbslq_f32(vdupq_n_u32(0x007fffff), v, vdupq_n_f32(1.0f));
}

/* Across lanes. */

/* Neighbours are added, then those sums. */
static inline float
vf_sum(vf v)
{
    return vaddvq_f32(v);
}

/* FADDP adds neighbours of both operands, which packs as it adds. */
static inline void
vf_sum4(float *p, vf a, vf b, vf c, vf d)
{
    vst1q_f32(p, vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)));
}

static inline float
vf_hmax(vf v)
{
    return vmaxvq_f32(v);
}

/* Masks. */

static inline vm
vf_lt(vf a, vf b)
{
    return vcltq_f32(a, b);
}

static inline vm
vf_le(vf a, vf b)
{
    return vcleq_f32(a, b);
}

static inline vm
vf_gt(vf a, vf b)
{
    return vcgtq_f32(a, b);
}

static inline vm
vf_eq(vf a, vf b)
{
    return vceqq_f32(a, b);
}

static inline vm
vm_and(vm a, vm b)
{
    return vandq_u32(a, b);
}

static inline vm
vm_or(vm a, vm b)
{
    return vorrq_u32(a, b);
}

static inline vm
vm_not(vm m)
{
    return vmvnq_u32(m);
}

/* UMAXV: the largest lane; there is no move of a mask to a register. */
static inline int
vm_any(vm m)
{
    return vmaxvq_u32(m) != 0;
}

/* 16-bit floats. */

/* VF_LEN values of IEEE binary16, by the instruction that every arm64 processor
 * has for it. */
static inline vf
vf_from_f16_bits(uint16x4_t h)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(h));
}

static inline uint16x4_t
vf_to_f16_bits(vf v)
{
    return vreinterpret_u16_f16(vcvt_f16_f32(v));
}

static inline vf
vf_from_bf16_bits(uint16x4_t h)
{
    return vreinterpretq_f32_u32(vshll_n_u16(h, 16));
}

/* To the nearest, ties to even: half a unit less one, plus the last bit that
 * stays, is added before the lower half is dropped.  A NaN keeps its upper bits
 * and becomes a quiet one. */
static inline uint16x4_t
vf_to_bf16_bits(vf v)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(v);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(
        bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t quiet = vorrq_u32(bits, vdupq_n_u32(0x00400000));

    return vshrn_n_u32(vbslq_u32(vceqq_f32(v, v), rounded, quiet), 16);
}

static inline vf
vf_load_f16(const uint16_t *p)
{
    return vf_from_f16_bits(vld1_u16(p));
}

static inline void
vf_store_f16(uint16_t *p, vf v)
{
    vst1_u16(p, vf_to_f16_bits(v));
}

static inline vf
vf_load_bf16(const uint16_t *p)
{
    return vf_from_bf16_bits(vld1_u16(p));
}

static inline void
vf_store_bf16(uint16_t *p, vf v)
{
    vst1_u16(p, vf_to_bf16_bits(v));
}

#ifdef __ARM_FEATURE_SVE
#include "backends/cpu/simd/neon-sve.h"
#else

/* Lane by lane, but a whole vector by one load. */
static inline vf
vf_load_n(const float *p, int64_t n)
{
    vf v = vf_zero();

    if (n == VF_LEN)
        return vf_load(p);
    if (n > 0)
        v = vld1q_lane_f32(p, v, 0);
    if (n > 1)
        v = vld1q_lane_f32(p + 1, v, 1);
    if (n > 2)
        v = vld1q_lane_f32(p + 2, v, 2);
    return v;
}

static inline void
vf_store_n(float *p, vf v, int64_t n)
{
    if (n == VF_LEN) {
        vf_store(p, v);
        return;
    }
    if (n > 0)
        vst1q_lane_f32(p, v, 0);
    if (n > 1)
        vst1q_lane_f32(p + 1, v, 1);
    if (n > 2)
        vst1q_lane_f32(p + 2, v, 2);
}

/* The first N of four 16-bit words, and zeros. */
static inline uint16x4_t
vf_load_halves_n(const uint16_t *p, int64_t n)
{
    uint16x4_t v = vdup_n_u16(0);

    if (n == VF_LEN)
        return vld1_u16(p);
    if (n > 0)
        v = vld1_lane_u16(p, v, 0);
    if (n > 1)
        v = vld1_lane_u16(p + 1, v, 1);
    if (n > 2)
        v = vld1_lane_u16(p + 2, v, 2);
    return v;
}

static inline void
vf_store_halves_n(uint16_t *p, uint16x4_t v, int64_t n)
{
    if (n == VF_LEN) {
        vst1_u16(p, v);
        return;
    }
    if (n > 0)
        vst1_lane_u16(p, v, 0);
    if (n > 1)
        vst1_lane_u16(p + 1, v, 1);
    if (n > 2)
        vst1_lane_u16(p + 2, v, 2);
}

/* 2^n for n of -126 to 127: n + 127 in the place of the exponent. */
static inline vf
vf_power_of_two(int32x4_t n)
{
    return vreinterpretq_f32_s32(
        vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

/* 2^n is not a float for all n: it is applied in two halves. */
static inline vf
vf_ldexp(vf v, vf n)
{
    const vf limit = vf_set1(252.0f);
    const vf within = vf_min(vf_max(n, vf_neg(limit)), limit);
    const int32x4_t exponent = vcvtq_s32_f32(within);
    const int32x4_t half = vshrq_n_s32(exponent, 1);
    const int32x4_t rest = vsubq_s32(exponent, half);

    return vf_mul(vf_mul(v, vf_power_of_two(half)), vf_power_of_two(rest));
}

#endif

static inline vf
vf_load_f16_n(const uint16_t *p, int64_t n)
{
    return vf_from_f16_bits(vf_load_halves_n(p, n));
}

static inline void
vf_store_f16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_f16_bits(v), n);
}

static inline vf
vf_load_bf16_n(const uint16_t *p, int64_t n)
{
    return vf_from_bf16_bits(vf_load_halves_n(p, n));
}

static inline void
vf_store_bf16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_bf16_bits(v), n);
}

#endif
