/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32-avx2.h - dot products along a row for AVX2 and AVX-512, 32 bytes
 * a register.
 *
 * A dot4 is one instruction where there is VPDPBUSD: AVX-VNNI and AVX512-VNNI
 * have it, each in its own encoding, which the compiler chooses by its flags.
 * Both multiply unsigned bytes by signed ones, so that wide codes are biased by
 * 128.  Elsewhere three instructions take its place: VPMADDUBSW, VPMADDWD and
 * VPADDD.
 *
 * Shuffles and packing work within the two parts of 128 bits of a register.
 *
 * Source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume
 * 2.
 */
#ifndef GB_CPU_SIMD_Q32_AVX2_H
#define GB_CPU_SIMD_Q32_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVXVNNI__) || \
    (defined(__AVX512VNNI__) && defined(__AVX512VL__))
#define Q_WIDE_BIAS 128
#else
#define Q_WIDE_BIAS 0
#endif

typedef __m256i q32;
typedef __m256i qs;
typedef __m256 qf;

/* Loading and storing. */

static inline q32
q32_load(const void *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

static inline void
q32_store(void *p, q32 v)
{
    _mm256_storeu_si256((__m256i *)p, v);
}

static inline q32
q32_load2(const void *p, const void *p2)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p)),
        _mm_loadu_si128((const __m128i *)p2), 1);
}

static inline q32
q32_set1(int x)
{
    return _mm256_set1_epi8((char)x);
}

/* Unpacking. */

/* The sixteen bytes in both parts; the upper part is shifted down by four. */
static inline q32
q32_nibbles(const void *p)
{
    const __m256i twice = _mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)p));

    return _mm256_and_si256(
        _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 0, 0, 0, 4, 4, 4, 4)),
        _mm256_set1_epi8(15));
}

/* There is no shift of bytes: 16 bits are shifted, and the mask takes away what
 * came from the neighbour. */
static inline q32
q32_bits(q32 v, int n, int mask)
{
    return _mm256_and_si256(
        _mm256_srli_epi16(v, n), _mm256_set1_epi8((char)mask));
}

/* By 16 bits: no bit leaves its byte, by contract. */
static inline q32
q32_shift_left(q32 v, int n)
{
    return _mm256_slli_epi16(v, n);
}

static inline q32
q32_or(q32 a, q32 b)
{
    return _mm256_or_si256(a, b);
}

static inline q32
q32_add(q32 a, q32 b)
{
    return _mm256_add_epi8(a, b);
}

static inline q32
q32_xor(q32 a, q32 b)
{
    return _mm256_xor_si256(a, b);
}

static inline q32
q32_mask_of_bits(uint32_t bits)
{
    /* Byte i is given that byte of BITS which its bit is in, and compared with
     * that one bit. */
    const __m256i place = _mm256_setr_epi64x(0, 0x0101010101010101,
        0x0202020202020202, 0x0303030303030303);
    const __m256i bit = _mm256_set1_epi64x((int64_t)0x8040201008040201u);
    const __m256i bytes = _mm256_shuffle_epi8(
        _mm256_set1_epi32((int)bits), place);

    return _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit);
}

/* All bits or none of a byte. */
static inline q32
q32_where(q32 m, q32 v)
{
    return _mm256_and_si256(m, v);
}

/* -v is (v ^ -1) - -1; where the mask is 0 nothing changes. */
static inline q32
q32_negate(q32 m, q32 v)
{
    return _mm256_sub_epi8(_mm256_xor_si256(v, m), m);
}

/* One for what is above 85 and one for what is above 170. */
static inline q32
q32_thirds(q32 v)
{
    const __m256i one = _mm256_set1_epi8(1);

    return _mm256_add_epi8(
        _mm256_min_epu8(_mm256_subs_epu8(v, _mm256_set1_epi8(85)), one),
        _mm256_min_epu8(
            _mm256_subs_epu8(v, _mm256_set1_epi8((char)170)), one));
}

/* VPSHUFB looks up sixteen bytes in each part; the table is in both. */
static inline q32
q32_lookup(const void *p, q32 v)
{
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(
        _mm_loadu_si128((const __m128i *)p)), v);
}

/* VPSHUFB gives 0 where the index has its upper bit set. */
static inline q32
q32_pick16(q32 v, const uint8_t *p)
{
    return _mm256_shuffle_epi8(v, q32_load(p));
}

/* Words of 16 bits, the lower half of the product (VPMULLW). */
static inline q32
q32_times(q32 v, const int16_t *p)
{
    return _mm256_mullo_epi16(v, q32_load(p));
}

#if defined(GB_SIMD_AVX512)

