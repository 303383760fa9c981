/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/repacked.h - how repacked weights lie in memory: sixteen rows
 * side by side, so that a lane of a vector can be a row.
 *
 * A group is sixteen rows, as many bytes as they had before.  It has pairs of
 * blocks of 32 values one behind the other, of all rows; a row of an odd number
 * of blocks ends with N = 1 instead of 2:
 *
 *     | d of 16 rows (m of 16 rows) | ... N times |
 *     | 4 bytes of row 0 | ... of row 15 | ... N * code bytes / 4 times |
 *
 * Pairs, since the half floats of two blocks are whole cache lines, so that
 * codes are too; and no more, since memory is then read in order.  A vector of
 * 64 bytes has four bytes of codes of each row, which are in the order of the
 * block.  Any width of vectors takes it: one of VF_LEN lanes has rows LANE to
 * LANE + VF_LEN - 1, and begins 4 * LANE bytes further.
 */
#ifndef GB_CPU_KERNELS_API_REPACKED_H
#define GB_CPU_KERNELS_API_REPACKED_H

#define GB_REPACKED_ROWS   16
#define GB_REPACKED_BLOCKS 2 /* side by side */
#define GB_REPACKED_VALUES 32 /* of a block */

#endif
