/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/simd.h - the vocabulary of float vectors, for one instruction set.
 *
 * Each header below has the same words; which one is meant is said by the
 * compiler's command line.  A vector vf has VF_LEN floats, a mask vm one truth
 * value for each of them.  All loads and stores may be unaligned.
 *
 *   vf_zero() vf_set1(x)
 *   vf_load(p) vf_store(p, v)
 *   vf_load_n(p, n) vf_store_n(p, v, n)
 *                     the first n of 0 to VF_LEN elements; no byte beyond them
 *                     is touched, and the lanes beyond are 0
 *   vf_load_f16 vf_load_bf16 vf_store_f16 vf_store_bf16, and …_n
 *                     the same from and to uint16_t halves; stores round to the
 *                     nearest, ties to even, and a NaN stays one
 *   vf_from_i32(p)    VF_LEN integers
 *   vf_from_i8(p)     VF_LEN signed bytes
 *   vf_from_nibbles(p, is_high)
 *                     the upper or lower nibbles, 0 to 15, of VF_LEN bytes
 *   vf_add sub mul div neg abs sqrt copysign(magnitude, sign)
 *   vf_fma(a, b, c)   a * b + c; rounded once where the machine can do that
 *   vf_fnma(a, b, c)  c - a * b
 *   vf_min vf_max     b when either of (a, b) is NaN
 *   vf_swap_pairs(v)  lanes 0 and 1 change places, 2 and 3, and so on
 *   vf_floor          down to an integer
 *   vf_round          to the nearest integer, ties to even
 *   vf_ldexp(v, n)    v * 2^n for integers n of -252 to 252; where v is in
 *                     [1/4, 4), for all, and a subnormal result is rounded once
 *   vf_exponent(v)    floor(log2 v), and
 *   vf_mantissa(v)    v / 2^exponent in [1, 2), both for normal v > 0
 *   vf_sum(v) vf_hmax(v)   over the lanes, in an order of their own
 *   vf_sum4(p, a, b, c, d) the sums of four vectors, side by side
 *   vf_lt le gt eq -> vm; false where a NaN is compared
 *   vm_and vm_or vm_not vm_any
 *   vf_select(m, yes, no)
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
