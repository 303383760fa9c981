/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q64.h - the vocabulary of small integers in rows, twice as long.
 *
 * A q64 is sixty-four bytes; q64s are sixteen sums in 32-bit integers, the
 * first for bytes 0 to 3 and so on; q64f are sixteen floats, one for each sum;
 * a q64t is a table of sixteen factors.  Codes and activations are those of
 * q32.h.
 *
 *   q64_load(p)
 *   q64_store(p, v)
 *   q64_load2(p, p2)         thirty-two bytes from each
 *   q64_load_once(p)         the same for many uses, which shall not load again
 *   q64_load4(p0, p1, p2, p3)
 *                            sixteen bytes from each
 *   q64_join(low, high)      two q32
 *   q64_bits(v, n, mask)     (v >> n) & mask in each byte, n + mask's bits <= 8
 *   q64_bits2(v, n, n2, mask)
 *                            the same, N for the first thirty-two bytes and N2
 *                            for the others
 *   q64_shift_left(v, n)     v << n in each byte, no bit leaving it
 *   q64_or q64_xor q64_add
 *   q64_set1(x)
 *   q64_or_where(v, bits, x) v | x in byte i when bit i of 64 is set
 *   q64_negate_where(v, bits) -v in byte i when bit i of 64 is set, else v
 *   q64_eights(p)            eight bytes from each of p[0] to p[7]
 *   q64_words(p)             sixteen 32-bit words at p[0] to p[15], as bytes
 *   q64_lookup(p, v)         byte v of a table of sixteen at p, v < 16
 *   q64_low(v)               the first thirty-two bytes, as a q32
 *   q64_broadcast16(p)             the sixteen bytes at P four times
 *   q64_pick16(v, p)         in each sixteen bytes of V byte p[i], or 0 where
 *                            that is above 127
 *   q64_times(v, p)          16-bit words of V times the 32 at P
 *   q64s_zero()
 *   q64s_load(p)
 *   q64s_dot(s, u, a)        s + the products of codes and activations
 *   q64s_dot_wide(s, w, a)   the same for wide codes
 *   q64s_dot_words(s, a, b, w)
 *                            in each four sums s + the two of A, then the two of
 *                            B, that pairs of neighbours make when they, below
 *                            2^15, are multiplied with the eight words of W
 *   q64s_add_256(s, t)       s + 256 * t
 *   q64t_set(low, high)      of two qf
 *   q64t_pick(t, from)       as a q64f: lane i is factor from[i]
 *   q64f_zero() q64f_set1(x)
 *   q64f_load(p) q64f_store(p, v)
 *   q64f_two_halves(p, a, b) the half floats at P and behind it, in all of the
 *                            q64f at A and of the qf at B
 *   q64f_from(s)
 *   q64f_mul(a, b)
 *   q64f_fma(a, b, c)        a * b + c
 *   q64f_add2(acc, s, t, a, b)
 *                            acc + s * factor a for the first eight lanes, and
 *                            factor b for the others
 *   q64f_add4(acc, s, t, a, b)
 *                            the same by four lanes with a, a + 1, b and b + 1
 *   q64f_sum(acc, acc2, side)
 *                            over the lanes of two q64f and a qf
 *   q_eight_halves(p, pitch) eight half floats, PITCH bytes apart, PITCH <= 34,
 *                            as a qf; 8 * PITCH - 2 bytes from P on may be read
 *
 * Where wide codes are unsigned also:
 *
 *   q64_load_fours(p, n)     N times four bytes, N from 9 to 16, then zeros
 *   q64_multiples8(s)        a table (q64t8) of such factors plus 32
 *   q64_multiple8(t, i, v, third)
 *                            as wide codes, minus factor i of T times v - 4 in
 *                            each byte, or times v where THIRD has bit i set
 *   q64s_of_16(a, b, from)   byte from[i] of A's and then B's, the lowest ones
 *                            first
 *   q64_of_8(x, from)        bytes from[i] of a uint64_t, the lowest one first,
 *                            or 0 where from[i] is 128
 *   q64s_dot_times(s, u, a, t)
 *                            s + the products of codes below 64 and
 *                            activations, those of each two times one of 32
 *                            factors of 16 bits
 *   q64s_pick(s, from)       of a qs: sum i is sum from[i]
 *   q64s_add(s, t) q64s_sub(s, t) q64s_mul(s, t)
 *
 * A product with few columns works on Q64_ROWS rows by Q64_COLS columns: as
 * many as the registers hold.
 */
#ifndef GB_CPU_SIMD_Q64_H
#define GB_CPU_SIMD_Q64_H

#include "backends/cpu/simd/q32.h"

/* 1 where one instruction looks up 64 bytes in a table of 128 (VPERMI2B). */
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
