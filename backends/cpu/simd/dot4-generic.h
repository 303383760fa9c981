/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-generic.h - int8 micro-kernel words in the compiler's vector
 * type, four rows a vector.
 *
 * The reference for the other headers.  A sum of 16 bits would gain nothing
 * here, so that a vh is a vi.
 */
#ifndef GB_CPU_SIMD_DOT4_GENERIC_H
#define GB_CPU_SIMD_DOT4_GENERIC_H

#define VQ_ROWS   1
#define VQ_COLS   4
#define VF_ROWS   2
#define VF_PAIRS  0
#define VF_COLS   4
#define VQ_TRANSPOSES_HALVES 0
#define VQ_HALVES 0
#define VQ_TILES  0

typedef q_u32x4 vq;
typedef q_i32x4 vi;
typedef q_i32x4 vh; /* there are no sums of 16 bits here */

static inline vq
vq_load(const void *p)
{
    vq v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static inline void
vq_store(void *p, vq v)
{
    memcpy(p, &v, sizeof(v));
}

/* Bits move within bytes, so the order of these means nothing. */
static inline vq
vq_low_nibbles(vq v)
{
    return v & 0x0f0f0f0f;
}

static inline vq
vq_high_nibbles(vq v)
{
    return v >> 4 & 0x0f0f0f0f;
}

static inline vq
vq_lookup(const void *p, vq v)
{
    const uint8_t *table = p;
    uint8_t bytes[sizeof(v)];

    memcpy(bytes, &v, sizeof(v));
    for (size_t i = 0; i < sizeof(v); i++)
        bytes[i] = table[bytes[i]];
    return vq_load(bytes);
}

static inline vq
vq_or_fifth(vq u, vq w, int j)
{
    uint8_t bytes[sizeof(u)];
    uint8_t words[sizeof(w)];

    memcpy(bytes, &u, sizeof(u));
    memcpy(words, &w, sizeof(w));
    for (size_t i = 0; i < sizeof(u); i++)
        bytes[i] |= (words[i / 4 * 4 + (size_t)j / 2] >>
                     (4 * (j % 2) + (int)(i % 4)) & 1) << 4;
    return vq_load(bytes);
}

static inline vq
vq_flip(vq v)
{
    return v ^ Q_WIDE_BIAS * UINT32_C(0x01010101);
}

static inline vq
vq_broadcast(const void *p)
{
    uint32_t operand;

    memcpy(&operand, p, sizeof(operand));
    return (vq){ operand, operand, operand, operand };
}

/* Operand by operand. */
static inline void
vq_transpose(void *dst, const void *src, int64_t pitch)
{
    const char *from = src;
    char *to = dst;

    for (int i = 0; i < VF_LEN; i++)
        for (int j = 0; j < VF_LEN; j++)
            memcpy(to + 4 * (VF_LEN * j + i), from + i * pitch + 4 * j, 4);
}

static inline vi
vi_set1(int32_t x)
{
    return (vi){ x, x, x, x };
}

static inline vi
vi_dot_wide(vi s, vq w, vq a)
{
    return q_dot_words(s, w, a);
}

/* Codes are below 128, so that they may be taken as signed. */
static inline vi
vi_dot(vi s, vq u, vq a)
{
    return vi_dot_wide(s, u, a);
}

static inline vh
vh_dot(vq u, vq a)
{
    return vi_dot_wide(vi_set1(0), u, a);
}

static inline vh
vh_dot_more(vh h, vq u, vq a)
{
    return vi_dot_wide(h, u, a);
}

static inline vi
vi_add_pairs(vi s, vh h)
{
    return s + h;
}

static inline vi
vi_add_256(vi s, vi t)
{
    return s + t * 256;
}

static inline vf
vf_from_vi(vi s)
{
    return __builtin_convertvector(s, vf);
}

/* The conversion is undefined for NaN and for what an int8_t does not hold, so
 * that both are limited first; NaN becomes -127. */
static inline void
vf_store_i8_trunc(int8_t *p, vf v)
{
    v = vf_min(vf_max(v, vf_set1(-127.0f)), vf_set1(127.0f));
    for (int i = 0; i < VF_LEN; i++)
        p[i] = (int8_t)v[i];
}

static inline void
vf_store_i8(int8_t *p, vf v)
{
    vf_store_i8_trunc(p, vf_round(v));
}

#endif
