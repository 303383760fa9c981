/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64-avx512.h - dot products along a row for AVX-512, 64 bytes a
 * register.
 *
 * With AVX512-VNNI a dot4 is one instruction (VPDPBUSD), of unsigned bytes and
 * signed ones: wide codes are biased by 128.  Without it VPMADDUBSW, VPMADDWD
 * and VPADDD take its place.  Sign masks and single bits of codes are applied
 * under a mask register, in one instruction.
 *
 * Shuffles and packing work within each 128 bits; what crosses them is a
 * permutation (VPERMD, VPERMPS).
 *
 * MR x NR of the skinny GEMM is 4 x 2.
 *
 * Source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2.
 */
#ifndef GB_CPU_SIMD_Q64_AVX512_H
#define GB_CPU_SIMD_Q64_AVX512_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define Q64_GEMV_COLS   1
#define Q64_SKINNY_COLS 12

#define Q64_ROWS 4
#define Q64_COLS 2

typedef __m512i q64;
typedef __m512i q64s;
typedef __m512 q64f;
typedef __m512 q64t;

/* Loading and storing. */

static inline q64
q64_load(const void *p)
{
    return _mm512_loadu_si512(p);
}

/* Compilers make a memory operand of each use of a load, which takes twice as
 * long where the 64 bytes are in two cache lines.  The empty statement keeps
 * the value in a register. */
static inline q64
q64_load_once(const void *p)
{
    q64 v = q64_load(p);

    __asm__("" : "+v"(v));
    return v;
}

/* Masked dwords are zero and not read. */
static inline q64
q64_load_fours(const void *p, int n)
{
    return _mm512_maskz_loadu_epi32((__mmask16)((1 << n) - 1), p);
}

static inline void
q64_store(void *p, q64 v)
{
    _mm512_storeu_si512(p, v);
}

static inline q64
q64_join(q32 low, q32 high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

static inline q32
q64_low(q64 v)
{
    return _mm512_castsi512_si256(v);
}

static inline q64
q64_load2(const void *p, const void *p2)
{
    return q64_join(q32_load(p), q32_load(p2));
}

/* Broadcast loads under a mask: they need a load port alone, and leave the port
 * of the shuffles to others. */
static inline q64
q64_load4(const void *p0, const void *p1, const void *p2, const void *p3)
{
    __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)p0));

    v = _mm512_mask_broadcast_i32x4(
        v, 0x00f0, _mm_loadu_si128((const __m128i *)p1));
    v = _mm512_mask_broadcast_i32x4(
        v, 0x0f00, _mm_loadu_si128((const __m128i *)p2));
    return _mm512_mask_broadcast_i32x4(
        v, 0xf000, _mm_loadu_si128((const __m128i *)p3));
}

/* Unpacking. */

static inline q64
q64_set1(int x)
{
    return _mm512_set1_epi8((char)x);
}

/* There is no shift of bytes: 16 bits are shifted, and the mask takes away what
 * came from the neighbour. */
static inline q64
q64_bits(q64 v, int n, int mask)
{
    return _mm512_and_si512(
        _mm512_srli_epi16(v, (unsigned)n), _mm512_set1_epi8((char)mask));
}

/* Each lane shifts by a count of its own (VPSRLVD). */
static inline q64
q64_bits2(q64 v, int n, int n2, int mask)
{
    const __m512i by = _mm512_inserti64x4(
        _mm512_set1_epi32(n), _mm256_set1_epi32(n2), 1);

    return _mm512_and_si512(
        _mm512_srlv_epi32(v, by), _mm512_set1_epi8((char)mask));
}

static inline q64
q64_shift_left(q64 v, int n)
{
    return _mm512_slli_epi16(v, (unsigned)n);
}

static inline q64
q64_or(q64 a, q64 b)
{
    return _mm512_or_si512(a, b);
}

static inline q64
q64_xor(q64 a, q64 b)
{
    return _mm512_xor_si512(a, b);
}

static inline q64
q64_add(q64 a, q64 b)
{
    return _mm512_add_epi8(a, b);
}

/* 0 - v under a mask; other bytes stay. */
static inline q64
q64_negate_where(q64 v, uint64_t bits)
{
    return _mm512_mask_sub_epi8(
        v, (__mmask64)bits, _mm512_setzero_si512(), v);
}

