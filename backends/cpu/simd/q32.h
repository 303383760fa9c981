/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/q32.h - the vocabulary of small integers in rows.
 *
 * A q32 is thirty-two bytes, which a word takes as signed or not; qs are eight
 * sums in 32-bit integers, the first for bytes 0 to 3 and so on; qf are eight
 * floats, one for each sum.  Weights are CODES, bytes from 0 to 127 that are
 * a type's values plus an offset, or WIDE codes, whose offset is
 * Q_WIDE_BIAS: signed bytes where that is 0, unsigned ones where it is 128.
 * Activations are signed bytes from -127 to 127.
 *
 *   q32_load(p) q32_store(p, v)
 *   q32_load2(p, p2)      sixteen bytes from each
 *   q32_set1(x)
 *   q32_nibbles(p)        of sixteen bytes: the low four bits of each, then the
 *                         high ones
 *   q32_bits(v, n, mask)  (v >> n) & mask in each byte, n + bits of mask <= 8
 *   q32_shift_left(v, n) v << n in each byte, no bit leaving it
 *   q32_or q32_add q32_xor
 *   q32_mask_of_bits(bits)      byte i is 255 when bit i of 32 is set, else 0
 *   q32_where(m, v)       v where the mask byte is 255, 0 where it is 0
 *   q32_negate(m, v)      -v where the mask byte is 255, v where it is 0
 *   q32_lookup(p, v)      byte v of a table of sixteen at p, v < 16
 *   q32_pick16(v, p) q32_times(v, p)
 *                         as for q64
 *   q32_thirds(v)         3 * v >> 8 in each byte
 *   q32_scaled(p, f)      the nearest integers, ties to even, of 32 floats
 *                         times f where that is from -127 to 127; else any
 *   q32_words(p)          eight 32-bit words at p[0] to p[7], as bytes
 *   q32_eights(p)         eight bytes from each of p[0] to p[3]
 *   q32_transpose(v)           four of them: quad i of sixteen bytes of v[j] becomes
 *                         quad j of the same sixteen bytes of v[i]
 *   q_half(p)             the half float at p, exact; p may be odd
 *   q_halves(dst, p, pitch, n)
 *                         n of 1 to 8 half floats, PITCH bytes apart, and zeros
 *                         up to eight; two bytes behind each may be read
 *   q_half_pairs(a, b, p, pitch, n)
 *                         the same for pairs of them, the first ones to a, the
 *                         second ones to b
 *   q_to_half(x)          its nearest half float, ties to even
 *   q_floats_u8(dst, p, f), q_floats_i8(dst, p, f)
 *                         dst[i] = p[i] * f for eight bytes
 *   qs_set_lane0(a) qs_set_lanes04(a, b)
 *                         a in sum 0, b in sum 4 (or none), the rest 0
 *   qs_load(p)            eight int32_t
 *   qs_dot(s, u, a)       s + the products of codes and activations
 *   qs_dot_wide(s, w, a)  the same for wide codes
 *   qs_dot_words(s, a, b, w)
 *                         as for q64
 *   qs_add_256(s, t)      s + 256 * t
 *   qs_store(p, s)        as eight int32_t
 *   qs_store_sums4(p, s)  of four: the sums of the first and last four lanes
 *                         of s[i] to p[i] and p[4 + i]
 *   vf_store_max4(p, v) vf_store_sums4(p, v)
 *                         of four: over the lanes of v[i], to p[i]
 *   q32_multiples8(s) q32_multiple8(t, i, v, third) qs_of_16(a, b, from)
 *   q32_of_8(x, from) qs_dot_times(s, u, a, t) qs_pick(s, from)
 *   qs_add(s, t) qs_sub(s, t) qs_mul(s, t)
 *                         as for q64 (with a q32t8), where wide codes are
 *                         unsigned
 *   qs_set1(x)            there too
 *   qs_fields(w, at, mask)
 *                         w >> at[i] & mask, for a uint32_t, there too
 *   qf_zero() qf_set1(x)
 *   qf_load(p) qf_store(p, v)
 *   qf_mul(a, b)
 *   qf_fma(a, b, c)       a * b + c
 *   qf_add(acc, s, f)     acc + f * s, f being one float
 *   qf_add2(acc, s, p)    the same with p[0] for the first four lanes and p[1]
 *                         for the others in the place of f
 *   qf_from(s)            as floats
 *   qf_sum(acc)           over the lanes
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

/* Where a load may follow shorter stores to its place at once. */
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
