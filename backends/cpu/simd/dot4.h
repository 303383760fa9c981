/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/dot4.h - words of the int8 GEMM micro-kernel: dot4, lanes are rows.
 *
 * A dot4 adds the products of four bytes with four bytes to a sum of 32 bits
 * (VPDPBUSD, SDOT).  Here each lane has another row of the weights, so that a
 * vector holds four successive weights of VF_LEN rows, and is multiplied with
 * four activations of a column that are the same in all lanes:
 *
 *   vq  weights     r0 r0 r0 r0 | r1 r1 r1 r1 | r2 r2 r2 r2 | ...
 *   vq  activations a0 a1 a2 a3 | a0 a1 a2 a3 | a0 a1 a2 a3 | ...
 *   vi  sums        row 0       | row 1       | row 2       | ...
 *
 * No sum across lanes is needed, in contrast to the words of q32.h and q64.h,
 * whose lanes run along a row.  Codes, wide codes and activations are those of
 * q32.h.
 *
 * types
 *   vq       VF_LEN dot4 operands, 4 * VF_LEN bytes
 *   vi       VF_LEN sums of 32 bits
 *   vh       sums of 16 bits, two or four for each lane of a vi
 *   vq4      sixteen weights of each row: four vq, or what the instructions for
 *            two columns at a time want
 *   va2      sixteen activations of each of two columns
 *   vi2      the sums of both
 *
 * packing
 *   vq_load(p) vq_store(p, v)
 *                         4 * VF_LEN bytes
 *   vq_low_nibbles(v) vq_high_nibbles(v)
 *                         the lower or upper four bits of each byte
 *   vq_lookup(p, v)       byte v of a table of sixteen at P, v < 16
 *   vq_or_fifth(u, w, j)  u | 16 in byte b of a lane where bit 4 * j + b of W's
 *                         lane, a little-endian word, is set, j < 8
 *   vq_flip(v)            signed bytes as wide codes, which is its own inverse
 *   vq_broadcast(p)       the four bytes at P, in every lane
 *   vq_transpose(dst, src, pitch)
 *                         VF_LEN rows of VF_LEN operands, PITCH bytes apart:
 *                         operand j of row i becomes operand i of row j; the
 *                         rows of dst are contiguous
 *   vq_transpose_f16(dst, src, pitch), vq_transpose_bf16(dst, src, pitch)
 *                         VF_LEN rows of 2 * VF_LEN 16-bit floats: element j of
 *                         row i becomes float i of row j; only where
 *                         VQ_TRANSPOSES_HALVES is 1
 *   vq4_transpose(dst, src, pitch)
 *                         as vq_transpose, to what vq4_load is to be given
 *   vq4_load(p)           16 * VF_LEN bytes
 *   va2_load(p, p2)       sixteen bytes from each
 * one column
 *   vi_set1(x)
 *   vi_dot(s, u, a)       s + dot4 of codes and activations
 *   vi_dot_wide(s, w, a)  the same of wide codes
 *   vi_add_256(s, t)      s + 256 * t
 *   vh_dot(u, a)          products of codes and activations, added in part
 *   vh_dot_more(h, u, a)  h + the same; 16 bits must hold it
 *   vi_add_pairs(s, h)    s + the sums of H that belong to each lane
 * two columns
 *   vi2_join(s, s2)       the sums of two columns
 *   vi2_sums(t, i)        those of column I, 0 or 1
 *   vi2_dot(t, u, a)      t + four dot4 of codes and activations a column
 *   vi2_dot_wide(t, w, a) the same of wide codes
 * floats
 *   vf_from_vi(s)
 *   vf_store_i8(p, v)     the nearest integers, ties to even, of floats from
 *                         -127 to 127, as VF_LEN bytes; of other floats any
 *   vf_store_i8_trunc(p, v)
 *                         the same, rounded towards 0
 *   vf_dot_pairs(s, x, y) s + the products of both BF16 values in each lane of
 *                         x and y; only where VF_PAIRS is 1
 *
 * What is worth while on an instruction set is said by macros: VQ_HALVES, sums
 * of 16 bits for some steps before they become 32; VQ_TILES, two columns at a
 * time; VF_PAIRS, BF16 products.  MR x NR of the int8 micro-kernel is VQ_ROWS *
 * VF_LEN rows by VQ_COLS columns, that of the float one VF_ROWS * VF_LEN by
 * VF_COLS: as many sums as leave registers for the operands.
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