/* VPMOVDB keeps the lowest byte of each of sixteen words. */
static inline q32
q32_scaled(const float *p, float f)
{
    const __m128i first = _mm512_cvtepi32_epi8(
        _mm512_cvtps_epi32(vf_mul(vf_load(p), vf_set1(f))));
    const __m128i last = _mm512_cvtepi32_epi8(
        _mm512_cvtps_epi32(vf_mul(vf_load(p + 16), vf_set1(f))));

    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), last, 1);
}

#else

/* VCVTPS2DQ rounds to the nearest, ties to even. */
static inline __m256i
q_eight_scaled(const float *p, float f)
{
    return _mm256_cvtps_epi32(vf_mul(vf_load(p), vf_set1(f)));
}

/* Packing works within each part and leaves the eight words in the order 0 2 4
 * 6 1 3 5 7, which VPERMD mends. */
static inline q32
q32_scaled(const float *p, float f)
{
    const __m256i first = _mm256_packs_epi32(
        q_eight_scaled(p, f), q_eight_scaled(p + 8, f));
    const __m256i last = _mm256_packs_epi32(
        q_eight_scaled(p + 16, f), q_eight_scaled(p + 24, f));

    return _mm256_permutevar8x32_epi32(_mm256_packs_epi16(first, last),
        _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

#endif

/* Loads and insertions: through memory the load of 32 bytes would have to wait
 * for eight shorter stores. */
static inline q32
q32_words(const void *const *p)
{
    int32_t w[8];

#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        memcpy(&w[i], p[i], sizeof(w[i]));
    return _mm256_setr_epi32(
        w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]);
}

#define Q32_EIGHTS

/* Loads and insertions, as above. */
static inline q32
q32_eights(const void *const *p)
{
    int64_t w[4];

#pragma GCC unroll 4
    for (int i = 0; i < 4; i++)
        memcpy(&w[i], p[i], sizeof(w[i]));
    return _mm256_setr_epi64x(w[0], w[1], w[2], w[3]);
}

/* Four by four operands in each part: 32 bits interleaved, then 64. */
static inline void
q32_transpose(q32 *v)
{
    const __m256i a = _mm256_unpacklo_epi32(v[0], v[1]);
    const __m256i b = _mm256_unpackhi_epi32(v[0], v[1]);
    const __m256i c = _mm256_unpacklo_epi32(v[2], v[3]);
    const __m256i d = _mm256_unpackhi_epi32(v[2], v[3]);

    v[0] = _mm256_unpacklo_epi64(a, c);
    v[1] = _mm256_unpackhi_epi64(a, c);
    v[2] = _mm256_unpacklo_epi64(b, d);
    v[3] = _mm256_unpackhi_epi64(b, d);
}

/* Scales: F16 of successive blocks. */

/* VCVTPH2PS, of one value. */
static inline float
q_half(const void *p)
{
    uint16_t h;

    memcpy(&h, p, sizeof(h));
    return _cvtsh_ss(h);
}

/* The word at P, or 0 where there is none, whose address is not read. */
static inline __m128i
q_word_at(const char *p, int is_there)
{
    int32_t w = 0;

    if (is_there)
        memcpy(&w, p, sizeof(w));
    return _mm_cvtsi32_si128(w);
}

/* N of four words, PITCH bytes apart, and zeros. */
static inline __m128i
q_four_words(const char *p, size_t pitch, int n)
{
    return _mm_unpacklo_epi64(
        _mm_unpacklo_epi32(
            q_word_at(p, n > 0), q_word_at(p + pitch, n > 1)),
        _mm_unpacklo_epi32(q_word_at(p + 2 * pitch, n > 2),
            q_word_at(p + 3 * pitch, n > 3)));
}

/* Two F16 are a word: the lower ones are kept by a mask, the upper ones by a
 * shift, and eight of either are packed and converted. */
static inline void
q_half_pairs(float *a, float *b, const void *p, size_t pitch, int n)
{
    const char *from = p;
    const __m128i low = q_four_words(from, pitch, n);
    const __m128i high = q_four_words(from + 4 * pitch, pitch, n - 4);
    const __m128i mask = _mm_set1_epi32(0xffff);

    _mm256_storeu_ps(a, _mm256_cvtph_ps(_mm_packus_epi32(
        _mm_and_si128(low, mask), _mm_and_si128(high, mask))));
    _mm256_storeu_ps(b, _mm256_cvtph_ps(_mm_packus_epi32(
        _mm_srli_epi32(low, 16), _mm_srli_epi32(high, 16))));
}

/* Half of what was loaded is not needed, but a load of words is shorter than
 * one of 16 bits. */
static inline void
q_halves(float *dst, const void *p, size_t pitch, int n)
{
    float unused[8];

    q_half_pairs(dst, unused, p, pitch, n);
}

static inline uint16_t
q_to_half(float x)
{
    return _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT);
}

