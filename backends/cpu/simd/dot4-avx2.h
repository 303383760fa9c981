/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-avx2.h - int8 micro-kernel words for AVX2, eight rows a vector.
 *
 * With AVX-VNNI a dot4 is one instruction (VPDPBUSD), of unsigned bytes and
 * signed ones: wide codes are biased by 128 (Q_WIDE_BIAS).  Without it three
 * take its place, VPMADDUBSW, VPMADDWD and VPADDD, the last two of which
 * vh_dot_more saves where the codes are small enough for some products to be
 * added in 16 bits.
 *
 * MR x NR is 16 x 4 with AVX-VNNI: eight registers of sums, two of weights, one
 * of activations.  Without it 8 x 4, since the products in between need
 * registers too.  Of the float micro-kernel it is 16 x 6.
 */
#ifndef GB_CPU_SIMD_DOT4_AVX2_H
#define GB_CPU_SIMD_DOT4_AVX2_H

#define VF_ROWS   2
#define VF_PAIRS  0
#define VF_COLS   6
#define VQ_TRANSPOSES_HALVES 0
#define VQ_TILES  0

#if Q_WIDE_BIAS == 128
#define VQ_ROWS   2
#define VQ_COLS   4
#define VQ_HALVES 0
#else
#define VQ_ROWS   1
#define VQ_COLS   4
#define VQ_HALVES 1
#endif

typedef __m256i vq;
typedef __m256i vi;
typedef __m256i vh;

static inline vq
vq_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline void
vq_store(void *p, vq v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline vq
vq_low_nibbles(vq v)
{
    return _mm256_and_si256(v, _mm256_set1_epi8(15));
}

/* There are no shifts of bytes: the mask removes what comes from the next. */
static inline vq
vq_high_nibbles(vq v)
{
    return vq_low_nibbles(_mm256_srli_epi16(v, 4));
}

/* VPSHUFB, in both 128 bits with the same table. */
static inline vq
vq_lookup(const void *p, vq v)
{
    return q32_lookup(p, v);
}

/* The byte of the word that has the four bits goes to all bytes of the lane,
 * and each tests its own. */
static inline vq
vq_or_fifth(vq u, vq w, int j)
{
    const __m256i from = _mm256_broadcastsi128_si256(_mm_add_epi8(
        _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12),
        _mm_set1_epi8((char)(j / 2))));
    const __m256i bits =
        _mm256_set1_epi32(j % 2 == 0 ? 0x08040201 : (int)0x80402010);
    const __m256i is_set = _mm256_cmpeq_epi8(
        _mm256_and_si256(_mm256_shuffle_epi8(w, from), bits), bits);

    return _mm256_or_si256(
        u, _mm256_and_si256(is_set, _mm256_set1_epi8(16)));
}

static inline vq
vq_flip(vq v)
{
    return _mm256_xor_si256(v, _mm256_set1_epi8((char)Q_WIDE_BIAS));
}

/* VPBROADCASTD. */
static inline vq
vq_broadcast(const void *p)
{
    int32_t operand;

    memcpy(&operand, p, sizeof(operand));
    return _mm256_set1_epi32(operand);
}

/* Two rounds of interleaving, first of 32 and then of 64 bits, transpose the
 * four by four operands within each 128 bits.  The third round puts each of
 * those squares in its place. */
static inline void
vq_transpose(void *dst, const void *src, int64_t pitch)
{
    const char *from = src;
    char *to = dst;
    __m256i square[8];

    for (int i = 0; i < 8; i += 4) {
        const __m256i r0 = vq_load(from + i * pitch);
        const __m256i r1 = vq_load(from + (i + 1) * pitch);
        const __m256i r2 = vq_load(from + (i + 2) * pitch);
        const __m256i r3 = vq_load(from + (i + 3) * pitch);
        const __m256i a = _mm256_unpacklo_epi32(r0, r1);
        const __m256i b = _mm256_unpackhi_epi32(r0, r1);
        const __m256i c = _mm256_unpacklo_epi32(r2, r3);
        const __m256i d = _mm256_unpackhi_epi32(r2, r3);

        square[i] = _mm256_unpacklo_epi64(a, c);
        square[i + 1] = _mm256_unpackhi_epi64(a, c);
        square[i + 2] = _mm256_unpacklo_epi64(b, d);
        square[i + 3] = _mm256_unpackhi_epi64(b, d);
    }
    for (int i = 0; i < 4; i++) {
        q32_store(to + 32 * i,
            _mm256_permute2x128_si256(square[i], square[i + 4], 0x20));
        q32_store(to + 32 * (i + 4),
            _mm256_permute2x128_si256(square[i], square[i + 4], 0x31));
    }
}

static inline vi
vi_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

static inline vi
vi_dot(vi s, vq u, vq a)
{
    return qs_dot(s, u, a);
}

static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    return qs_dot_wide(s, w, a);
}

/* VPMADDUBSW multiplies unsigned codes by signed activations and adds
 * neighbours: 2 * 127 * 127 fits 16 bits. */
static inline vh
vh_dot(vq u, vq a)
{
    return _mm256_maddubs_epi16(u, a);
}

/* The caller knows how many such sums 16 bits hold. */
static inline vh
vh_dot_more(vh h, vq u, vq a)
{
    return _mm256_add_epi16(h, vh_dot(u, a));
}

/* A multiplication by 1 that adds neighbours (VPMADDWD). */
static inline vi
vi_add_pairs(vi s, vh h)
{
    return _mm256_add_epi32(
        s, _mm256_madd_epi16(h, _mm256_set1_epi16(1)));
}

static inline vi
vi_add_256(vi s, vi t)
{
    return qs_add_256(s, t);
}

static inline vf
vf_from_vi(vi s)
{
    return _mm256_cvtepi32_ps(s);
}

/* The lower bytes of eight words: packing works within 128 bits, so the two
 * parts are packed with each other. */
static inline void
vf_store_words_i8(int8_t *p, __m256i words)
{
    const __m128i halves = _mm_packs_epi32(
        _mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));

    _mm_storel_epi64((__m128i *)p, _mm_packs_epi16(halves, halves));
}

static inline void
vf_store_i8(int8_t *p, vf v)
{
    vf_store_words_i8(p, _mm256_cvtps_epi32(v));
}

static inline void
vf_store_i8_trunc(int8_t *p, vf v)
{
    vf_store_words_i8(p, _mm256_cvttps_epi32(v));
}

#endif
