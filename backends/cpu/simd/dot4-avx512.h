/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-avx512.h - int8 micro-kernel words for AVX-512, sixteen rows a
 * vector.
 *
 * With AVX512-VNNI a dot4 is one instruction (VPDPBUSD), of unsigned bytes and
 * signed ones: wide codes are biased by 128 (Q_WIDE_BIAS).  Without it three
 * take its place, VPMADDUBSW, VPMADDWD and VPADDD, the last two of which
 * vh_dot_more saves where the codes are small enough for some products to be
 * added in 16 bits.
 *
 * MR x NR is 32 x 4 with VNNI, 16 x 6 without; of the float micro-kernel it is
 * 32 x 12: 24 of the 32 registers hold sums.
 */
#ifndef GB_CPU_SIMD_DOT4_AVX512_H
#define GB_CPU_SIMD_DOT4_AVX512_H

#define VF_ROWS  2
#define VF_COLS  12
#define VQ_TILES 0

#if Q_WIDE_BIAS == 128
#define VQ_ROWS   2
#define VQ_COLS   4
#define VQ_HALVES 0
#else
#define VQ_ROWS   1
#define VQ_COLS   6
#define VQ_HALVES 1
#endif

#define VQ_TRANSPOSES_HALVES 1

#ifdef __AVX512BF16__
#define VF_PAIRS 1
#else
#define VF_PAIRS 0
#endif

typedef __m512i vq;
typedef __m512i vi;
typedef __m512i vh;

static inline vq
vq_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

static inline void
vq_store(void *p, vq v)
{
    _mm512_storeu_si512(p, v);
}

static inline vq
vq_low_nibbles(vq v)
{
    return _mm512_and_si512(v, _mm512_set1_epi8(15));
}

/* There are no shifts of bytes: the mask removes what comes from the next. */
static inline vq
vq_high_nibbles(vq v)
{
    return vq_low_nibbles(_mm512_srli_epi16(v, 4));
}

/* VPSHUFB, in each 128 bits with the same table. */
static inline vq
vq_lookup(const void *p, vq v)
{
    return _mm512_shuffle_epi8(
        _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p)), v);
}

/* The byte of the word that has the four bits goes to all bytes of the lane,
 * and each tests its own. */
static inline vq
vq_or_fifth(vq u, vq w, int j)
{
    const __m512i from = _mm512_broadcast_i32x4(_mm_add_epi8(
        _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12),
        _mm_set1_epi8((char)(j / 2))));
    const __m512i bits =
        _mm512_set1_epi32(j % 2 == 0 ? 0x08040201 : (int)0x80402010);
    const __mmask64 is_set =
        _mm512_test_epi8_mask(_mm512_shuffle_epi8(w, from), bits);

    return _mm512_or_si512(u, _mm512_maskz_set1_epi8(is_set, 16));
}

static inline vq
vq_flip(vq v)
{
    return _mm512_xor_si512(v, _mm512_set1_epi8((char)Q_WIDE_BIAS));
}

/* VPBROADCASTD. */
static inline vq
vq_broadcast(const void *p)
{
    int32_t operand;

    memcpy(&operand, p, sizeof(operand));
    return _mm512_set1_epi32(operand);
}

/* Sixteen by sixteen operands in four rounds: interleaving of 32 and of 64 bits
 * transposes the four by four operands within each 128 bits, and two rounds of
 * VSHUFI32X4 put those squares in their places.  Loops are unrolled, so that
 * all of it stays in registers. */