static inline void
q_floats_u8(float *dst, const void *p, float f)
{
    const __m256i v = _mm256_cvtepu8_epi32(
        _mm_loadl_epi64((const __m128i *)p));

    _mm256_storeu_ps(
        dst, _mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(f)));
}

static inline void
q_floats_i8(float *dst, const void *p, float f)
{
    const __m256i v = _mm256_cvtepi8_epi32(
        _mm_loadl_epi64((const __m128i *)p));

    _mm256_storeu_ps(
        dst, _mm256_mul_ps(_mm256_cvtepi32_ps(v), _mm256_set1_ps(f)));
}

/* Integer sums. */

static inline qs
qs_set_lane0(int32_t a)
{
    return _mm256_zextsi128_si256(_mm_cvtsi32_si128(a));
}

static inline qs
qs_set_lanes04(int32_t a, int32_t b)
{
    return _mm256_inserti128_si256(
        _mm256_castsi128_si256(_mm_cvtsi32_si128(a)), _mm_cvtsi32_si128(b), 1);
}

static inline qs
qs_load(const int32_t *p)
{
    return _mm256_loadu_si256((const __m256i *)p);
}

#if Q_WIDE_BIAS == 128

static inline qs
qs_set1(int32_t x)
{
    return _mm256_set1_epi32(x);
}

/* Each lane shifts by a count of its own (VPSRLVD). */
static inline qs
qs_fields(uint32_t w, const int32_t *at, int32_t mask)
{
    return _mm256_and_si256(
        _mm256_srlv_epi32(qs_set1((int32_t)w), qs_load(at)), qs_set1(mask));
}

/* Sixteen bytes are shuffled in a register, eight of them widened. */
static inline qs
qs_of_16(uint64_t a, uint64_t b, const uint8_t *from)
{
    return _mm256_cvtepu8_epi32(_mm_shuffle_epi8(
        _mm_set_epi64x((int64_t)b, (int64_t)a),
        _mm_loadl_epi64((const __m128i *)(const void *)from)));
}

typedef struct {
    q32 low; /* where the third bit is not set */
    q32 high;
} q32t8;

/* Byte k of a word of T is the product of its factor s - 32 with one of eight
 * small integers, all biased by 128: 128 + (s - 32) * (4 - k) in the low table,
 * 128 - (s - 32) * k in the high one.  One multiplication of 32 bits makes four
 * of them, since byte k of the constant is 4 - k or k; factors are below 64, so
 * that no product leaves its byte. */
static inline q32t8
q32_multiples8(qs s)
{
    return (q32t8){
        _mm256_add_epi8(
            _mm256_mullo_epi32(s, _mm256_set1_epi32(0x01020304)),
            _mm256_set1_epi32(0x60402000)),
        _mm256_sub_epi8(
            _mm256_set1_epi32((int)0xe0c0a080),
            _mm256_mullo_epi32(s, _mm256_set1_epi32(0x03020100)))
    };
}

/* A product looked up instead of multiplied: the two lower bits of V and I name
 * a byte of 16, the third bit the table. */
static inline q32
q32_multiple8(q32t8 t, int i, q32 v, q32 third)
{
    const __m256i at = q32_or(v, q32_set1(4 * i));

    return _mm256_blendv_epi8(
        _mm256_shuffle_epi8(t.low, at), _mm256_shuffle_epi8(t.high, at),
        _mm256_slli_epi16(third, 7 - i));
}

/* The eight bytes in all 64 bits, then a shuffle. */
static inline q32
q32_of_8(uint64_t x, const uint8_t *from)
{
    return _mm256_shuffle_epi8(
        _mm256_set1_epi64x((int64_t)x), q32_load(from));
}

/* VPMADDUBSW, then VPDPWSSD: sums of two bytes times factors of 16 bits. */
static inline qs
qs_dot_times(qs s, q32 u, q32 a, q32 t)
{
    return _mm256_dpwssd_epi32(s, _mm256_maddubs_epi16(u, a), t);
}

static inline qs
qs_pick(qs s, const int32_t *from)
{
    return _mm256_permutevar8x32_epi32(s, qs_load(from));
}

static inline qs
qs_mul(qs s, qs t)
{
    return _mm256_mullo_epi32(s, t);
}

static inline qs
qs_dot(qs s, q32 u, q32 a)
{
    return _mm256_dpbusd_epi32(s, u, a);
}

static inline qs
qs_dot_wide(qs s, q32 w, q32 a)
{
    return _mm256_dpbusd_epi32(s, w, a);
}

#else

/* VPMADDUBSW adds two products in 16 bits (codes are at most 127, so they fit),
 * VPMADDWD by 1 two of those sums. */
static inline qs
qs_dot(qs s, q32 u, q32 a)
{
    return _mm256_add_epi32(s, _mm256_madd_epi16(
        _mm256_maddubs_epi16(u, a), _mm256_set1_epi16(1)));
}

