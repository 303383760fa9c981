/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/neon-sve.h - the words of float vectors that gain by SVE: loads and
 * stores of a few lanes under a predicate, and powers of two in one
 * instruction.
 *
 * A vf is the first 128 bits of an SVE vector, which is at least as long.  What
 * the vector has behind them is never active, so that its length means nothing.
 */
#ifndef GB_CPU_SIMD_NEON_SVE_H
#define GB_CPU_SIMD_NEON_SVE_H

#include <arm_sve.h>

/* Both are the same register.  What compilers offer for this (ACLE,
 * arm_neon_sve_bridge.h) is younger than those that are supported. */
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

/* The first N of at most VF_LEN lanes. */
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

/* Four halves, of which the first N are read and the others are 0. */
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
