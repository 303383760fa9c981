/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64-pairs.h - dot products along a row, 64 bytes as two q32.
 *
 * For instruction sets without registers of 64 bytes.  Each word is that of
 * q32.h for both halves; a table of factors is an array, since a lane's factor
 * is most often the same for four of them and loaded into all.
 *
 * MR x NR of the skinny GEMM is 2 x 1: sums take two registers each.
 */
#ifndef GB_CPU_SIMD_Q64_PAIRS_H
#define GB_CPU_SIMD_Q64_PAIRS_H

#include <stdint.h>

/* AVX2 has half of the registers, and a tile of 2 x 1 loads three operands for
 * two dot4: GEMV for each column is faster for two of them, and from three on
 * the panels' tile, which shares its operands. */
#ifdef GB_SIMD_AVX2
#define Q64_GEMV_COLS   2
#define Q64_SKINNY_COLS 2
#else
#define Q64_GEMV_COLS   1
#define Q64_SKINNY_COLS 16
#endif

#define Q64_ROWS 2
#define Q64_COLS 1

/* Bytes 0 to 31 and 32 to 63, and what belongs to either. */
typedef struct {
    q32 half[2];
} q64;

typedef struct {
    qs half[2];
} q64s;

typedef struct {
    qf half[2];
} q64f;

/* A table that is read by constant indices: memory, not registers. */
typedef struct {
    float f[16];
} q64t;

/* Loading and storing. */

static inline q64
q64_join(q32 low, q32 high)
{
    return (q64){ { low, high } };
}

static inline q64
q64_load(const void *p)
{
    return q64_join(q32_load(p), q32_load((const char *)p + 32));
}

static inline q64
q64_load_once(const void *p)
{
    return q64_load(p);
}

#if Q_WIDE_BIAS == 128

/* N is above 8: the lower half is whole, and missing words are read from a
 * zero. */
static inline q64
q64_load_fours(const void *p, int n)
{
    static const uint32_t zero = 0;
    const uint8_t *high = (const uint8_t *)p + 32;
    const void *fours[8];

    for (int i = 0; i < 8; i++)
        fours[i] = i < n - 8 ? (const void *)(high + 4 * i) : &zero;
    return q64_join(q32_load(p), q32_words(fours));
}

#endif

static inline void
q64_store(void *p, q64 v)
{
    q32_store(p, v.half[0]);
    q32_store((char *)p + 32, v.half[1]);
}

static inline q64
q64_load2(const void *p, const void *p2)
{
    return q64_join(q32_load(p), q32_load(p2));
}

static inline q64
q64_load4(const void *p0, const void *p1, const void *p2, const void *p3)
{
    return q64_join(q32_load2(p0, p1), q32_load2(p2, p3));
}

/* Unpacking. */

static inline q64
q64_bits2(q64 v, int n, int n2, int mask)
{
    return q64_join(
        q32_bits(v.half[0], n, mask), q32_bits(v.half[1], n2, mask));
}

static inline q64
q64_bits(q64 v, int n, int mask)
{
    return q64_bits2(v, n, n, mask);
}

static inline q64
q64_shift_left(q64 v, int n)
{
    return q64_join(
        q32_shift_left(v.half[0], n), q32_shift_left(v.half[1], n));
}

static inline q64
q64_or(q64 a, q64 b)
{
    return q64_join(
        q32_or(a.half[0], b.half[0]), q32_or(a.half[1], b.half[1]));
}

static inline q64
q64_xor(q64 a, q64 b)
{
    return q64_join(
        q32_xor(a.half[0], b.half[0]), q32_xor(a.half[1], b.half[1]));
}

static inline q64
q64_set1(int x)
{
    return q64_join(q32_set1(x), q32_set1(x));
}

static inline q64
q64_add(q64 a, q64 b)
{
    return q64_join(
        q32_add(a.half[0], b.half[0]), q32_add(a.half[1], b.half[1]));
}

/* The sign mask as bytes of 255 and 0, by which negation is an exclusive or and
 * a subtraction. */
static inline q64
q64_negate_where(q64 v, uint64_t bits)
{
    return q64_join(
        q32_negate(q32_mask_of_bits((uint32_t)bits), v.half[0]),
        q32_negate(q32_mask_of_bits((uint32_t)(bits >> 32)), v.half[1]));
}

