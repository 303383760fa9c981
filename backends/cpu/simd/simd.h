/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/simd.h - words for vectors of floats.
 *
 * A word is a function that each instruction set has under the same name and
 * that gives the same result there; most are one instruction.  Kernels are
 * written in words, once, and compiled for each CPU variant.  The compiler's
 * command line says which header below the words come from:
 *
 *   GB_SIMD_…   header      VF_LEN  vector registers
 *   GENERIC     generic.h      4    what the compiler finds
 *   AVX2        avx2.h         8    16 of 256 bits
 *   AVX512      avx512.h      16    32 of 512 bits
 *   NEON        neon.h         4    32 of 128 bits
 *
 * A vf is VF_LEN floats, one in each lane; lane 0 is the one at the lowest
 * address.  A vm is a mask: a truth value for each lane.  Words act on each
 * lane by itself but where something else is said.  Addresses need no
 * alignment.
 *
 * loading and storing
 *   vf_zero() vf_set1(x)
 *                     0, or x, in all lanes
 *   vf_load(p) vf_store(p, v)
 *                     VF_LEN floats
 *   vf_load_n(p, n) vf_store_n(p, v, n)
 *                     n of them, 0 to VF_LEN, in the lanes from 0 on; the other
 *                     lanes are 0, and no byte behind the n is touched: these
 *                     do the tail of a row
 *   vf_load_f16 vf_load_bf16 vf_store_f16 vf_store_bf16, and …_n
 *                     the same from and to 16-bit floats; a store rounds to the
 *                     nearest, ties to even, and a NaN stays one
 *   vf_from_i32(p)    VF_LEN integers
 *   vf_from_i8(p)     VF_LEN signed bytes
 *   vf_from_nibbles(p, is_high)
 *                     the upper or lower four bits, 0 to 15, of VF_LEN bytes
 * arithmetic
 *   vf_add sub mul div neg abs sqrt copysign(magnitude, sign)
 *   vf_fma(a, b, c)   a * b + c, rounded once where the processor can do that
 *   vf_fnma(a, b, c)  c - a * b, likewise
 *   vf_min vf_max     b when either of (a, b) is NaN
 *   vf_floor          down to an integer
 *   vf_round          to the nearest integer, ties to even
 *   vf_ldexp(v, n)    v * 2^n for integers n of -252 to 252; where v is in
 *                     [1/4, 4), for all, and a subnormal result is rounded
 *                     once
 *   vf_exponent(v)    floor(log2 v) of a normal v > 0
 *   vf_mantissa(v)    v / 2^exponent, from 1 up to 2, of a normal v > 0
 * across lanes
 *   vf_swap_pairs(v)  lanes 0 and 1 exchanged, 2 and 3, and so on
 *   vf_sum(v) vf_hmax(v)
 *                     the sum, the maximum; each header has a fixed order
 *   vf_sum4(p, a, b, c, d)
 *                     four sums to p[0] to p[3]
 * masks
 *   vf_lt le gt eq    compare; false where a NaN takes part
 *   vm_and or not     of masks
 *   vm_any(m)         is it true in any lane?
 *   vf_select(m, yes, no)
 *                     YES where M is true, else NO
 */
#ifndef GB_CPU_SIMD_SIMD_H
#define GB_CPU_SIMD_SIMD_H

#if defined(GB_SIMD_AVX512)
#include "backends/cpu/simd/avx512.h"
#elif defined(GB_SIMD_AVX2)
#include "backends/cpu/simd/avx2.h"
#elif defined(GB_SIMD_NEON)
#include "backends/cpu/simd/neon.h"
#elif defined(GB_SIMD_GENERIC)
#include "backends/cpu/simd/generic.h"
#else
#error "compile with -DGB_SIMD_GENERIC, _AVX2, _AVX512 or _NEON"
#endif

#endif
