/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/neon-sve.h - those words of float vectors that gain by SVE.
 *
 * They are loads and stores of a row's tail, under a predicate instead of lane
 * by lane, and the scaling by powers of two, one instruction instead of
 * several.
 *
 * A vf is the first 128 bits of an SVE register, which is at least as long.
 * What a register has behind them is never active, so that its length means
 * nothing and results are those of any other length.
 */
#ifndef GB_CPU_SIMD_NEON_SVE_H
#define GB_CPU_SIMD_NEON_SVE_H

#include <arm_sve.h>

/* An SVE register and the 128-bit register of the same number share their
 * low bits, so that nothing has to be moved.  Compilers have intrinsics for
 * this (ACLE, arm_neon_sve_bridge.h), but younger ones than the oldest that
 * are supported; Clang takes no operand of one kind for the other and gets a
 * move. */
static inline vf
vf_of_sve(svfloat32_t z)
{
    vf v;

#ifdef __clang__
    __asm__("mov %z0.d, %1.d" : "=w"(v) : "w"(z));
#else
    __asm__("" : "=w"(v) : "0"(z));
#endif
    return v;
}

static inline svfloat32_t
vf_to_sve(vf v)
{
    svfloat32_t z;

#ifdef __clang__
    __asm__("mov %0.d, %z1.d" : "=w"(z) : "w"(v));
#else
    __asm__("" : "=w"(z) : "0"(v));
#endif
    return z;
}

/* A predicate for the first N of at most VF_LEN lanes. */
static inline svbool_t
vf_first_lanes(int64_t n)
{
    return svwhilelt_b32_s64(0, n);
}

static inline vf
vf_load_n(const float *p, int64_t n)
{
    return vf_of_sve(svld1_f32(vf_first_lanes(n), p));
}

static inline void
vf_store_n(float *p, vf v, int64_t n)
{
    svst1_f32(vf_first_lanes(n), p, vf_to_sve(v));
}

/* The first N of four 16-bit words, and zeros.  LD1H widens each to 32 bits as
 * it loads; XTN makes them 16 again. */
static inline uint16x4_t
vf_load_halves_n(const uint16_t *p, int64_t n)
{
    const svuint32_t words = svld1uh_u32(vf_first_lanes(n), p);

    return vmovn_u32(
        vreinterpretq_u32_f32(vf_of_sve(svreinterpret_f32_u32(words))));
}

static inline void
vf_store_halves_n(uint16_t *p, uint16x4_t v, int64_t n)
{
    const vf words = vreinterpretq_f32_u32(vmovl_u16(v));

    svst1h_u32(vf_first_lanes(n), p,
               svreinterpret_u32_f32(vf_to_sve(words)));
}

/* FSCALE takes any exponent and rounds a subnormal result once; the limits are
 * those of the contract. */
static inline vf
vf_ldexp(vf v, vf n)
{
    const int32x4_t limit = vdupq_n_s32(252);
    const int32x4_t within = vmaxq_s32(
        vminq_s32(vcvtq_s32_f32(n), limit), vnegq_s32(limit));
    const svint32_t exponent = svreinterpret_s32_f32(
        vf_to_sve(vreinterpretq_f32_s32(within)));

    return vf_of_sve(
        svscale_f32_x(svptrue_b32(), vf_to_sve(v), exponent));
}

#endif