/* The mask as bytes of 255 and 0, and X where it is 255. */
static inline q64
q64_or_where(q64 v, uint64_t bits, int x)
{
    const q32 low = q32_where(q32_mask_of_bits((uint32_t)bits), q32_set1(x));
    const q32 high = q32_where(
        q32_mask_of_bits((uint32_t)(bits >> 32)), q32_set1(x));

    return q64_or(v, q64_join(low, high));
}

static inline q64
q64_lookup(const void *p, q64 v)
{
    return q64_join(q32_lookup(p, v.half[0]), q32_lookup(p, v.half[1]));
}

static inline q32
q64_low(q64 v)
{
    return v.half[0];
}

static inline q64
q64_broadcast16(const void *p)
{
    return q64_join(q32_load2(p, p), q32_load2(p, p));
}

static inline q64
q64_pick16(q64 v, const uint8_t *p)
{
    return q64_join(q32_pick16(v.half[0], p), q32_pick16(v.half[1], p + 32));
}

static inline q64
q64_times(q64 v, const int16_t *p)
{
    return q64_join(q32_times(v.half[0], p), q32_times(v.half[1], p + 16));
}

static inline void
q64_transpose(q64 *v)
{
    for (int h = 0; h < 2; h++) {
        q32 four[4] = { v[0].half[h], v[1].half[h], v[2].half[h],
                         v[3].half[h] };

        q32_transpose(four);
        for (int i = 0; i < 4; i++)
            v[i].half[h] = four[i];
    }
}

/* Integer sums. */

static inline q64s
q64s_zero(void)
{
    return (q64s){ { qs_set_lane0(0), qs_set_lane0(0) } };
}

static inline q64s
q64s_load(const int32_t *p)
{
    return (q64s){ { qs_load(p), qs_load(p + 8) } };
}

static inline q64s
q64s_dot(q64s s, q64 u, q64 a)
{
    return (q64s){ { qs_dot(s.half[0], u.half[0], a.half[0]),
                     qs_dot(s.half[1], u.half[1], a.half[1]) } };
}

static inline q64s
q64s_dot_wide(q64s s, q64 w, q64 a)
{
    return (q64s){ { qs_dot_wide(s.half[0], w.half[0], a.half[0]),
                     qs_dot_wide(s.half[1], w.half[1], a.half[1]) } };
}

/* The words for processors with VPDPBUSD. */
#if Q_WIDE_BIAS == 128

static inline q64s
q64s_of_16(uint64_t a, uint64_t b, const uint8_t *from)
{
    return (q64s){ { qs_of_16(a, b, from), qs_of_16(a, b, from + 8) } };
}

static inline q64
q64_of_8(uint64_t x, const uint8_t *from)
{
    return q64_join(q32_of_8(x, from), q32_of_8(x, from + 32));
}

static inline q64s
q64s_dot_times(q64s s, q64 u, q64 a, q64 t)
{
    return (q64s){ {
        qs_dot_times(s.half[0], u.half[0], a.half[0], t.half[0]),
        qs_dot_times(s.half[1], u.half[1], a.half[1], t.half[1]) } };
}

static inline q64s
q64s_pick(qs s, const int32_t *from)
{
    return (q64s){ { qs_pick(s, from), qs_pick(s, from + 8) } };
}

static inline q64s
q64s_mul(q64s s, q64s t)
{
    return (q64s){ { qs_mul(s.half[0], t.half[0]),
                     qs_mul(s.half[1], t.half[1]) } };
}

typedef struct {
    q32t8 half[2];
} q64t8;

static inline q64t8
q64_multiples8(q64s s)
{
    return (q64t8){ { q32_multiples8(s.half[0]), q32_multiples8(s.half[1]) } };
}

static inline q64
q64_multiple8(q64t8 t, int i, q64 v, q64 third)
{
    return q64_join(
        q32_multiple8(t.half[0], i, v.half[0], third.half[0]),
        q32_multiple8(t.half[1], i, v.half[1], third.half[1]));
}

static inline q64s
q64s_add(q64s s, q64s t)
{
    return (q64s){ { qs_add(s.half[0], t.half[0]),
                     qs_add(s.half[1], t.half[1]) } };
}

