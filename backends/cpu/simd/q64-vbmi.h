/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64-vbmi.h - tables of many bytes, and fields of bits at any place,
 * for AVX-512 with its byte manipulation (VBMI).
 *
 *   q64_pick(v, from)        byte from[i] % 64 of V
 *   q64_pick2(v, w, from)    byte from[i] % 128 of V with W behind it
 *   q64_fields(v, at)        of each eight bytes eight bits from bit at[i] on
 *   q64_load16(p)            sixteen bytes, and others that are nothing
 *   q64_dup_dwords(p)      eight times four bytes, each twice
 *   q64_two_words(p, q)      eight bytes at P and eight at Q, again and again
 *   q64_and(v, w)
 *   q64_repeat(x)            the eight bytes of a uint64_t, again and again
 *   q64_even_dwords(v, w) q64_odd_dwords(v, w)
 *                            of each sixteen bytes the first and third four, or
 *                            the others, of V and those of W
 *   q64_swap_dwords(v)        the second four of each sixteen bytes and the
 *                            third
 *   q64_low_dwords(v, w) q64_high_dwords(v, w)
 *                            of each eight bytes the low four, or high four, of
 *                            V and those of W
 *   q64_zip_low(v, w) q64_zip_high(v, w)
 *                            of each sixteen bytes the low eight of V, or the
 *                            high ones, each with that of W behind it
 *   q64_where(m, v, w)       bits of V where M has ones, else of W
 *   q64_down(v, n)           each 32 bits of V >> n
 *   q64_is(v, x)             a bit for each byte: is it X?
 *   q64_choose(k, p, v)      byte v % 128 of the table at P where bit i of K is
 *                            set, else V
 *   q64s_set1(x) q64s_set2(x, y)
 *                            the same in all, or in the first eight and last
 *                            eight
 *   q64s_rotate(s, n)        to the right, by n[i] bits
 *   q64s_or(s, t)
 *   q64s_even(s) q64s_odd(s) each even sum, or odd one, twice
 */
#ifndef GB_CPU_SIMD_Q64_VBMI_H
#define GB_CPU_SIMD_Q64_VBMI_H

#include "backends/cpu/simd/q64.h"

static inline q64
q64_pick(q64 v, q64 from)
{
    return _mm512_permutexvar_epi8(from, v);
}

static inline q64
q64_pick2(q64 v, q64 w, q64 from)
{
    return _mm512_permutex2var_epi8(v, from, w);
}

static inline q64
q64_fields(q64 v, q64 at)
{
    return _mm512_multishift_epi64_epi8(at, v);
}

static inline q64
q64_load16(const void *p)
{
    return _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p));
}

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