/* Where the bits of X are not set in V, "or" is an addition, and that has a
 * masked form for bytes. */
static inline q64
q64_or_where(q64 v, uint64_t bits, int x)
{
    return _mm512_mask_add_epi8(
        v, (__mmask64)bits, v, _mm512_set1_epi8((char)x));
}

/* VPSHUFB looks up sixteen bytes in each 128 bits; the table is in all four. */
static inline q64
q64_lookup(const void *p, q64 v)
{
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(
        _mm_loadu_si128((const __m128i *)p)), v);
}

static inline q64
q64_broadcast16(const void *p)
{
    return _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p));
}

/* VPSHUFB gives 0 where the index has its upper bit set. */
static inline q64
q64_pick16(q64 v, const uint8_t *p)
{
    return _mm512_shuffle_epi8(v, q64_load(p));
}

static inline q64
q64_times(q64 v, const int16_t *p)
{
    return _mm512_mullo_epi16(v, q64_load(p));
}

/* Four by four operands in each 128 bits: 32 bits interleaved, then 64. */
static inline void
q64_transpose(q64 *v)
{
    const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]);
    const __m512i b = _mm512_unpackhi_epi32(v[0], v[1]);
    const __m512i c = _mm512_unpacklo_epi32(v[2], v[3]);
    const __m512i d = _mm512_unpackhi_epi32(v[2], v[3]);

    v[0] = _mm512_unpacklo_epi64(a, c);
    v[1] = _mm512_unpackhi_epi64(a, c);
    v[2] = _mm512_unpacklo_epi64(b, d);
    v[3] = _mm512_unpackhi_epi64(b, d);
}

/* Integer sums. */

static inline q64s
q64s_zero(void)
{
    return _mm512_setzero_si512();
}

