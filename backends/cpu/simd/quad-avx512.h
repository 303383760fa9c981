/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/quad-avx512.h - small integers in columns for AVX-512, with or
 * without its dot products of bytes (VNNI).
 */
#ifndef GB_CPU_SIMD_QUAD_AVX512_H
#define GB_CPU_SIMD_QUAD_AVX512_H

#define VF_ROWS  2
#define VF_COLS  6
#define VQ_TILES 0

#if Q_WIDE_OFFSET == 128
#define VQ_ROWS   2
#define VQ_COLS   4
#define VQ_HALVES 0
#else
#define VQ_ROWS   1
#define VQ_COLS   6
#define VQ_HALVES 1
#endif

typedef __m512i vq;
typedef __m512i vi;
typedef __m512i vh;

static inline vq
vq_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

static inline vq
vq_spread(const void *p)
{
    int32_t quad;

    memcpy(&quad, p, sizeof(quad));
    return _mm512_set1_epi32(quad);
}

/* Squares of four by four quads are turned first, then the squares' places. */
static inline void
vq_transpose(void *dst, const void *src, int64_t pitch)
{
    const char *from = src;
    char *to = dst;
    __m512i row[16];
    __m512i square[16];

    for (int i = 0; i < 16; i++)
        row[i] = _mm512_loadu_si512(from + i * pitch);
    for (int i = 0; i < 16; i += 4) {
        const __m512i a = _mm512_unpacklo_epi32(row[i], row[i + 1]);
        const __m512i b = _mm512_unpackhi_epi32(row[i], row[i + 1]);
        const __m512i c = _mm512_unpacklo_epi32(row[i + 2], row[i + 3]);
        const __m512i d = _mm512_unpackhi_epi32(row[i + 2], row[i + 3]);

        square[i] = _mm512_unpacklo_epi64(a, c);
        square[i + 1] = _mm512_unpackhi_epi64(a, c);
        square[i + 2] = _mm512_unpacklo_epi64(b, d);
        square[i + 3] = _mm512_unpackhi_epi64(b, d);
    }
    for (int i = 0; i < 4; i++) {
        const __m512i a = _mm512_shuffle_i32x4(
            square[i], square[i + 4], 0x44);
        const __m512i b = _mm512_shuffle_i32x4(
            square[i], square[i + 4], 0xee);
        const __m512i c = _mm512_shuffle_i32x4(
            square[i + 8], square[i + 12], 0x44);
        const __m512i d = _mm512_shuffle_i32x4(
            square[i + 8], square[i + 12], 0xee);

        _mm512_storeu_si512(
            to + 64 * i, _mm512_shuffle_i32x4(a, c, 0x88));
        _mm512_storeu_si512(
            to + 64 * (i + 4), _mm512_shuffle_i32x4(a, c, 0xdd));
        _mm512_storeu_si512(
            to + 64 * (i + 8), _mm512_shuffle_i32x4(b, d, 0x88));
        _mm512_storeu_si512(
            to + 64 * (i + 12), _mm512_shuffle_i32x4(b, d, 0xdd));
    }
}

static inline vi
vi_set1(int32_t x)
{
    return _mm512_set1_epi32(x);
}

static inline vh
vh_dot(vq u, vq a)
{
    return _mm512_maddubs_epi16(u, a);
}

static inline vh
vh_dot_more(vh h, vq u, vq a)
{
    return _mm512_add_epi16(h, vh_dot(u, a));
}

static inline vi
vi_add_pairs(vi s, vh h)
{
    return _mm512_add_epi32(
        s, _mm512_madd_epi16(h, _mm512_set1_epi16(1)));
}

#if Q_WIDE_OFFSET == 128

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

/* With the signs moved to the activations the pairs stay below 2^15. */
static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    const __m512i turned = _mm512_mask_sub_epi8(
        a, _mm512_movepi8_mask(w), _mm512_setzero_si512(), a);

    return vi_dot(s, _mm512_abs_epi8(w), turned);
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

static inline void
vf_store_i8(int8_t *p, vf v)
{
    _mm_storeu_si128(
        (__m128i *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));
}

#endif
