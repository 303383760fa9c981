/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64-vbmi.h - words of shuffles for AVX-512 with VBMI.
 *
 * VBMI moves single bytes anywhere in a register of 64 (VPERMB) and looks up 64
 * bytes in a table of 128 at once (VPERMI2B): the grids of the IQ types are
 * such tables.  VPMULTISHIFTQB takes eight fields of eight bits, from any bit
 * on, out of each 64 bits, which unpacks fields wherever they begin.  Used
 * where Q_HAS_TABLE_128 is 1, by the codebook lookups of kernels/format and by
 * its blocks of nibbles; a dword is 32 bits.
 *
 * loading
 *   q64_load16(p)            sixteen bytes; the others are anything
 *   q64_load32(p)            thirty-two
 *   q64_load_first(p, n)     N bytes, at most 64, then zeros; none for N <= 0
 *   q64_dup_dwords(p)        eight dwords, each twice
 *   q64_two_words(p, q)      eight bytes at P and eight at Q, in all 128 bits
 *   q64_repeat(x)            the eight bytes of a uint64_t, in all 64 bits
 * bytes
 *   q64_pick(v, from)        byte from[i] % 64 of V
 *   q64_pick2(v, w, from)    byte from[i] % 128 of V with W behind it
 *   q64_choose(k, p, v)      byte v % 128 of the table at P where bit i of K is
 *                            set, else v
 *   q64_is(v, x)             a bit for each byte: is it X?
 *   q64_zip_low(v, w) q64_zip_high(v, w)
 *                            of each sixteen bytes the low eight of V, or the
 *                            high ones, each with that of W behind it
 * words of 16 bits, the first sixteen; the others are anything
 *   q64_pick_words(v, w, from)
 *                            word from[i] % 64 of V with W behind it
 *   q64_pick_words96(v, w, x, from)
 *                            word from[i] < 96 of V with W and X behind it
 *   q64_eight_halves(v)      the first eight, which are F16, as a qf
 *   q64_halves(v, a, b)      the same at A, and the eight behind them at B
 * bits
 *   q64_fields(v, at)        of each 64 bits eight bits from bit at[i] on, for
 *                            each of its bytes
 *   q64_and(v, w)
 *   q64_where(m, v, w)       bits of V where M has ones, else of W
 *   q64_down(v, n)           each dword of V >> n
 * dwords
 *   q64_even_dwords(v, w) q64_odd_dwords(v, w)
 *                            of each 128 bits dwords 0 and 2, or 1 and 3, of V
 *                            and those of W
 *   q64_low_dwords(v, w) q64_high_dwords(v, w)
 *                            of each 64 bits the low dword, or the high one, of
 *                            V and that of W
 *   q64_swap_dwords(v)       dwords 1 and 2 of each 128 bits exchanged
 *   q64s_set1(x)             the same in all
 *   q64s_set2(x, y)          X in dwords 0 to 7, Y in the others
 *   q64s_rotate(s, n)        to the right, by n[i] bits
 *   q64s_or(s, t)
 *   q64s_even(s) q64s_odd(s) each even dword, or odd one, twice
 */
#ifndef GB_CPU_SIMD_Q64_VBMI_H
#define GB_CPU_SIMD_Q64_VBMI_H

#include "backends/cpu/simd/q64.h"

/* VPERMB. */
static inline q64
q64_pick(q64 v, q64 from)
{
    return _mm512_permutexvar_epi8(from, v);
}

/* VPERMI2B. */
static inline q64
q64_pick2(q64 v, q64 w, q64 from)
{
    return _mm512_permutex2var_epi8(v, from, w);
}

/* VPMULTISHIFTQB. */
static inline q64
q64_fields(q64 v, q64 at)
{
    return _mm512_multishift_epi64_epi8(at, v);
}

/* A masked load does not touch what it leaves out; BZHI leaves out nothing from
 * 64 on. */
static inline q64
q64_load_first(const void *p, int n)
{
    return _mm512_maskz_loadu_epi8(
        _bzhi_u64(~UINT64_C(0), (unsigned)(n > 0 ? n : 0)), p);
}

/* VPERMI2W. */
static inline q64
q64_pick_words(q64 v, q64 w, const uint16_t *from)
{
    return _mm512_permutex2var_epi16(v,
        _mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)from)), w);
}

/* VPERMW, which takes numbers modulo 32, under a mask. */
static inline q64
q64_pick_words96(q64 v, q64 w, q64 x, const uint16_t *from)
{
    const __m256i at = _mm256_loadu_si256((const __m256i *)from);

    return _mm512_mask_permutexvar_epi16(q64_pick_words(v, w, from),
        _mm256_cmpge_epu16_mask(at, _mm256_set1_epi16(64)),
        _mm512_castsi256_si512(at), x);
}

