/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrix.cuh - the matrix cores of AMD's cards: MFMA in waves of 64
 * lanes, WMMA in waves of 32.
 *
 * Sums D of 16 rows and 16 columns, d += a * b.  A line is a row of A or a
 * column of B; lane L works on line L % 16 of both, and has of D
 *
 *   column L % 16, and of the rows in element i, with h = L / 16:
 *   4 h + i (MFMA), 2 i + h (WMMA of RDNA 3), 8 h + i (WMMA of RDNA 4)
 *
 * A step has 32 values of k, 64 bytes of a line, in four pieces of 16 bytes.  In
 * which order values of k are added does not matter as long as A and B have the
 * same: so a lane's share of a step is whole pieces, one (MFMA), all four (RDNA 3,
 * whose lanes L and L + 16 have the same ones) or two (RDNA 4).
 *
 * hipify.h has the instructions; where an architecture has none gb_has_matrix is
 * false and kernels leave out what uses them.  The emulator's kernels are those
 * of any card: which it is, a launch tells them.
 */
#ifndef GB_CUDA_KERNELS_MATRIX_CUH
#define GB_CUDA_KERNELS_MATRIX_CUH

#include "backends/cuda/kernels/device.cuh"

#define GB_MATRIX_LINES 16
#define GB_MATRIX_SUMS  (256 / GB_WARP) /* of a lane */

static constexpr bool gb_has_matrix = GB_HAS_MATRIX;

/* MFMA has sums of 32 rows and 32 columns, too, of 8 values of k. */
#define GB_MATRIX_WIDE_SUMS 16 /* of a lane */

static constexpr bool gb_has_wide_matrix = GB_HAS_MATRIX && GB_WARP == 64;

/* A lane's share of a step of a line. */
struct gb_matrix_share {
    uint32_t words[GB_MATRIX_WORDS];
};

/* How many pieces it has, and which is its piece number I. */
GB_DEVICE int
gb_matrix_pieces()
{
    return 4 / GB_MATRIX_SHARES;
}

GB_DEVICE int
gb_matrix_piece(int i)
{
    return gb_lane() / 16 % GB_MATRIX_SHARES + i * GB_MATRIX_SHARES;
}

GB_DEVICE void
gb_matrix_set(gb_matrix_share &share, int i, const gb_piece &piece)
{
    GB_UNROLL
    for (int j = 0; j < 4; j++)
        share.words[4 * i + j] = piece.words[j];
}

/* The row of this lane's sum I; its column is the lane's number modulo 16. */
GB_DEVICE int
gb_matrix_row(int i)
{
    return GB_MATRIX_SHARES == 1 ? 2 * i + gb_lane() / 16
                                 : gb_lane() / 16 * GB_MATRIX_SUMS + i;
}

/* d += a * b of 32 values of k; all lanes. */
struct gb_matrix_multiply_f16 {
    GB_DEVICE void
    multiply(float d[GB_MATRIX_SUMS], const gb_matrix_share &a,
             const gb_matrix_share &b)
    {
        const int next = 8 / GB_MATRIX_SHARES;

        gb_matrix_f16(d, a.words, b.words);
        gb_matrix_f16(d, a.words + next, b.words + next);
    }
};

struct gb_matrix_multiply_bf16 {
    GB_DEVICE void
    multiply(float d[GB_MATRIX_SUMS], const gb_matrix_share &a,
             const gb_matrix_share &b)
    {
        const int next = 8 / GB_MATRIX_SHARES;

        gb_matrix_bf16(d, a.words, b.words);
        gb_matrix_bf16(d, a.words + next, b.words + next);
    }
};

/*
 * Of 32 x 32 sums: lane L works on line L % 32 of A and B, of whose 8 values of k
 * it brings four; it has of D column L % 32, and this row in sum I.
 */
GB_DEVICE int
gb_matrix_wide_row(int i)
{
    return 8 * (i / 4) + 4 * (gb_lane() / 32) + i % 4;
}

/* d += a * b, of four halves a lane; all lanes. */
struct gb_matrix_wide_f16 {
    GB_DEVICE void
    multiply(float d[GB_MATRIX_WIDE_SUMS], const uint32_t *a, const uint32_t *b)
    {
        gb_matrix_wide_multiply_f16(d, a, b);
    }
};

struct gb_matrix_wide_bf16 {
    GB_DEVICE void
    multiply(float d[GB_MATRIX_WIDE_SUMS], const uint32_t *a, const uint32_t *b)
    {
        gb_matrix_wide_multiply_bf16(d, a, b);
    }
};

#endif
