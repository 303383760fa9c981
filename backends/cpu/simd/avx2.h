/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/avx2.h - vectors of eight floats, for AVX2 with FMA and F16C.
 *
 * A register of 256 bits is two parts of 128, and most instructions that move
 * elements between lanes work within each part: hence the steps of the sums
 * below, which first add the parts.  Masks are ordinary registers, of which
 * instructions look at each lane's sign bit.
 *
 * Source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2.
 */
#ifndef GB_CPU_SIMD_AVX2_H
#define GB_CPU_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define VF_LEN 8

typedef __m256 vf;
typedef __m256 vm; /* a lane is all ones or all zeros */

/* Loading and storing. */

static inline vf
vf_zero(void)
{
    return _mm256_setzero_ps();
}

static inline vf
vf_set1(float x)
{
    return _mm256_set1_ps(x);
}

static inline vf
vf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void
vf_store(float *p, vf v)
{
    _mm256_storeu_ps(p, v);
}

/* All ones in the first N lanes: those whose number is less than N. */
static inline __m256i
vf_first_lanes(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n),
        _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* VMASKMOVPS: lanes without the mask are not read, even where the page behind
 * the row is not mapped. */
static inline vf
vf_load_n(const float *p, int64_t n)
{
    return _mm256_maskload_ps(p, vf_first_lanes(n));
}

static inline void
vf_store_n(float *p, vf v, int64_t n)
{
    _mm256_maskstore_ps(p, vf_first_lanes(n), v);
}

/* Integers to floats; beyond 2^24 they are rounded to the nearest. */

static inline vf
vf_from_i32(const int32_t *p)
{
    return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p));
}

/* VPMOVSXBD: bytes to words of 32 bits, with their sign. */
static inline vf
vf_from_i8(const int8_t *p)
{
    return _mm256_cvtepi32_ps(
        _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)p)));
}

/* Bytes are widened first: there are no shifts of bytes. */
static inline vf
vf_from_nibbles(const uint8_t *p, int is_high)
{
    const __m256i v =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)p));

    return _mm256_cvtepi32_ps(
        is_high ? _mm256_srli_epi32(v, 4)
                : _mm256_and_si256(v, _mm256_set1_epi32(15)));
}

/* Arithmetic, lane by lane. */

static inline vf
vf_add(vf a, vf b)
{
    return _mm256_add_ps(a, b);
}

static inline vf
vf_sub(vf a, vf b)
{
    return _mm256_sub_ps(a, b);
}

static inline vf
vf_mul(vf a, vf b)
{
    return _mm256_mul_ps(a, b);
}

static inline vf
vf_div(vf a, vf b)
{
    return _mm256_div_ps(a, b);
}

static inline vf
vf_fma(vf a, vf b, vf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline vf
vf_fnma(vf a, vf b, vf c)
{
    return _mm256_fnmadd_ps(a, b, c);
}

/* MINPS gives its second operand where one is NaN. */
static inline vf
vf_min(vf a, vf b)
{
    return _mm256_min_ps(a, b);
}

static inline vf
vf_max(vf a, vf b)
{
    return _mm256_max_ps(a, b);
}

/* -0.0 is the sign bit alone. */
static inline vf
vf_neg(vf v)
{
    return _mm256_xor_ps(v, _mm256_set1_ps(-0.0f));
}

static inline vf
vf_abs(vf v)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), v);
}

static inline vf
vf_copysign(vf magnitude, vf sign)
{
    return _mm256_or_ps(vf_abs(magnitude),
        _mm256_and_ps(sign, _mm256_set1_ps(-0.0f)));
}

/* 0xB1 names lanes 1, 0, 3, 2 of each part. */
static inline vf
vf_swap_pairs(vf v)
{
    return _mm256_permute_ps(v, 0xB1);
}

static inline vf
vf_sqrt(vf v)
{
    return _mm256_sqrt_ps(v);
}

static inline vf
vf_floor(vf v)
{
    return _mm256_floor_ps(v);
}

/* The rounding is named in the instruction; the processor's mode does not
 * matter, nor is "inexact" raised. */
