/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64.h - words of int8 dot products along a row, 64 bytes at a time.
 *
 * The words of q32.h for twice as many elements: one register of AVX-512, two
 * q32 elsewhere.  Codes, wide codes and activations are those of q32.h.
 *
 * types
 *   q64   64 bytes
 *   q64s  sixteen sums of 32 bits; sum i is for bytes 4 i to 4 i + 3
 *   q64f  sixteen floats, one for each sum
 *   q64t  a table of sixteen factors, the scales of a super-block
 *   q64t8 a table of products of such factors with -4 to 3 (Q3_K)
 *
 * loading and storing
 *   q64_load(p) q64_store(p, v)
 *   q64_load2(p, p2)         thirty-two bytes from each
 *   q64_load4(p0, p1, p2, p3)
 *                            sixteen bytes from each
 *   q64_load_once(p)         as q64_load, for many uses that shall not load
 *                            again
 *   q64_broadcast16(p)       the sixteen bytes at P four times
 *   q64_words(p)             a gather: four bytes from each of p[0] to p[15]
 *   q64_eights(p)            eight bytes from each of p[0] to p[7]
 *   q64_join(low, high)      two q32
 *   q64_low(v)               bytes 0 to 31, as a q32
 *   q64_set1(x)
 * unpacking
 *   q64_bits(v, n, mask)     (v >> n) & mask in each byte; n and the bits of
 *                            mask are 8 together at most
 *   q64_bits2(v, n, n2, mask)
 *                            the same, by N in bytes 0 to 31 and N2 in the
 *                            others
 *   q64_shift_left(v, n)     v << n in each byte, no bit leaving it
 *   q64_or q64_xor q64_add
 *   q64_or_where(v, bits, x) v | x in byte i when bit i of 64 is set
 *   q64_negate_where(v, bits)
 *                            -v in byte i when bit i of 64 is set, else v: the
 *                            sign mask of a codebook entry
 *   q64_lookup(p, v)         byte v of a table of sixteen at P, v < 16
 *   q64_pick16(v, p)         in each sixteen bytes of V byte p[i], or 0 where
 *                            that is above 127
 *   q64_times(v, p)          16-bit words of V times the 32 at P
 *   q64_transpose(v)         of four, as q32_transpose
 * integer sums
 *   q64s_zero() q64s_load(p)
 *   q64s_dot(s, u, a)        s + dot4 of codes and activations
 *   q64s_dot_wide(s, w, a)   the same of wide codes
 *   q64s_dot_words(s, a, b, w)
 *                            in each four sums s + the two of A, then the two
 *                            of B, that pairs of neighbours make when they,
 *                            below 2^15, are multiplied with the eight words of
 *                            W
 *   q64s_add_256(s, t)       s + 256 * t
 * floats
 *   q64t_set(low, high)      of two qf
 *   q64t_low(low)            of one; the other eight are anything
 *   q64t_pick(t, from)       as a q64f: lane i is factor from[i]
 *   q64f_zero() q64f_set1(x) q64f_load(p) q64f_store(p, v)
 *   q64f_two_halves(p, a, b) the F16 at P in all lanes of the q64f at A, the
 *                            one behind it in all of the qf at B: scale and min
 *                            of a super-block
 *   q64f_from(s)             integers as floats
 *   q64f_mul(a, b)
 *   q64f_fma(a, b, c)        a * b + c
 *   q64f_add2(acc, s, t, a, b)
 *                            acc + s * factor a in lanes 0 to 7, factor b in
 *                            the others
 *   q64f_add4(acc, s, t, a, b)
 *                            the same by four lanes, with a, a + 1, b and b + 1
 *   q64f_sum(acc, acc2, acc3)
 *                            over the lanes of two q64f and a qf
 *   q64f_sum_rows(acc, acc2, acc3)
 *                            the same for VF_LEN of them, lane by lane: lane i
 *                            of each is in acc[i], a vf
 *   q_eight_halves(p, pitch) eight F16, PITCH bytes apart, PITCH <= 34, as a
 *                            qf; 8 * PITCH - 2 bytes from P on may be read
 *
 * only where wide codes are biased
 *   q64_load_fours(p, n)     N times four bytes, N from 9 to 16, then zeros
 *   q64_multiples8(s)        a q64t8 of factors, each plus 32
 *   q64_multiple8(t, i, v, third)
 *                            as wide codes, minus factor i of T times v - 4 in
 *                            each byte, or times v where THIRD has bit i set
 *   q64s_of_16(a, b, from)   byte from[i] of A's and then B's, the lowest ones
 *                            in front
 *   q64_of_8(x, from)        byte from[i] of a uint64_t, or 0 where from[i] is
 *                            128
 *   q64s_dot_times(s, u, a, t)
 *                            s + the products of codes below 64 and
 *                            activations, those of each two times one of 32
 *                            factors of 16 bits
 *   q64s_pick(s, from)       of a qs: sum i is sum from[i]
 *   q64s_add(s, t) q64s_sub(s, t) q64s_mul(s, t)
 *
 * MR x NR of the skinny GEMM is Q64_ROWS rows by Q64_COLS columns: as many sums
 * as leave registers for the operands.  It is faster than GEMV for each column
 * from more than Q64_GEMV_COLS on, and than the GEMM, which packs weights in
 * panels, up to Q64_SKINNY_COLS.
 */
#ifndef GB_CPU_SIMD_Q64_H
#define GB_CPU_SIMD_Q64_H

#include "backends/cpu/simd/q32.h"

/* A capability: 1 where one instruction looks up 64 bytes in a table of 128
 * (VPERMI2B), and the words of q64-vbmi.h are there. */
#ifdef __AVX512VBMI__
#define Q_HAS_TABLE_128 1
#else
#define Q_HAS_TABLE_128 0
#endif

#if defined(GB_SIMD_AVX512)
#include "backends/cpu/simd/q64-avx512.h"
#else
#include "backends/cpu/simd/q64-pairs.h"
#endif

static inline q64
q64_eights(const void *const *p)
{
    return q64_join(q32_eights(p), q32_eights(p + 4));
}

static inline q64
q64_words(const void *const *p)
{
    return q64_join(q32_words(p), q32_words(p + 8));
}

#endif