static inline q64s
q64s_load(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

#if Q_WIDE_BIAS == 128

typedef struct {
    q64 low; /* where the third bit is not set */
    q64 high;
} q64t8;

/* The eight bytes in all 64 bits, then a shuffle. */
static inline q64
q64_of_8(uint64_t x, const uint8_t *from)
{
    return _mm512_shuffle_epi8(_mm512_set1_epi64((int64_t)x), q64_load(from));
}

/* VPMADDUBSW (two codes below 64: no saturation), then VPDPWSSD. */
static inline q64s
q64s_dot_times(q64s s, q64 u, q64 a, q64 t)
{
    return _mm512_dpwssd_epi32(s, _mm512_maddubs_epi16(u, a), t);
}

/* VPERMD, with eight sums in the lower half of its source. */
static inline q64s
q64s_pick(qs s, const int32_t *from)
{
    return _mm512_permutexvar_epi32(
        _mm512_loadu_si512(from), _mm512_castsi256_si512(s));
}

static inline q64s
q64s_mul(q64s s, q64s t)
{
    return _mm512_mullo_epi32(s, t);
}

/* Shuffled in a register of 128 bits, then each byte widened. */
static inline q64s
q64s_of_16(uint64_t a, uint64_t b, const uint8_t *from)
{
    return _mm512_cvtepu8_epi32(_mm_shuffle_epi8(
        _mm_set_epi64x((int64_t)b, (int64_t)a),
        _mm_loadu_si128((const __m128i *)(const void *)from)));
}

/* Byte k of a word is the product of its factor s - 32 with a small integer,
 * biased by 128: 128 + (s - 32) * (4 - k) in the low table, 128 - (s - 32) * k
 * in the high one.  One multiplication makes four of them: byte k of the
 * constant is 4 - k, or k, and factors are below 64, so that no product leaves
 * its byte. */
static inline q64t8
q64_multiples8(q64s s)
{
    return (q64t8){
        _mm512_add_epi8(
            _mm512_mullo_epi32(s, _mm512_set1_epi32(0x01020304)),
            _mm512_set1_epi32(0x60402000)),
        _mm512_sub_epi8(
            _mm512_set1_epi32((int)0xe0c0a080),
            _mm512_mullo_epi32(s, _mm512_set1_epi32(0x03020100)))
    };
}

/* A product looked up instead of multiplied: the two lower bits of V and I name
 * one byte of sixteen, the third bit the table. */
static inline q64
q64_multiple8(q64t8 t, int i, q64 v, q64 third)
{
    const __m512i at = _mm512_or_si512(v, q64_set1(4 * i));
    const __mmask64 is_set = _mm512_test_epi8_mask(third, q64_set1(1 << i));

    return _mm512_mask_shuffle_epi8(
        _mm512_shuffle_epi8(t.low, at), is_set, t.high, at);
}

static inline q64s
q64s_dot(q64s s, q64 u, q64 a)
{
    return _mm512_dpbusd_epi32(s, u, a);
}

static inline q64s
q64s_dot_wide(q64s s, q64 w, q64 a)
{
    return _mm512_dpbusd_epi32(s, w, a);
}

/* Sums are packed to 16 bits; VPDPWSSD multiplies, adds neighbours and
 * accumulates. */
static inline q64s
q64s_dot_words(q64s s, q64s a, q64s b, q64 w)
{
    return _mm512_dpwssd_epi32(s, _mm512_packs_epi32(a, b), w);
}

#else

/* VPMADDUBSW adds two products in 16 bits (codes are at most 127, so they fit),
 * VPMADDWD by 1 two of those sums. */
static inline q64s
q64s_dot(q64s s, q64 u, q64 a)
{
    return _mm512_add_epi32(s, _mm512_madd_epi16(
        _mm512_maddubs_epi16(u, a), _mm512_set1_epi16(1)));
}

/* VPMADDUBSW wants unsigned codes and saturates.  |w| * (a with w's sign) is
 * the same product, and two of them are at most 2 * 128 * 127, below 2^15. */
static inline q64s
q64s_dot_wide(q64s s, q64 w, q64 a)
{
    const __m512i signed_a = _mm512_mask_sub_epi8(
        a, _mm512_movepi8_mask(w), _mm512_setzero_si512(), a);

    return q64s_dot(s, _mm512_abs_epi8(w), signed_a);
}

static inline q64s
q64s_dot_words(q64s s, q64s a, q64s b, q64 w)
{
    return _mm512_add_epi32(
        s, _mm512_madd_epi16(_mm512_packs_epi32(a, b), w));
}

#endif

static inline q64s
q64s_add(q64s s, q64s t)
{
    return _mm512_add_epi32(s, t);
}

static inline q64s
q64s_sub(q64s s, q64s t)
{
    return _mm512_sub_epi32(s, t);
}

static inline q64s
q64s_add_256(q64s s, q64s t)
{
    return _mm512_add_epi32(s, _mm512_slli_epi32(t, 8));
}

/* Floats. */

static inline q64t
q64t_low(qf low)
{
    return _mm512_castps256_ps512(low);
}

static inline q64t
q64t_set(qf low, qf high)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
}

static inline q64f
q64t_pick(q64t t, const int32_t *from)
{
    return _mm512_permutexvar_ps(_mm512_loadu_si512(from), t);
}

static inline q64f
q64f_zero(void)
{
    return _mm512_setzero_ps();
}

static inline q64f
q64f_set1(float x)
{
    return _mm512_set1_ps(x);
}

static inline q64f
q64f_load(const float *p)
{
    return _mm512_loadu_ps(p);
}

static inline void
q64f_store(float *p, q64f v)
{
    _mm512_storeu_ps(p, v);
}

/* Both F16 are converted together, as one word repeated. */
static inline void
q64f_two_halves(const void *p, q64f *a, qf *b)
{
    int32_t both;
    __m256 floats;

    memcpy(&both, p, sizeof(both));
    floats = _mm256_cvtph_ps(_mm_set1_epi32(both));
    *a = _mm512_broadcastss_ps(_mm256_castps256_ps128(floats));
    *b = _mm256_movehdup_ps(floats);
}

static inline q64f
q64f_from(q64s s)
{
    return _mm512_cvtepi32_ps(s);
}

static inline q64f
q64f_mul(q64f a, q64f b)
{
    return _mm512_mul_ps(a, b);
}

static inline q64f
q64f_fma(q64f a, q64f b, q64f c)
{
    return _mm512_fmadd_ps(a, b, c);
}

/* Where A and B are constants, so are the indices. */
static inline q64f
q64f_add4(q64f acc, q64s s, q64t t, int a, int b)
{
    const __m512i from = _mm512_setr_epi32(a, a, a, a, a + 1, a + 1, a + 1,
        a + 1, b, b, b, b, b + 1, b + 1, b + 1, b + 1);

    return _mm512_fmadd_ps(
        _mm512_cvtepi32_ps(s), _mm512_permutexvar_ps(from, t), acc);
}

