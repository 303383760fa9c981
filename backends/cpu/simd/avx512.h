/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/avx512.h - vectors of sixteen floats, for AVX-512 F, BW, DQ and VL.
 *
 * A mask is a register of its own (k1 to k7) with one bit for each lane.  Loads
 * and stores under a mask touch nothing where its bit is 0, which makes tails
 * of rows cheap.  What other headers do in several steps, exponents above all,
 * is one instruction here.
 *
 * Source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2.
 */
#ifndef GB_CPU_SIMD_AVX512_H
#define GB_CPU_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define VF_LEN 16

typedef __m512 vf;
typedef __mmask16 vm;

/* Loading and storing. */

static inline vf
vf_zero(void)
{
    return _mm512_setzero_ps();
}

static inline vf
vf_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline vf
vf_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void
vf_store(float *p, vf v)
{
    _mm512_storeu_ps(p, v);
}

/* N ones, for N of 0 to 16. */
static inline __mmask16
vf_first_lanes(int64_t n)
{
    return (__mmask16)((1u << n) - 1u);
}

/* Masked lanes are 0 and their addresses are not read. */
static inline vf
vf_load_n(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(vf_first_lanes(n), p);
}

static inline void
vf_store_n(float *p, vf v, int64_t n)
{
    _mm512_mask_storeu_ps(p, vf_first_lanes(n), v);
}

/* Integers to floats; beyond 2^24 they are rounded to the nearest. */

static inline vf
vf_from_i32(const int32_t *p)
{
    return _mm512_cvtepi32_ps(_mm512_loadu_si512(p));
}

/* VPMOVSXBD: bytes to words of 32 bits, with their sign. */
static inline vf
vf_from_i8(const int8_t *p)
{
    return _mm512_cvtepi32_ps(
        _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i *)p)));
}

/* Bytes are widened first: there are no shifts of bytes. */
static inline vf
vf_from_nibbles(const uint8_t *p, int is_high)
{
    const __m512i v =
        _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)p));

    return _mm512_cvtepi32_ps(
        is_high ? _mm512_srli_epi32(v, 4)
                : _mm512_and_si512(v, _mm512_set1_epi32(15)));
}

/* Arithmetic, lane by lane. */

static inline vf
vf_add(vf a, vf b)
{
    return _mm512_add_ps(a, b);
}

static inline vf
vf_sub(vf a, vf b)
{
    return _mm512_sub_ps(a, b);
}

static inline vf
vf_mul(vf a, vf b)
{
    return _mm512_mul_ps(a, b);
}

static inline vf
vf_div(vf a, vf b)
{
    return _mm512_div_ps(a, b);
}

static inline vf
vf_fma(vf a, vf b, vf c)
{
    return _mm512_fmadd_ps(a, b, c);
}

static inline vf
vf_fnma(vf a, vf b, vf c)
{
    return _mm512_fnmadd_ps(a, b, c);
}

/* MINPS gives its second operand where one is NaN. */
static inline vf
vf_min(vf a, vf b)
{
    return _mm512_min_ps(a, b);
}

static inline vf
vf_max(vf a, vf b)
{
    return _mm512_max_ps(a, b);
}

/* -0.0 is the sign bit alone. */
static inline vf
vf_neg(vf v)
{
    return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f));
}

static inline vf
vf_abs(vf v)
{
    return _mm512_andnot_ps(_mm512_set1_ps(-0.0f), v);
}

static inline vf
vf_copysign(vf magnitude, vf sign)
{
    return _mm512_or_ps(vf_abs(magnitude),
        _mm512_and_ps(sign, _mm512_set1_ps(-0.0f)));
}

/* 0xB1 names lanes 1, 0, 3, 2 of each 128 bits. */
static inline vf
vf_swap_pairs(vf v)
{
    return _mm512_permute_ps(v, 0xB1);
}

static inline vf
vf_sqrt(vf v)
{
    return _mm512_sqrt_ps(v);
}

