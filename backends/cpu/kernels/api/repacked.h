/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/repacked.h - how repacked weights lie in memory: sixteen rows
 * side by side, so that a lane of a vector can be a row.
 *
 * A group is sixteen rows, as many bytes as they had before.  It has a row's
 * super-blocks one behind the other; each is N blocks of 32 values, 8 but at
 * the end of a row, of sixteen rows:
 *
 *     | d of 16 rows (m of 16 rows) | ... N times |
 *     | 4 bytes of row 0 | ... of row 15 | ... N * code bytes / 4 times |
 *
 * So a vector of 64 bytes has four bytes of codes of each row, which are in the
 * order of the block.  Any width of vectors takes it: one of VF_LEN lanes has
 * rows LANE to LANE + VF_LEN - 1, and begins 4 * LANE bytes further.
 */
#ifndef GB_CPU_KERNELS_API_REPACKED_H
#define GB_CPU_KERNELS_API_REPACKED_H

#define GB_REPACKED_ROWS   16
#define GB_REPACKED_BLOCKS 8 /* of a super-block */
#define GB_REPACKED_VALUES 32 /* of a block */

#endif