static inline vf
vf_round(vf v)
{
    return _mm256_round_ps(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 2^n for n of -126 to 127: n + 127 in the place of the exponent. */
static inline vf
vf_power_of_two(__m256i n)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* 2^n is not a float for all n: it is applied in two halves. */
static inline vf
vf_ldexp(vf v, vf n)
{
    const vf limit = vf_set1(252.0f);
    const vf within = vf_min(vf_max(n, vf_neg(limit)), limit);
    const __m256i exponent = _mm256_cvtps_epi32(within);
    const __m256i half = _mm256_srai_epi32(exponent, 1);
    const __m256i rest = _mm256_sub_epi32(exponent, half);

    return vf_mul(vf_mul(v, vf_power_of_two(half)), vf_power_of_two(rest));
}

/* Bits 23 to 30 hold the exponent plus 127. */
static inline vf
vf_exponent(vf v)
{
    const __m256i biased = _mm256_srli_epi32(_mm256_castps_si256(v), 23);

    return _mm256_cvtepi32_ps(
        _mm256_sub_epi32(biased, _mm256_set1_epi32(127)));
}

/* The fraction, with the exponent of 1. */
static inline vf
vf_mantissa(vf v)
{
    const __m256i fraction = _mm256_and_si256(
        _mm256_castps_si256(v), _mm256_set1_epi32(0x007fffff));

    return _mm256_castsi256_ps(
        _mm256_or_si256(fraction, _mm256_set1_epi32(0x3f800000)));
}

/* Across lanes. */

/* Eight lanes to four, to two, to one. */
static inline float
vf_sum(vf v)
{
    __m128 s = _mm_add_ps(
        _mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* VHADDPS adds neighbours of both operands.  After two rounds each part has its
 * four lanes' sums of a, b, c and d side by side; adding the parts ends it,
 * with five instructions for four sums. */
static inline void
vf_sum4(float *p, vf a, vf b, vf c, vf d)
{
    const __m256 s =
        _mm256_hadd_ps(_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d));

    _mm_storeu_ps(p, _mm_add_ps(_mm256_castps256_ps128(s),
                                _mm256_extractf128_ps(s, 1)));
}

static inline float
vf_hmax(vf v)
{
    __m128 s = _mm_max_ps(
        _mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));

    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

/* The two parts, lane by lane: four maxima of two. */
static inline __m128
vf_max_quarters(vf v)
{
    return _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

/* The two parts, lane by lane: four sums of two. */
static inline __m128
vf_add_quarters(vf v)
{
    return _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
}

/* Masks. */

/* Ordered, quiet: false for NaN, and no exception is raised. */
static inline vm
vf_lt(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}

static inline vm
vf_le(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}

static inline vm
vf_gt(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_GT_OQ);
}

static inline vm
vf_eq(vf a, vf b)
{
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}

static inline vm
vm_and(vm a, vm b)
{
    return _mm256_and_ps(a, b);
}

static inline vm
vm_or(vm a, vm b)
{
    return _mm256_or_ps(a, b);
}

/* AVX2 has no "not": exclusive or with all ones. */
static inline vm
vm_not(vm m)
{
    return _mm256_xor_ps(m, _mm256_castsi256_ps(_mm256_set1_epi32(-1)));
}

static inline int
vm_any(vm m)
{
    return _mm256_movemask_ps(m) != 0;
}

/* VBLENDVPS looks at the sign bit of each lane of the mask. */
static inline vf
vf_select(vm m, vf yes, vf no)
{
    return _mm256_blendv_ps(no, yes, m);
}

/* 16-bit floats. */

/* The first N of eight 16-bit words, and zeros.  AVX2 has no loads of 16-bit
 * words with a mask, so they go by way of the stack. */
static inline __m128i
vf_load_halves_n(const uint16_t *p, int64_t n)
{
    uint16_t h[VF_LEN] = { 0 };

    for (int64_t i = 0; i < n; i++)
        h[i] = p[i];
    return _mm_loadu_si128((const __m128i *)h);
}

static inline void
vf_store_halves_n(uint16_t *p, __m128i v, int64_t n)
{
    uint16_t h[VF_LEN];

    _mm_storeu_si128((__m128i *)h, v);
    for (int64_t i = 0; i < n; i++)
        p[i] = h[i];
}

/* A bfloat16 is the upper half of a float. */
static inline vf
vf_from_bf16_bits(__m128i h)
{
    return _mm256_castsi256_ps(
        _mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16));
}

/* To the nearest, ties to even: half a unit less one, plus the last bit that
 * stays, is added before the lower half is dropped.  A NaN keeps its upper
 * bits, and the one that makes it quiet is set, or a carry might turn it into
 * something else. */
static inline __m128i
vf_to_bf16_bits(vf v)
{
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(
        _mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    const __m256i rounded = _mm256_add_epi32(
        bits, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
    const __m256i quiet = _mm256_or_si256(bits, _mm256_set1_epi32(0x00400000));
    const vf kept = _mm256_blendv_ps(_mm256_castsi256_ps(rounded),
        _mm256_castsi256_ps(quiet), _mm256_cmp_ps(v, v, _CMP_UNORD_Q));
    const __m256i upper = _mm256_srli_epi32(_mm256_castps_si256(kept), 16);

    return _mm_packus_epi32(
        _mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

static inline vf
vf_load_f16(const uint16_t *p)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p));
}

static inline vf
vf_load_f16_n(const uint16_t *p, int64_t n)
{
    return _mm256_cvtph_ps(vf_load_halves_n(p, n));
}

static inline void
vf_store_f16(uint16_t *p, vf v)
{
    _mm_storeu_si128(
        (__m128i *)p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
}

static inline void
vf_store_f16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT), n);
}

static inline vf
vf_load_bf16(const uint16_t *p)
{
    return vf_from_bf16_bits(_mm_loadu_si128((const __m128i *)p));
}

static inline vf
vf_load_bf16_n(const uint16_t *p, int64_t n)
{
    return vf_from_bf16_bits(vf_load_halves_n(p, n));
}

static inline void
vf_store_bf16(uint16_t *p, vf v)
{
    _mm_storeu_si128((__m128i *)p, vf_to_bf16_bits(v));
}

static inline void
vf_store_bf16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_bf16_bits(v), n);
}

#endif