/* VPMADDUBSW wants unsigned codes and saturates.  |w| * (a with w's sign) is
 * the same product, and two of them are at most 2 * 128 * 127, below 2^15. */
static inline qs
qs_dot_wide(qs s, q32 w, q32 a)
{
    return qs_dot(s, _mm256_abs_epi8(w), _mm256_sign_epi8(a, w));
}

#endif

static inline qs
qs_add(qs s, qs t)
{
    return _mm256_add_epi32(s, t);
}

static inline qs
qs_sub(qs s, qs t)
{
    return _mm256_sub_epi32(s, t);
}

/* Sums below 2^15 are packed to 16 bits and multiplied with W there
 * (VPMADDWD). */
static inline qs
qs_dot_words(qs s, qs a, qs b, q32 w)
{
    return _mm256_add_epi32(
        s, _mm256_madd_epi16(_mm256_packs_epi32(a, b), w));
}

static inline qs
qs_add_256(qs s, qs t)
{
    return _mm256_add_epi32(s, _mm256_slli_epi32(t, 8));
}

static inline void
qs_store(int32_t *p, qs s)
{
    _mm256_storeu_si256((__m256i *)p, s);
}

/* Two rounds of VPHADDD, which works within each part, as the sums shall. */
static inline void
qs_store_sums4(int32_t *p, const qs *s)
{
    const __m256i sums = _mm256_hadd_epi32(
        _mm256_hadd_epi32(s[0], s[1]), _mm256_hadd_epi32(s[2], s[3]));

    _mm256_storeu_si256((__m256i *)p, sums);
}

/* Over the lanes of four vectors. */

/* Vectors become four lanes each, by the maxima of their parts; the rest is the
 * maximum over the columns of a 4 x 4 matrix: interleaved in pairs, then moved
 * together. */
static inline void
vf_store_max4(float *p, const vf *v)
{
    const __m128 a = vf_max_quarters(v[0]);
    const __m128 b = vf_max_quarters(v[1]);
    const __m128 c = vf_max_quarters(v[2]);
    const __m128 d = vf_max_quarters(v[3]);
    const __m128 ab = _mm_max_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    const __m128 cd = _mm_max_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));

    _mm_storeu_ps(
        p, _mm_max_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab)));
}

/* As vf_store_max4, with sums. */
static inline void
vf_store_sums4(float *p, const vf *v)
{
    const __m128 a = vf_add_quarters(v[0]);
    const __m128 b = vf_add_quarters(v[1]);
    const __m128 c = vf_add_quarters(v[2]);
    const __m128 d = vf_add_quarters(v[3]);
    const __m128 ab = _mm_add_ps(_mm_unpacklo_ps(a, b), _mm_unpackhi_ps(a, b));
    const __m128 cd = _mm_add_ps(_mm_unpacklo_ps(c, d), _mm_unpackhi_ps(c, d));

    _mm_storeu_ps(
        p, _mm_add_ps(_mm_movelh_ps(ab, cd), _mm_movehl_ps(cd, ab)));
}

/* Floats. */

static inline qf
qf_zero(void)
{
    return _mm256_setzero_ps();
}

static inline qf
qf_set1(float x)
{
    return _mm256_set1_ps(x);
}

static inline qf
qf_load(const float *p)
{
    return _mm256_loadu_ps(p);
}

static inline void
qf_store(float *p, qf v)
{
    _mm256_storeu_ps(p, v);
}

static inline qf
qf_mul(qf a, qf b)
{
    return _mm256_mul_ps(a, b);
}

static inline qf
qf_fma(qf a, qf b, qf c)
{
    return _mm256_fmadd_ps(a, b, c);
}

static inline qf
qf_add(qf acc, qs s, float f)
{
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(s), _mm256_set1_ps(f), acc);
}

/* The two factors are loaded together and repeated in four lanes each. */
static inline qf
qf_add2(qf acc, qs s, const float *p)
{
    const __m256 both = _mm256_permutevar8x32_ps(
        _mm256_castsi256_ps(_mm256_castsi128_si256(
            _mm_loadl_epi64((const __m128i *)(const void *)p))),
        _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));

    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(s), both, acc);
}

static inline qf
qf_from(qs s)
{
    return _mm256_cvtepi32_ps(s);
}

/* Eight lanes to four, to two, to one. */
static inline float
qf_sum(qf acc)
{
    __m128 s = _mm_add_ps(
        _mm256_castps256_ps128(acc), _mm256_extractf128_ps(acc, 1));

    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}

/* In the order of qf_sum. */
static inline vf
qf_sum_rows(const vf *v)
{
    return vf_add(vf_add(vf_add(v[0], v[4]), vf_add(v[2], v[6])),
                  vf_add(vf_add(v[1], v[5]), vf_add(v[3], v[7])));
}

#endif
