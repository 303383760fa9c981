/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4.h - the vocabulary of small integers in columns.
 *
 * A vq is VF_LEN dot4 operands of bytes: four successive weights of as many rows, or
 * four activations VF_LEN times.  A vi is as many sums in 32-bit integers, a vh
 * twice as many in 16 bits.  Codes, wide codes and activations are those of
 * q32.h.  A vq4 is sixteen weights of each row, a va2 sixteen activations of
 * each of two columns, a vi2 the sums of both, all in an order of their own.
 *
 *   vq_load(p)           4 * VF_LEN bytes
 *   vq_broadcast(p)         four bytes, in every lane
 *   vq_transpose(dst, src, pitch)
 *                        VF_LEN rows of 4 * VF_LEN bytes, PITCH bytes apart:
 *                        quad j of row i to quad i of row j; the rows of dst
 *                        lie one behind the other
 *   vq_transpose_f16(dst, src, pitch), vq_transpose_bf16(dst, src, pitch)
 *                        VF_LEN rows of 2 * VF_LEN half floats: half j of row i
 *                        becomes float i of row j; only where VQ_TRANSPOSES_HALVES
 *                        is 1
 *   vi_set1(x)
 *   vi_dot(s, u, a)      s + the products of codes and activations
 *   vi_dot_wide(s, w, a) the same for wide codes
 *   vi_add_256(s, t)     s + 256 * t
 *   vh_dot(u, a)         products of codes and activations, two to a sum
 *   vh_dot_more(h, u, a) h + the same; 16 bits must hold it
 *   vi_add_pairs(s, h)   s + neighbouring sums of h
 *   vq4_transpose(dst, src, pitch)
 *                        as vq_transpose, to what vq4_load is to be given
 *   vq4_load(p)          16 * VF_LEN bytes
 *   va2_load(p, p2)      sixteen from each
 *   vi2_join(s, s2)      the sums of two columns
 *   vi2_sums(t, i)       those of column I, 0 or 1
 *   vi2_dot(t, u, a)     t + the products of codes and activations
 *   vi2_dot_wide(t, w, a) the same for wide codes
 *   vf_from_vi(s)
 *   vf_store_i8(p, v)    the nearest integers, ties to even, of floats from
 *                        -127 to 127 as VF_LEN bytes; of others any
 *   vf_store_i8_trunc(p, v) the same without the fractions
 *   vf_dot_pairs(s, x, y) s + the products of both BF16 values in each lane of
 *                        x and y; only where VF_PAIRS is 1
 *
 * VQ_HALVES says whether sums in 16 bits are the faster way, VQ_TILES whether
 * two columns at a time are.  A product works on VQ_ROWS vectors of rows by
 * VQ_COLS columns, one of floats on VF_ROWS by VF_COLS: as many as the
 * registers hold.
 */
#ifndef GB_CPU_SIMD_DOT4_H
#define GB_CPU_SIMD_DOT4_H

#include "backends/cpu/simd/q32.h"

#if defined(GB_SIMD_AVX512)
#include "backends/cpu/simd/dot4-avx512.h"
#elif defined(GB_SIMD_AVX2)
#include "backends/cpu/simd/dot4-avx2.h"
#elif defined(GB_SIMD_NEON)
#include "backends/cpu/simd/dot4-neon.h"
#else
#include "backends/cpu/simd/dot4-generic.h"
#endif

#if !VQ_TILES
#include "backends/cpu/simd/dot4-pairs.h"
#endif

#if !VF_PAIRS
#define vf_dot_pairs(s, x, y) vf_fma(x, y, s) /* compiled, never called */
#endif

#endif
