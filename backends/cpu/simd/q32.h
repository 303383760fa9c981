/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32.h - words of int8 dot products along a row, 32 bytes at a time.
 *
 * GEMV and the quantisers work along rows: a vector holds successive elements
 * of one row, which are multiplied with the same elements of a column.
 *
 * types
 *   q32   32 bytes, signed or not as a word takes them
 *   qs    eight sums of 32 bits; sum i is for bytes 4 i to 4 i + 3
 *   qf    eight floats, one for each sum
 *
 * operands
 *   u     codes, 0 to 127: a type's values plus its bias
 *   w     wide codes, all eight bits: signed bytes where Q_WIDE_BIAS is 0,
 *         unsigned ones with that bias where it is 128, as VPDPBUSD wants them
 *   a     activations, signed bytes from -127 to 127
 *
 * loading and storing
 *   q32_load(p) q32_store(p, v)
 *   q32_load2(p, p2)      sixteen bytes from each
 *   q32_words(p)          a gather: four bytes from each of p[0] to p[7]
 *   q32_eights(p)         eight bytes from each of p[0] to p[3]
 *   q32_set1(x)
 * unpacking
 *   q32_nibbles(p)        of sixteen bytes: the low four bits of each, then the
 *                         high four of each
 *   q32_bits(v, n, mask)  (v >> n) & mask in each byte; n and the bits of mask
 *                         are 8 together at most
 *   q32_shift_left(v, n)  v << n in each byte, no bit leaving it
 *   q32_or q32_add q32_xor
 *   q32_mask_of_bits(bits)
 *                         byte i is 255 when bit i of 32 is set, else 0
 *   q32_where(m, v)       v where the byte of M is 255, 0 where it is 0
 *   q32_negate(m, v)      -v where the byte of M is 255, v where it is 0
 *   q32_lookup(p, v)      byte v of a table of sixteen at P, v < 16
 *   q32_pick16(v, p)      as q64_pick16
 *   q32_times(v, p)       as q64_times
 *   q32_thirds(v)         3 * v >> 8 in each byte: the next digit, to the base
 *                         of three, of the fraction v / 256
 *   q32_transpose(v)      of four: operand i of sixteen bytes of v[j] becomes
 *                         operand j of the same sixteen bytes of v[i]
 *   q32_scaled(p, f)      quantises: the nearest integers, ties to even, of 32
 *                         floats times F, from -127 to 127; of others any
 * scales
 *   q_half(p)             the F16 at P, exact; P may be odd; all F16 here are
 *                         those of blocks, so little-endian
 *   q_halves(dst, p, pitch, n)
 *                         N of 1 to 8 F16, PITCH bytes apart, and zeros up to
 *                         eight; two bytes behind each may be read
 *   q_half_pairs(a, b, p, pitch, n)
 *                         the same of pairs, the two to A and to B
 *   q_to_half(x)          the nearest F16, ties to even
 *   q_floats_u8(dst, p, f), q_floats_i8(dst, p, f)
 *                         dst[i] = p[i] * f of eight bytes
 * integer sums
 *   qs_set_lane0(a) qs_set_lanes04(a, b)
 *                         a in sum 0, b in sum 4, the others 0
 *   qs_set1(x)            only where wide codes are biased
 *   qs_load(p) qs_store(p, s)
 *                         eight int32_t
 *   qs_dot(s, u, a)       s + dot4 of codes and activations
 *   qs_dot_wide(s, w, a)  the same of wide codes
 *   qs_dot_words(s, a, b, w)
 *                         as q64s_dot_words
 *   qs_add_256(s, t)      s + 256 * t
 *   qs_store_sums4(p, s)  of four: the sum of lanes 0 to 3 of s[i] to p[i],
 *                         that of lanes 4 to 7 to p[4 + i]
 *   qs_fields(w, at, mask)
 *                         w >> at[i] & mask of a uint32_t; this and the next
 *                         ones only where wide codes are biased
 *   q32_multiples8(s) q32_multiple8(t, i, v, third) qs_of_16(a, b, from)
 *   q32_of_8(x, from) qs_dot_times(s, u, a, t) qs_pick(s, from)
 *   qs_add(s, t) qs_sub(s, t) qs_mul(s, t)
 *                         as the words of q64.h
 * floats
 *   qf_zero() qf_set1(x) qf_load(p) qf_store(p, v) qf_mul(a, b)
 *   qf_fma(a, b, c)       a * b + c
 *   qf_from(s)            integers as floats
 *   qf_add(acc, s, f)     acc + f * s
 *   qf_add2(acc, s, p)    acc + s * p[0] in lanes 0 to 3, s * p[1] in 4 to 7
 *   qf_sum(acc)           over the lanes
 *   qf_sum_rows(v)        the same for VF_LEN of them, lane by lane: lane i of
 *                         each is in v[i], a vf
 *   vf_store_max4(p, v) vf_store_sums4(p, v)
 *                         of four: over the lanes of v[i], to p[i]
 */
#ifndef GB_CPU_SIMD_Q32_H
#define GB_CPU_SIMD_Q32_H

#include "backends/cpu/simd/simd.h"

#if defined(GB_SIMD_GENERIC)
#include "backends/cpu/simd/q32-generic.h"
#elif defined(GB_SIMD_NEON)
#include "backends/cpu/simd/q32-neon.h"
#else
#include "backends/cpu/simd/q32-avx2.h"
#endif

/* By way of the stack, where a load need not wait for shorter stores to its
 * place. */
#ifndef Q32_EIGHTS
static inline q32
q32_eights(const void *const *p)
{
    uint64_t w[4];

    for (int i = 0; i < 4; i++)
        memcpy(&w[i], p[i], sizeof(w[i]));
    return q32_load(w);
}
#endif

#endif
