/* SPDX-License-Identifier: MIT */
/*
 * cpu/simd/tiles.h - words of products by tiles.
 *
 * A tile is 16 rows of 64 bytes: sixteen floats a row, or as many pairs of BF16
 * values.  A thread has eight of them, number 0 to 7; a word takes numbers that
 * are constants.  A product of tiles adds to a tile of sums that of a tile of
 * rows and one of columns, whose pairs stand one below the other:
 *
 *                               b0 pair 0 | b1 pair 0 | .. | b15 pair 0
 *                               b0 pair 1 | b1 pair 1 | .. | b15 pair 1
 *                               ..
 *   a0 pair 0 | a0 pair 1 | ..  a0 * b0   | a0 * b1   | ..
 *   a1 pair 0 | a1 pair 1 | ..  a1 * b0   | a1 * b1   | ..
 *
 *   struct tiles             the tiles of a thread where they are no registers
 *   tiles_configure(t)       before any other word; at once where it was done
 *   tiles_release()          this thread has no tiles any more
 *   tile_zero(t, i)          tile I is zeros
 *   tile_load(t, i, p, pitch)
 *                            tile I is sixteen rows of 64 bytes, PITCH apart
 *   tile_store(t, i, p, pitch)
 *                            and the other way round
 *   tile_dot_bf16(t, c, a, b)
 *                            the sums C + A * B, of pairs of BF16 values
 *   tile_store_bf16(p, v)    no tile: VF_LEN floats rounded to BF16, to the
 *                            nearest with ties to even, subnormal ones to 0
 *   tile_transpose(dst, src, pitch)
 *                            no tile: unit j of 32 bits of row i of SRC becomes
 *                            unit i of row j, whose rows are contiguous
 *
 * How tile_dot_bf16 rounds is defined to the bit, NaN apart: tiles-generic.h.
 */
#ifndef GB_CPU_SIMD_TILES_H
#define GB_CPU_SIMD_TILES_H

#include "backends/cpu/simd/dot4.h"

#define TILE_ROWS   16
#define TILE_BYTES  1024
#define TILE_VALUES 32 /* BF16 values in a row */

#if defined(__AMX_BF16__) || defined(__AMXBF16__) /* clang up to 15 */
#include "backends/cpu/simd/tiles-amx.h"
#else
#include "backends/cpu/simd/tiles-generic.h"
#endif

#endif
