/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32-generic.h - dot products along a row in the compiler's vector
 * type.
 *
 * The reference for the other headers, and what machines without a header of
 * their own run.  Vectors are made of two halves of sixteen bytes: compilers
 * for machines without longer registers warn about longer arguments.  Operators
 * act on each element; loops stand where C has no operator, and compilers
 * unroll them.
 */
#ifndef GB_CPU_SIMD_Q32_GENERIC_H
#define GB_CPU_SIMD_Q32_GENERIC_H

#include "lib/base/byte-order.h"

#include <stdint.h>
#include <string.h>

#define Q_WIDE_BIAS 0

typedef uint8_t q_u8x16 __attribute__((vector_size(16)));
typedef int16_t q_i16x8 __attribute__((vector_size(16)));
typedef uint16_t q_u16x8 __attribute__((vector_size(16)));
typedef int32_t q_i32x4 __attribute__((vector_size(16)));
typedef uint32_t q_u32x4 __attribute__((vector_size(16)));

/* Bytes 0 to 15 and 16 to 31, and the four sums that belong to either. */
typedef struct {
    q_u8x16 half[2];
} q32;

typedef struct {
    q_i32x4 half[2];
} qs;

typedef struct {
    vf half[2];
} qf;

/* Loading and storing. */

static inline q32
q32_load(const void *p)
{
    q32 v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void
q32_store(void *p, q32 v)
{
    memcpy(p, &v, sizeof(v));
}

static inline q32
q32_load2(const void *p, const void *p2)
{
    q32 v;

    memcpy(&v.half[0], p, 16);
    memcpy(&v.half[1], p2, 16);
    return v;
}

static inline q32
q32_set1(int x)
{
    const q_u8x16 half = (q_u8x16){ 0 } + (uint8_t)x;

    return (q32){ { half, half } };
}

/* Unpacking. */

static inline q32
q32_bits(q32 v, int n, int mask)
{
    for (int i = 0; i < 2; i++)
        v.half[i] = (v.half[i] >> (uint8_t)n) & (uint8_t)mask;
    return v;
}

static inline q32
q32_nibbles(const void *p)
{
    q_u8x16 bytes;

    memcpy(&bytes, p, sizeof(bytes));
    return (q32){ { bytes & 15, bytes >> 4 } };
}

/* By bytes here: bits that leave one are lost. */
static inline q32
q32_shift_left(q32 v, int n)
{
    for (int i = 0; i < 2; i++)
        v.half[i] <<= (uint8_t)n;
    return v;
}

static inline q32
q32_or(q32 a, q32 b)
{
    return (q32){ { a.half[0] | b.half[0], a.half[1] | b.half[1] } };
}

static inline q32
q32_add(q32 a, q32 b)
{
    return (q32){ { a.half[0] + b.half[0], a.half[1] + b.half[1] } };
}

static inline q32
q32_xor(q32 a, q32 b)
{
    return (q32){ { a.half[0] ^ b.half[0], a.half[1] ^ b.half[1] } };
}

/* -1 is 255 as a byte. */
static inline q32
q32_mask_of_bits(uint32_t bits)
{
    q32 v;

    for (int i = 0; i < 32; i++)
        v.half[i / 16][i % 16] = (uint8_t)-(int)(bits >> i & 1);
    return v;
}

static inline q32
q32_where(q32 m, q32 v)
{
    return (q32){ { m.half[0] & v.half[0], m.half[1] & v.half[1] } };
}

/* -v is (v ^ -1) - -1; where the mask is 0 nothing changes. */
static inline q32
q32_negate(q32 m, q32 v)
{
    return (q32){ { (v.half[0] ^ m.half[0]) - m.half[0],
                    (v.half[1] ^ m.half[1]) - m.half[1] } };
}

/* 3 * v >> 8 is 1 from 86 on, since 3 * 86 is 258, and 2 from 171 on. */
static inline q32
q32_thirds(q32 v)
{
    for (int i = 0; i < 2; i++)
        v.half[i] = ((q_u8x16)(v.half[i] > 85) & 1) +
                    ((q_u8x16)(v.half[i] > 170) & 1);
    return v;
}

static inline q32
q32_lookup(const void *p, q32 v)
{
    const uint8_t *table = p;

    for (int i = 0; i < 32; i++)
        v.half[i / 16][i % 16] = table[v.half[i / 16][i % 16]];
    return v;
}

/* Within each half, 0 for an index beyond it, as byte shuffles do. */
static inline q32
q32_pick16(q32 v, const uint8_t *p)
{
    q32 picked;

    for (int i = 0; i < 32; i++) {
        const uint8_t at = p[i];

        picked.half[i / 16][i % 16] = at < 16 ? v.half[i / 16][at] : 0;
    }
    return picked;
}

/* Words of 16 bits have their low byte first, as bytes were put together. */
static inline q_i16x8
q_le_words(q_i16x8 v)
{
    return GB_IS_BIG_ENDIAN
               ? (q_i16x8)((q_u16x8)v >> 8 | (q_u16x8)v << 8)
               : v;
}

static inline q32
q32_times(q32 v, const int16_t *p)
{
    q_i16x8 factors[2];

    memcpy(factors, p, sizeof(factors));
    for (int i = 0; i < 2; i++)
        v.half[i] = (q_u8x16)q_le_words(
            q_le_words((q_i16x8)v.half[i]) * factors[i]);
    return v;
}

/* The conversion is undefined for NaN and for what an int8_t does not hold, so
 * that both are limited first; NaN becomes -127. */
static inline q32
q32_scaled(const float *p, float f)
{
    int8_t b[32];

    for (int i = 0; i < 32; i += VF_LEN) {
        const vf v = vf_mul(vf_load(p + i), vf_set1(f));
        const vf whole = vf_round(
            vf_min(vf_max(v, vf_set1(-127.0f)), vf_set1(127.0f)));

        for (int j = 0; j < VF_LEN; j++)
            b[i + j] = (int8_t)whole[j];
    }
    return q32_load(b);
}

static inline q32
q32_words(const void *const *p)
{
    uint8_t bytes[32];

    for (int i = 0; i < 8; i++)
        memcpy(bytes + 4 * i, p[i], 4);
    return q32_load(bytes);
}

/* Four by four operands in each half. */
static inline void
q32_transpose(q32 *v)
{
    const q32 from[4] = { v[0], v[1], v[2], v[3] };

    for (int h = 0; h < 2; h++) {
        for (int i = 0; i < 4; i++) {
            q_i32x4 dwords = { 0 };

            for (int j = 0; j < 4; j++)
                dwords[j] = ((q_i32x4)from[j].half[h])[i];
            v[i].half[h] = (q_u8x16)dwords;
        }
    }
}

/* Scales: F16 of successive blocks. */

/* By way of a vector, so that the conversion is that of vf_load_f16. */
static inline float
q_half(const void *p)
{
    uint16_t h;

    memcpy(&h, p, sizeof(h));
    h = gb_le16(h);
    return vf_load_f16_n(&h, 1)[0];
}

static inline void
q_halves(float *dst, const void *p, size_t pitch, int n)
{
    for (int i = 0; i < 8; i++)
        dst[i] = i < n ? q_half((const char *)p + (size_t)i * pitch) : 0.0f;
}

static inline void
q_half_pairs(float *a, float *b, const void *p, size_t pitch, int n)
{
    q_halves(a, p, pitch, n);
    q_halves(b, (const char *)p + 2, pitch, n);
}

static inline uint16_t
q_to_half(float x)
{
    uint16_t h;

    vf_store_f16_n(&h, vf_set1(x), 1);
    return gb_le16(h);
}

static inline void
q_floats_u8(float *dst, const void *p, float f)
{
    const uint8_t *b = p;

    for (int i = 0; i < 8; i++)
        dst[i] = (float)b[i] * f;
}

static inline void
q_floats_i8(float *dst, const void *p, float f)
{
    const int8_t *b = p;

    for (int i = 0; i < 8; i++)
        dst[i] = (float)b[i] * f;
}

/* Integer sums. */

static inline qs
qs_set_lanes04(int32_t a, int32_t b)
{
    return (qs){ { { a, 0, 0, 0 }, { b, 0, 0, 0 } } };
}

static inline qs
qs_set_lane0(int32_t a)
{
    return qs_set_lanes04(a, 0);
}

static inline qs
qs_load(const int32_t *p)
{
    qs s;

    memcpy(&s, p, sizeof(s));
    return s;
}

/* The bytes at even addresses of pairs, with their sign, and below those at odd
 * ones.  On big-endian machines it is the other way round, which does not
 * matter as long as both factors are treated alike. */
static inline q_i16x8
q_even_bytes(q_u16x8 pairs)
{
    return (q_i16x8)(pairs << 8) >> 8;
}

static inline q_i16x8
q_odd_bytes(q_u16x8 pairs)
{
    return (q_i16x8)pairs >> 8;
}

/* A dot4 of signed bytes: products of 16 bits, of which two neighbours are
 * added in 16 bits (activations are not below -127, so that they fit), and
 * those sums in 32. */
static inline q_i32x4
q_dot_words(q_i32x4 s, q_u32x4 w, q_u32x4 a)
{
    const q_u16x8 x = (q_u16x8)w;
    const q_u16x8 y = (q_u16x8)a;
    const q_i16x8 pairs = q_even_bytes(x) * q_even_bytes(y) +
                          q_odd_bytes(x) * q_odd_bytes(y);

    return s + ((q_i32x4)((q_u32x4)pairs << 16) >> 16) +
           ((q_i32x4)pairs >> 16);
}

static inline qs
qs_dot_wide(qs s, q32 w, q32 a)
{
    for (int i = 0; i < 2; i++)
        s.half[i] = q_dot_words(
            s.half[i], (q_u32x4)w.half[i], (q_u32x4)a.half[i]);
    return s;
}

/* Codes are below 128: signed bytes as well. */
static inline qs
qs_dot(qs s, q32 u, q32 a)
{
    return qs_dot_wide(s, u, a);
}

/* Sums are below 2^15 by contract, so that two products are below 2^31. */
static inline qs
qs_dot_words(qs s, qs a, qs b, q32 w)
{
    for (int h = 0; h < 2; h++) {
        const q_i16x8 words = q_le_words((q_i16x8)w.half[h]);

        for (int i = 0; i < 2; i++) {
            s.half[h][i] += a.half[h][2 * i] * words[2 * i] +
                            a.half[h][2 * i + 1] * words[2 * i + 1];
            s.half[h][2 + i] += b.half[h][2 * i] * words[4 + 2 * i] +
                                b.half[h][2 * i + 1] * words[5 + 2 * i];
        }
    }
    return s;
}

static inline qs
qs_add_256(qs s, qs t)
{
    return (qs){ { s.half[0] + t.half[0] * 256, s.half[1] + t.half[1] * 256 } };
}

static inline void
qs_store(int32_t *p, qs s)
{
    memcpy(p, &s, sizeof(s));
}

static inline void
qs_store_sums4(int32_t *p, const qs *s)
{
    int32_t x[8];

    for (int i = 0; i < 4; i++) {
        qs_store(x, s[i]);
        p[i] = x[0] + x[1] + x[2] + x[3];
        p[4 + i] = x[4] + x[5] + x[6] + x[7];
    }
}

/* Over the lanes of four vectors. */

/* One after the other: there is nothing to gain without shuffles. */
static inline void
vf_store_max4(float *p, const vf *v)
{
    for (int i = 0; i < 4; i++)
        p[i] = vf_hmax(v[i]);
}

static inline void
vf_store_sums4(float *p, const vf *v)
{
    for (int i = 0; i < 4; i++)
        p[i] = vf_sum(v[i]);
}

/* Floats. */

static inline qf
qf_zero(void)
{
    return (qf){ { vf_zero(), vf_zero() } };
}

static inline qf
qf_set1(float x)
{
    return (qf){ { vf_set1(x), vf_set1(x) } };
}

static inline qf
qf_load(const float *p)
{
    return (qf){ { vf_load(p), vf_load(p + 4) } };
}

static inline void
qf_store(float *p, qf v)
{
    vf_store(p, v.half[0]);
    vf_store(p + 4, v.half[1]);
}

static inline qf
qf_mul(qf a, qf b)
{
    return (qf){ { a.half[0] * b.half[0], a.half[1] * b.half[1] } };
}

static inline qf
qf_fma(qf a, qf b, qf c)
{
    return (qf){ { vf_fma(a.half[0], b.half[0], c.half[0]),
                   vf_fma(a.half[1], b.half[1], c.half[1]) } };
}

/* Product and sum are rounded each. */
static inline qf
qf_add2(qf acc, qs s, const float *p)
{
    for (int i = 0; i < 2; i++)
        acc.half[i] += __builtin_convertvector(s.half[i], vf) * p[i];
    return acc;
}

static inline qf
qf_add(qf acc, qs s, float f)
{
    return qf_add2(acc, s, (const float[]){ f, f });
}

static inline qf
qf_from(qs s)
{
    return (qf){ { __builtin_convertvector(s.half[0], vf),
                   __builtin_convertvector(s.half[1], vf) } };
}

static inline float
qf_sum(qf acc)
{
    const vf s = acc.half[0] + acc.half[1];

    return (s[0] + s[2]) + (s[1] + s[3]);
}

/* In the order of qf_sum. */
static inline vf
qf_sum_rows(const vf *v)
{
    return vf_add(vf_add(vf_add(v[0], v[4]), vf_add(v[2], v[6])),
                  vf_add(vf_add(v[1], v[5]), vf_add(v[3], v[7])));
}

#endif