/* VRNDSCALEPS with no fraction bits to keep. */
static inline vf
vf_floor(vf v)
{
    return _mm512_roundscale_ps(v, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

static inline vf
vf_round(vf v)
{
    return _mm512_roundscale_ps(
        v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* VSCALEFPS takes any n and rounds a subnormal result once. */
static inline vf
vf_ldexp(vf v, vf n)
{
    return _mm512_scalef_ps(v, n);
}

/* VGETEXPPS, which is right for subnormal numbers too. */
static inline vf
vf_exponent(vf v)
{
    return _mm512_getexp_ps(v);
}

/* VGETMANTPS, for an interval of 1 up to 2. */
static inline vf
vf_mantissa(vf v)
{
    return _mm512_getmant_ps(v, _MM_MANT_NORM_1_2, _MM_MANT_SIGN_zero);
}

/* Across lanes. */

/* Sixteen lanes to eight, to four, to two, to one. */
static inline float
vf_sum(vf v)
{
    const __m256 half = _mm256_add_ps(
        _mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 s = _mm_add_ps(
        _mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

static inline float
vf_hmax(vf v)
{
    const __m256 half = _mm256_max_ps(
        _mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    __m128 s = _mm_max_ps(
        _mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));

    s = _mm_max_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

/* The four parts of 128 bits, lane by lane: four maxima of four. */
static inline __m128
vf_max_quarters(vf v)
{
    const __m256 half = _mm256_max_ps(
        _mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));

    return _mm_max_ps(
        _mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* The four parts of 128 bits, lane by lane: four sums of four. */
static inline __m128
vf_add_quarters(vf v)
{
    const __m256 half = _mm256_add_ps(
        _mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));

    return _mm_add_ps(
        _mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* In each 128 bits: lanes i and i + 2 added, and the sums of A and of B
 * interleaved: A0, B0, A1, B1. */
static inline vf
vf_add_halves(vf a, vf b)
{
    return vf_add(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
}

/* Interleaving in two rounds transposes each 128 bits while it adds, so that
 * lane j of each part is the sum of that part's lanes of vector j. */
static inline void
vf_sum4(float *p, vf a, vf b, vf c, vf d)
{
    const __m512d ab = _mm512_castps_pd(vf_add_halves(a, b));
    const __m512d cd = _mm512_castps_pd(vf_add_halves(c, d));

    _mm_storeu_ps(p, vf_add_quarters(vf_add(
        _mm512_castpd_ps(_mm512_unpacklo_pd(ab, cd)),
        _mm512_castpd_ps(_mm512_unpackhi_pd(ab, cd)))));
}

/* Masks. */

/* Ordered, quiet: false for NaN, and no exception is raised. */
static inline vm
vf_lt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}

static inline vm
vf_le(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}

static inline vm
vf_gt(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ);
}

static inline vm
vf_eq(vf a, vf b)
{
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}

/* Masks are integers of 16 bits, and compilers keep them in mask registers. */
static inline vm
vm_and(vm a, vm b)
{
    return (vm)(a & b);
}

static inline vm
vm_or(vm a, vm b)
{
    return (vm)(a | b);
}

static inline vm
vm_not(vm m)
{
    return (vm)~m;
}

static inline int
vm_any(vm m)
{
    return m != 0;
}

/* A blend under the mask takes its second source where the bit is 1. */
static inline vf
vf_select(vm m, vf yes, vf no)
{
    return _mm512_mask_blend_ps(m, no, yes);
}

/* 16-bit floats. */

/* The first N of sixteen 16-bit words, and zeros. */
static inline __m256i
vf_load_halves_n(const uint16_t *p, int64_t n)
{
    return _mm256_maskz_loadu_epi16(vf_first_lanes(n), p);
}

static inline void
vf_store_halves_n(uint16_t *p, __m256i v, int64_t n)
{
    _mm256_mask_storeu_epi16(p, vf_first_lanes(n), v);
}

/* A bfloat16 is the upper half of a float. */
static inline vf
vf_from_bf16_bits(__m256i h)
{
    return _mm512_castsi512_ps(
        _mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16));
}

/* To the nearest, ties to even: half a unit less one, plus the last bit that
 * stays, is added before the lower half is dropped.  A NaN keeps its upper bits
 * and becomes a quiet one.  VCVTNEPS2BF16 is not used: it takes subnormal
 * numbers for 0. */
static inline __m256i
vf_to_bf16_bits(vf v)
{
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(
        _mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    const __m512i rounded = _mm512_add_epi32(
        bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
    const __m512i quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x00400000));
    const __m512i kept = _mm512_mask_blend_epi32(
        _mm512_cmp_ps_mask(v, v, _CMP_UNORD_Q), rounded, quiet);

    return _mm512_cvtepi32_epi16(_mm512_srli_epi32(kept, 16));
}

/* VCVTPS2PH, with the rounding named in the instruction. */
static inline __m256i
vf_to_f16_bits(vf v)
{
    return _mm512_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static inline vf
vf_load_f16(const uint16_t *p)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p));
}

static inline vf
vf_load_f16_n(const uint16_t *p, int64_t n)
{
    return _mm512_cvtph_ps(vf_load_halves_n(p, n));
}

static inline void
vf_store_f16(uint16_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, vf_to_f16_bits(v));
}

static inline void
vf_store_f16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_f16_bits(v), n);
}

static inline vf
vf_load_bf16(const uint16_t *p)
{
    return vf_from_bf16_bits(_mm256_loadu_si256((const __m256i *)p));
}

static inline vf
vf_load_bf16_n(const uint16_t *p, int64_t n)
{
    return vf_from_bf16_bits(vf_load_halves_n(p, n));
}

static inline void
vf_store_bf16(uint16_t *p, vf v)
{
    _mm256_storeu_si256((__m256i *)p, vf_to_bf16_bits(v));
}

static inline void
vf_store_bf16_n(uint16_t *p, vf v, int64_t n)
{
    vf_store_halves_n(p, vf_to_bf16_bits(v), n);
}

#endif
