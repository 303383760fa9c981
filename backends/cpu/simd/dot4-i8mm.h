/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4-i8mm.h - two columns at a time, by arm64's int8 matrix
 * products.
 *
 * SMMLA multiplies two rows of eight codes by two columns of eight activations:
 * 32 products in one instruction, where SDOT has 16.  Its result is a 2 x 2
 * tile of sums, row by row:
 *
 *   first operand   row 0: 8 codes    | row 1: 8 codes
 *   second operand  column 0: 8 bytes | column 1: 8 bytes
 *   sums            r0c0  r0c1        | r1c0  r1c1
 *
 * So weights are packed by pairs of rows: eight codes each of rows 0 and 1, of
 * rows 2 and 3, then the next eight of each.
 *
 * Source  Arm Architecture Reference Manual for A-profile, SMMLA (vector).
 */
#ifndef GB_CPU_SIMD_DOT4_I8MM_H
#define GB_CPU_SIMD_DOT4_I8MM_H

typedef struct {
    int8x16_t first[2]; /* eight codes of rows 0 and 1, of rows 2 and 3 */
    int8x16_t last[2];
} vq4;

typedef struct {
    int8x16_t first; /* eight activations of each column */
    int8x16_t last;
} va2;

typedef struct {
    vi rows[2]; /* 0 and 1, 2 and 3 */
} vi2;

/* 64 bits of two rows interleaved: the first eight codes of both (TRN1), then
 * the last eight of both (TRN2), 32 bytes further on. */
static inline void
vq4_transpose(void *dst, const void *src, int64_t pitch)
{
    const uint8_t *from = src;
    uint8_t *to = dst;

    for (int i = 0; i < 4; i += 2) {
        const uint64x2_t row = vreinterpretq_u64_u8(vq_load(from + i * pitch));
        const uint64x2_t next =
            vreinterpretq_u64_u8(vq_load(from + (i + 1) * pitch));

        vst1q_u8(to + 8 * i, vreinterpretq_u8_u64(vtrn1q_u64(row, next)));
        vst1q_u8(to + 32 + 8 * i, vreinterpretq_u8_u64(vtrn2q_u64(row, next)));
    }
}

static inline vq4
vq4_load(const void *p)
{
    const int8_t *from = p;

    return (vq4){ { vld1q_s8(from), vld1q_s8(from + 16) },
                  { vld1q_s8(from + 32), vld1q_s8(from + 48) } };
}

/* The columns interleaved by 64 bits, as the rows are. */
static inline va2
va2_load(const void *p, const void *p2)
{
    const int64x2_t a = vreinterpretq_s64_s8(vld1q_s8(p));
    const int64x2_t a2 = vreinterpretq_s64_s8(vld1q_s8(p2));

    return (va2){ vreinterpretq_s8_s64(vtrn1q_s64(a, a2)),
                  vreinterpretq_s8_s64(vtrn2q_s64(a, a2)) };
}

/* Sums by rows from sums by columns. */
static inline vi2
vi2_join(vi s, vi s2)
{
    return (vi2){ { vzip1q_s32(s, s2), vzip2q_s32(s, s2) } };
}

/* The even lanes are column 0, the odd ones column 1. */
static inline vi
vi2_sums(vi2 t, int i)
{
    return i == 0 ? vuzp1q_s32(t.rows[0], t.rows[1])
                  : vuzp2q_s32(t.rows[0], t.rows[1]);
}

static inline vi2
vi2_dot_wide(vi2 t, vq4 w, va2 a)
{
    for (int i = 0; i < 2; i++)
        t.rows[i] = vmmlaq_s32(
            vmmlaq_s32(t.rows[i], w.first[i], a.first), w.last[i], a.last);
    return t;
}

static inline vi2
vi2_dot(vi2 t, vq4 u, va2 a)
{
    return vi2_dot_wide(t, u, a);
}

#endif