static inline q64s
q64s_sub(q64s s, q64s t)
{
    return (q64s){ { qs_sub(s.half[0], t.half[0]),
                     qs_sub(s.half[1], t.half[1]) } };
}

#endif

static inline q64s
q64s_dot_words(q64s s, q64s a, q64s b, q64 w)
{
    return (q64s){
        { qs_dot_words(s.half[0], a.half[0], b.half[0], w.half[0]),
          qs_dot_words(s.half[1], a.half[1], b.half[1], w.half[1]) }
    };
}

static inline q64s
q64s_add_256(q64s s, q64s t)
{
    return (q64s){ { qs_add_256(s.half[0], t.half[0]),
                     qs_add_256(s.half[1], t.half[1]) } };
}

/* Floats. */

static inline q64t
q64t_low(qf low)
{
    q64t t;

    qf_store(t.f, low);
    qf_store(t.f + 8, low);
    return t;
}

static inline q64t
q64t_set(qf low, qf high)
{
    q64t t;

    qf_store(t.f, low);
    qf_store(t.f + 8, high);
    return t;
}

static inline q64f
q64f_zero(void)
{
    return (q64f){ { qf_zero(), qf_zero() } };
}

static inline q64f
q64f_set1(float x)
{
    return (q64f){ { qf_set1(x), qf_set1(x) } };
}

static inline void
q64f_two_halves(const void *p, q64f *a, qf *b)
{
    *a = q64f_set1(q_half(p));
    *b = qf_set1(q_half((const char *)p + 2));
}

static inline q64f
q64f_load(const float *p)
{
    return (q64f){ { qf_load(p), qf_load(p + 8) } };
}

static inline void
q64f_store(float *p, q64f v)
{
    qf_store(p, v.half[0]);
    qf_store(p + 8, v.half[1]);
}

static inline q64f
q64t_pick(q64t t, const int32_t *from)
{
    float f[16];

    for (int i = 0; i < 16; i++)
        f[i] = t.f[from[i]];
    return q64f_load(f);
}

static inline q64f
q64f_from(q64s s)
{
    return (q64f){ { qf_from(s.half[0]), qf_from(s.half[1]) } };
}

static inline q64f
q64f_mul(q64f a, q64f b)
{
    return (q64f){ { qf_mul(a.half[0], b.half[0]),
                     qf_mul(a.half[1], b.half[1]) } };
}

static inline q64f
q64f_fma(q64f a, q64f b, q64f c)
{
    return (q64f){ { qf_fma(a.half[0], b.half[0], c.half[0]),
                     qf_fma(a.half[1], b.half[1], c.half[1]) } };
}

/* A factor for each half: one broadcast each. */
static inline q64f
q64f_add2(q64f acc, q64s s, q64t t, int a, int b)
{
    return (q64f){ { qf_add(acc.half[0], s.half[0], t.f[a]),
                     qf_add(acc.half[1], s.half[1], t.f[b]) } };
}

/* Two neighbouring factors for each half. */
static inline q64f
q64f_add4(q64f acc, q64s s, q64t t, int a, int b)
{
    return (q64f){ { qf_add2(acc.half[0], s.half[0], t.f + a),
                     qf_add2(acc.half[1], s.half[1], t.f + b) } };
}

/* One accumulator after the other: this order is part of the result. */
static inline float
q64f_sum(q64f acc, q64f acc2, qf acc3)
{
    return ((qf_sum(acc.half[0]) + qf_sum(acc.half[1])) +
            (qf_sum(acc2.half[0]) + qf_sum(acc2.half[1]))) +
           qf_sum(acc3);
}

/* In the order of q64f_sum. */
static inline vf
q64f_sum_rows(const vf *acc, const vf *acc2, const vf *acc3)
{
    return vf_add(
        vf_add(vf_add(qf_sum_rows(acc), qf_sum_rows(acc + 8)),
               vf_add(qf_sum_rows(acc2), qf_sum_rows(acc2 + 8))),
        qf_sum_rows(acc3));
}

/* One after the other. */
static inline qf
q_eight_halves(const void *p, size_t pitch)
{
    float f[8];

    for (size_t i = 0; i < 8; i++)
        f[i] = q_half((const char *)p + i * pitch);
    return qf_load(f);
}

#endif
