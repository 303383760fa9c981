/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/elementwise/transpose.c - transposition of a matrix of elements
 * of 1, 2, 4 or any other number of bytes.
 *
 * Squares of VF_LEN by VF_LEN words are transposed in registers (vq_transpose),
 * so that loads and stores are whole vectors along rows on either side.
 * Elements of two bytes are taken as words in pairs, and the pairs are separated
 * afterwards.  What is left at the edges goes element by element.
 *
 * How much of a matrix is taken at a time is the caller's affair (ops/copy.c).
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/kernels/gemm/panel.h"
#include "lib/base/byte-order.h"

#include <string.h>

/* Element by element; SIZE is a constant of the caller, so that a copy is one
 * load and one store. */
GB_INLINE void
transpose_rest(size_t size, int64_t rows, int64_t cols, char *dst, size_t dst_pitch,
          const char *src, size_t src_pitch)
{
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++)
            memcpy(dst + (size_t)i * dst_pitch + (size_t)j * size,
                   src + (size_t)j * src_pitch + (size_t)i * size, size);
}

/* A square of N_ROWS by VF_LEN elements. */
typedef void (*square_fn)(char *dst, size_t dst_pitch, const char *src,
                          size_t src_pitch);

GB_INLINE void
transpose_by_squares(size_t size, int n_rows, square_fn square, int64_t rows,
                int64_t cols, char *dst, size_t dst_pitch, const char *src,
                size_t src_pitch)
{
    const int64_t whole_rows = rows - rows % n_rows;
    const int64_t whole_cols = cols - cols % VF_LEN;

    for (int64_t j = 0; j < whole_cols; j += VF_LEN)
        for (int64_t i = 0; i < whole_rows; i += n_rows)
            square(dst + (size_t)i * dst_pitch + (size_t)j * size, dst_pitch,
                   src + (size_t)j * src_pitch + (size_t)i * size, src_pitch);
    transpose_rest(size, rows - whole_rows, whole_cols,
              dst + (size_t)whole_rows * dst_pitch, dst_pitch,
              src + (size_t)whole_rows * size, src_pitch);
    transpose_rest(size, rows, cols - whole_cols, dst + (size_t)whole_cols * size,
              dst_pitch, src + (size_t)whole_cols * src_pitch, src_pitch);
}

GB_INLINE void
square_of_words(char *dst, size_t dst_pitch, const char *src, size_t src_pitch)
{
    float square[VF_LEN * VF_LEN];

    vq_transpose(square, src, (int64_t)src_pitch);
    for (int i = 0; i < VF_LEN; i++)
        memcpy(dst + (size_t)i * dst_pitch, square + i * VF_LEN,
               VF_LEN * sizeof(float));
}

/* 2 * VF_LEN rows: the two of a word become neighbouring rows of the result. */
GB_INLINE void
square_of_halves(char *dst, size_t dst_pitch, const char *src,
                 size_t src_pitch)
{
    uint32_t square[VF_LEN * VF_LEN];

    vq_transpose(square, src, (int64_t)src_pitch);
    for (int i = 0; i < VF_LEN; i++) {
        char *row = dst + (size_t)(2 * i) * dst_pitch;
        uint16_t first[VF_LEN];
        uint16_t second[VF_LEN];

        for (int j = 0; j < VF_LEN; j++) {
            const uint32_t both = square[i * VF_LEN + j];

            first[j] = (uint16_t)(GB_IS_BIG_ENDIAN ? both >> 16 : both);
            second[j] = (uint16_t)(GB_IS_BIG_ENDIAN ? both : both >> 16);
        }
        memcpy(row, first, sizeof(first));
        memcpy(row + dst_pitch, second, sizeof(second));
    }
}

void
GB_K(transpose)(size_t size, int64_t rows, int64_t cols, void *dst,
           size_t dst_pitch, const void *src, size_t src_pitch)
{
    switch (size) {
    case 1:
        transpose_rest(1, rows, cols, dst, dst_pitch, src, src_pitch);
        break;
    case 2:
        transpose_by_squares(2, 2 * VF_LEN, square_of_halves, rows, cols, dst,
                        dst_pitch, src, src_pitch);
        break;
    case 4:
        transpose_by_squares(4, VF_LEN, square_of_words, rows, cols, dst, dst_pitch,
                        src, src_pitch);
        break;
    default:
        transpose_rest(size, rows, cols, dst, dst_pitch, src, src_pitch);
        break;
    }
}