static inline q64f
q64f_add2(q64f acc, q64s s, q64t t, int a, int b)
{
    const __m512i from = _mm512_setr_epi32(
        a, a, a, a, a, a, a, a, b, b, b, b, b, b, b, b);

    return _mm512_fmadd_ps(
        _mm512_cvtepi32_ps(s), _mm512_permutexvar_ps(from, t), acc);
}

static inline float
q64f_sum(q64f acc, q64f acc2, qf acc3)
{
    const __m512 both = _mm512_add_ps(acc, acc2);

    return qf_sum(_mm256_add_ps(
        _mm256_add_ps(_mm512_castps512_ps256(both),
            _mm512_extractf32x8_ps(both, 1)),
        acc3));
}

/* In the order of q64f_sum. */
static inline vf
q64f_sum_rows(const vf *acc, const vf *acc2, const vf *acc3)
{
    vf v[8];

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        v[i] = vf_add(vf_add(vf_add(acc[i], acc2[i]),
                             vf_add(acc[8 + i], acc2[8 + i])),
                      acc3[i]);
    return qf_sum_rows(v);
}

/* The index, in 16-bit words, of the I-th F16 of those PITCH bytes apart in 64
 * bytes from byte START on. */
#define Q_IN_WINDOW(i, pitch, start) \
    ((short)(((size_t)(i) * (pitch) - (start)) / 2))

/* A gather of the scales of eight blocks.  A load of 64 bytes has the scales of
 * two successive blocks at least (PITCH <= 34), or of four (PITCH <= 20), and
 * one VPERMI2W takes words from two loads.  So it takes two loads and a
 * permutation, or four and two; indices are constants where PITCH is one. */
static inline qf
q_eight_halves(const void *p, size_t pitch)
{
    const char *from = p;
    const size_t last = 8 * pitch - 2 - 64; /* its load ends with the last F16 */
    const size_t start1 = (pitch <= 20 ? 4 : 2) * pitch;
    const size_t start2 = 4 * pitch;
    const size_t start3 = 6 * pitch < last ? 6 * pitch : last;
    const short a = 32; /* words of the second load */
    const __m512i w0 = _mm512_loadu_si512(from);
    const __m512i w1 = _mm512_loadu_si512(from + start1);
    __m512i halves;

    if (pitch <= 20) {
        halves = _mm512_permutex2var_epi16(w0,
            _mm512_castsi128_si512(_mm_setr_epi16(
                Q_IN_WINDOW(0, pitch, 0), Q_IN_WINDOW(1, pitch, 0),
                Q_IN_WINDOW(2, pitch, 0), Q_IN_WINDOW(3, pitch, 0),
                a + Q_IN_WINDOW(4, pitch, start1),
                a + Q_IN_WINDOW(5, pitch, start1),
                a + Q_IN_WINDOW(6, pitch, start1),
                a + Q_IN_WINDOW(7, pitch, start1))),
            w1);
    } else {
        const __m512i low = _mm512_permutex2var_epi16(w0,
            _mm512_castsi128_si512(_mm_setr_epi16(
                Q_IN_WINDOW(0, pitch, 0), Q_IN_WINDOW(1, pitch, 0),
                a + Q_IN_WINDOW(2, pitch, start1),
                a + Q_IN_WINDOW(3, pitch, start1), 0, 0, 0, 0)),
            w1);
        const __m512i high = _mm512_permutex2var_epi16(
            _mm512_loadu_si512(from + start2),
            _mm512_castsi128_si512(_mm_setr_epi16(
                Q_IN_WINDOW(4, pitch, start2), Q_IN_WINDOW(5, pitch, start2),
                a + Q_IN_WINDOW(6, pitch, start3),
                a + Q_IN_WINDOW(7, pitch, start3), 0, 0, 0, 0)),
            _mm512_loadu_si512(from + start3));

        halves = _mm512_castsi128_si512(_mm_unpacklo_epi64(
            _mm512_castsi512_si128(low), _mm512_castsi512_si128(high)));
    }
    return _mm256_cvtph_ps(_mm512_castsi512_si128(halves));
}

#endif
