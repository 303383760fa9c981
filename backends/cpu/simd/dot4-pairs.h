/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-pairs.h - two columns at a time where that gains nothing.
 *
 * Made of the words for one column, so that a kernel need not ask; what
 * VQ_TILES says decides which words it uses.
 */
#ifndef GB_CPU_SIMD_DOT4_PAIRS_H
#define GB_CPU_SIMD_DOT4_PAIRS_H

/* Sixteen weights of each row, as four successive operands. */
typedef struct {
    vq operand[4];
} vq4;

/* Activations stay in memory, where vq_broadcast reads them. */
typedef struct {
    const char *column[2];
} va2;

typedef struct {
    vi sum[2];
} vi2;

static inline void
vq4_transpose(void *dst, const void *src, int64_t pitch)
{
    vq_transpose(dst, src, pitch);
}

static inline vq4
vq4_load(const void *p)
{
    vq4 v;

    for (int q = 0; q < 4; q++)
        v.operand[q] = vq_load((const char *)p + 4 * VF_LEN * q);
    return v;
}

static inline va2
va2_load(const void *p, const void *p2)
{
    return (va2){ { p, p2 } };
}

static inline vi2
vi2_join(vi s, vi s2)
{
    return (vi2){ { s, s2 } };
}

static inline vi
vi2_sums(vi2 t, int i)
{
    return t.sum[i];
}

static inline vi2
vi2_dot(vi2 t, vq4 u, va2 a)
{
    for (int c = 0; c < 2; c++)
        for (int q = 0; q < 4; q++)
            t.sum[c] = vi_dot(
                t.sum[c], u.operand[q], vq_broadcast(a.column[c] + 4 * q));
    return t;
}

static inline vi2
vi2_dot_wide(vi2 t, vq4 w, va2 a)
{
    for (int c = 0; c < 2; c++)
        for (int q = 0; q < 4; q++)
            t.sum[c] = vi_dot_wide(
                t.sum[c], w.operand[q], vq_broadcast(a.column[c] + 4 * q));
    return t;
}

#endif