static inline void
vq_transposed(__m512i *row, const void *src, int64_t pitch)
{
    const char *from = src;
    __m512i square[16];

#pragma GCC unroll 4
    for (int i = 0; i < 16; i += 4) {
        const __m512i r0 = _mm512_loadu_si512(from + i * pitch);
        const __m512i r1 = _mm512_loadu_si512(from + (i + 1) * pitch);
        const __m512i r2 = _mm512_loadu_si512(from + (i + 2) * pitch);
        const __m512i r3 = _mm512_loadu_si512(from + (i + 3) * pitch);
        const __m512i a = _mm512_unpacklo_epi32(r0, r1);
        const __m512i b = _mm512_unpackhi_epi32(r0, r1);
        const __m512i c = _mm512_unpacklo_epi32(r2, r3);
        const __m512i d = _mm512_unpackhi_epi32(r2, r3);

        square[i] = _mm512_unpacklo_epi64(a, c);
        square[i + 1] = _mm512_unpackhi_epi64(a, c);
        square[i + 2] = _mm512_unpacklo_epi64(b, d);
        square[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const __m512i a = _mm512_shuffle_i32x4(
            square[i], square[i + 4], 0x44);
        const __m512i b = _mm512_shuffle_i32x4(
            square[i], square[i + 4], 0xee);
        const __m512i c = _mm512_shuffle_i32x4(
            square[i + 8], square[i + 12], 0x44);
        const __m512i d = _mm512_shuffle_i32x4(
            square[i + 8], square[i + 12], 0xee);

        row[i] = _mm512_shuffle_i32x4(a, c, 0x88);
        row[i + 4] = _mm512_shuffle_i32x4(a, c, 0xdd);
        row[i + 8] = _mm512_shuffle_i32x4(b, d, 0x88);
        row[i + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
    }
}

static inline void
vq_transpose(void *dst, const void *src, int64_t pitch)
{
    __m512i row[16];

    vq_transposed(row, src, pitch);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++)
        _mm512_storeu_si512((char *)dst + 64 * i, row[i]);
}

/* The even elements of a pair, moved up to be floats, and the odd ones, which
 * are in the upper half already. */
static inline void
vq_transpose_bf16(float *dst, const void *src, int64_t pitch)
{
    __m512i row[16];

    vq_transposed(row, src, pitch);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        _mm512_storeu_si512(dst + 32 * i, _mm512_slli_epi32(row[i], 16));
        _mm512_storeu_si512(
            dst + 32 * i + 16,
            _mm512_and_si512(row[i], _mm512_set1_epi32((int)0xffff0000)));
    }
}

/* A permutation brings the even elements of all pairs to the lower half of the
 * vector and the odd ones to the upper one. */
static inline void
vq_transpose_f16(float *dst, const void *src, int64_t pitch)
{
    const __m512i apart = _mm512_set_epi16(
        31, 29, 27, 25, 23, 21, 19, 17, 15, 13, 11, 9, 7, 5, 3, 1,
        30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    __m512i row[16];

    vq_transposed(row, src, pitch);
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) {
        const __m512i halves = _mm512_permutexvar_epi16(apart, row[i]);

        vf_store(dst + 32 * i,
                 _mm512_cvtph_ps(_mm512_castsi512_si256(halves)));
        vf_store(dst + 32 * i + 16,
                 _mm512_cvtph_ps(_mm512_extracti64x4_epi64(halves, 1)));
    }
}

static inline vi
vi_set1(int32_t x)
{
    return _mm512_set1_epi32(x);
}

/* VPMADDUBSW: unsigned codes by signed activations, neighbours added. */
static inline vh
vh_dot(vq u, vq a)
{
    return _mm512_maddubs_epi16(u, a);
}

/* The caller knows how many such sums 16 bits hold. */
static inline vh
vh_dot_more(vh h, vq u, vq a)
{
    return _mm512_add_epi16(h, vh_dot(u, a));
}

/* A multiplication by 1 that adds neighbours (VPMADDWD). */
static inline vi
vi_add_pairs(vi s, vh h)
{
    return _mm512_add_epi32(
        s, _mm512_madd_epi16(h, _mm512_set1_epi16(1)));
}

#if Q_WIDE_BIAS == 128

static inline vi
vi_dot(vi s, vq u, vq a)
{
    return _mm512_dpbusd_epi32(s, u, a);
}

static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    return _mm512_dpbusd_epi32(s, w, a);
}

#else

static inline vi
vi_dot(vi s, vq u, vq a)
{
    return vi_add_pairs(s, vh_dot(u, a));
}

/* VPMADDUBSW wants unsigned codes and saturates.  |w| * (a with w's sign) is
 * the same product, and two of them are at most 2 * 128 * 127, below 2^15. */
static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    const __m512i signed_a = _mm512_mask_sub_epi8(
        a, _mm512_movepi8_mask(w), _mm512_setzero_si512(), a);

    return vi_dot(s, _mm512_abs_epi8(w), signed_a);
}

#endif

static inline vi
vi_add_256(vi s, vi t)
{
    return _mm512_add_epi32(s, _mm512_slli_epi32(t, 8));
}

static inline vf
vf_from_vi(vi s)
{
    return _mm512_cvtepi32_ps(s);
}

#if VF_PAIRS

/* VDPBF16PS.  The conversions only rename a register. */
static inline vf
vf_dot_pairs(vf s, vf x, vf y)
{
    return _mm512_dpbf16_ps(s, (__m512bh)_mm512_castps_si512(x),
                            (__m512bh)_mm512_castps_si512(y));
}

#endif

/* VPMOVDB keeps the lowest byte of each word. */
static inline void
vf_store_i8(int8_t *p, vf v)
{
    _mm_storeu_si128(
        (__m128i *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}

static inline void
vf_store_i8_trunc(int8_t *p, vf v)
{
    _mm_storeu_si128(
        (__m128i *)p, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v)));
}

#endif