static inline qf
q64_eight_halves(q64 v)
{
    return _mm256_cvtph_ps(_mm512_castsi512_si128(v));
}

static inline void
q64_halves(q64 v, qf *a, qf *b)
{
    const __m512 f = _mm512_cvtph_ps(_mm512_castsi512_si256(v));

    *a = _mm512_castps512_ps256(f);
    *b = _mm512_extractf32x8_ps(f, 1);
}

static inline q64
q64_load32(const void *p)
{
    return _mm512_castsi256_si512(q32_load(p));
}

static inline q64
q64_load16(const void *p)
{
    return _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
}

/* Widened to 64 bits, then each dword copied to the one above it. */
static inline q64
q64_dup_dwords(const void *p)
{
    return _mm512_shuffle_epi32(
        _mm512_cvtepu32_epi64(q32_load(p)), (_MM_PERM_ENUM)0xa0);
}

static inline q64
q64_two_words(const void *p, const void *q)
{
    return _mm512_broadcast_i32x4(_mm_unpacklo_epi64(
        _mm_loadl_epi64((const __m128i *)p),
        _mm_loadl_epi64((const __m128i *)q)));
}

static inline q64
q64_and(q64 v, q64 w)
{
    return _mm512_and_si512(v, w);
}

static inline q64
q64_repeat(uint64_t x)
{
    return _mm512_set1_epi64((int64_t)x);
}

/* VSHUFPS is the shuffle of two operands; it exists for floats alone. */
static inline q64
q64_even_dwords(q64 v, q64 w)
{
    return _mm512_castps_si512(_mm512_shuffle_ps(
        _mm512_castsi512_ps(v), _mm512_castsi512_ps(w), 0x88));
}

static inline q64
q64_odd_dwords(q64 v, q64 w)
{
    return _mm512_castps_si512(_mm512_shuffle_ps(
        _mm512_castsi512_ps(v), _mm512_castsi512_ps(w), 0xdd));
}

static inline q64
q64_swap_dwords(q64 v)
{
    return _mm512_shuffle_epi32(v, (_MM_PERM_ENUM)0xd8);
}

/* A shuffle of W under a mask, which keeps V in the even dwords. */
static inline q64
q64_low_dwords(q64 v, q64 w)
{
    return _mm512_mask_shuffle_epi32(v, 0xaaaa, w, (_MM_PERM_ENUM)0xa0);
}

static inline q64
q64_high_dwords(q64 v, q64 w)
{
    return _mm512_mask_shuffle_epi32(w, 0x5555, v, (_MM_PERM_ENUM)0xf5);
}

static inline q64
q64_zip_low(q64 v, q64 w)
{
    return _mm512_unpacklo_epi8(v, w);
}

static inline q64
q64_zip_high(q64 v, q64 w)
{
    return _mm512_unpackhi_epi8(v, w);
}

/* 0xca is the truth table of "m ? v : w". */
static inline q64
q64_where(q64 m, q64 v, q64 w)
{
    return _mm512_ternarylogic_epi32(m, v, w, 0xca);
}

static inline q64
q64_down(q64 v, int n)
{
    return _mm512_srli_epi32(v, (unsigned)n);
}

static inline uint64_t
q64_is(q64 v, int x)
{
    return _mm512_cmpeq_epi8_mask(v, q64_set1(x));
}

/* VPERMI2B under a mask, with the indices as what stays. */
static inline q64
q64_choose(uint64_t k, const uint8_t *p, q64 v)
{
    return _mm512_mask2_permutex2var_epi8(
        q64_load(p), v, (__mmask64)k, q64_load(p + 64));
}

static inline q64s
q64s_set1(int x)
{
    return _mm512_set1_epi32(x);
}

static inline q64s
q64s_set2(int x, int y)
{
    return _mm512_inserti64x4(_mm512_set1_epi32(x), _mm256_set1_epi32(y), 1);
}

static inline q64s
q64s_rotate(q64s s, q64s n)
{
    return _mm512_rorv_epi32(s, n);
}

static inline q64s
q64s_or(q64s s, q64s t)
{
    return _mm512_or_si512(s, t);
}

static inline q64s
q64s_even(q64s s)
{
    return _mm512_shuffle_epi32(s, (_MM_PERM_ENUM)0xa0);
}

static inline q64s
q64s_odd(q64s s)
{
    return _mm512_shuffle_epi32(s, (_MM_PERM_ENUM)0xf5);
}

#endif
