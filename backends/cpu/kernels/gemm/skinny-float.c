/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/skinny-float.c - skinny GEMM: float weights (F32, F16, BF16)
 * times 2 to 16 columns, neither of them packed.
 *
 * Transposing weights into panels would cost more than so few columns gain.
 * Vectors run along the rows, as in a dot product: the micro-kernel is MR rows
 * by NR columns of accumulators, each a vector, which are added up at the end
 * of the rows.
 *
 *     for each NR of 2 to 6 columns, split evenly
 *         for each MR rows
 *             for each VF_LEN values of k: MR + NR loads, MR * NR FMA
 *             MR * NR horizontal sums, four rows together where MR is 4
 *
 * Each load of weights serves NR columns and each of a column MR rows: with
 * AVX-512 and six columns 10 loads for 24 FMA.  All rows of the tile go by for
 * one NR of columns, then for the next.
 *
 * Accuracy  VF_LEN float sums for each result, joined at the end.
 */
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "lib/base/attr.h"

/* NR.  With more than six columns their addresses do not fit the general
 * registers. */
#define COLS_MIN 2
#define COLS_MAX 6

/* MR: as many rows as there are registers for accumulators, four at most, whose
 * horizontal sums are computed together, which counts where rows are short. */
#define FIT(cols)  (VF_ROWS * VF_COLS / (cols))
#define ROWS(cols) (FIT(cols) < 1 ? 1 : FIT(cols) > 4 ? 4 : FIT(cols))

/* Rows of at most SHORT bytes end before the hardware prefetcher follows them,
 * the more so where rows of other matrices are between them in memory: prefetch
 * AHEAD rows ahead. */
#define SHORT 1024
#define AHEAD 32

typedef vf sums[ROWS(COLS_MIN)][COLS_MAX];

/* Values I to I + VF_LEN - 1 of the rows times those of the columns, or only
 * the first N where IS_TAIL.  Prefetches FETCHED bytes ahead when that is not
 * 0. */
GB_INLINE void
add_vectors(const struct gb_float_type *t, int rows, int cols, const char *x,
            size_t pitch, size_t fetched, const float *const *columns,
            int64_t i, bool is_tail, int64_t n, sums acc)
{
    vf w[ROWS(COLS_MIN)];

    if (fetched > 0 && (size_t)i * t->bytes % 64 == 0) {
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            GB_PREFETCH_FAR(
                x + (size_t)r * pitch + (size_t)i * t->bytes + fetched);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++) {
        const char *at = x + (size_t)r * pitch + (size_t)i * t->bytes;

        w[r] = is_tail ? t->load_n(at, n) : t->load(at);
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++) {
        const vf y = is_tail ? vf_load_n(columns[c] + i, n)
                             : vf_load(columns[c] + i);

#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            acc[r][c] = vf_fma(w[r], y, acc[r][c]);
    }
}

/* The micro-kernel: ROWS rows from ROW on times COLS columns from COL on. */
GB_INLINE void
multiply_tile(const struct gb_float_type *t, int rows, int cols,
              const struct gb_product *p, int64_t row, int64_t col)
{
    const char *x = (const char *)p->weights + (size_t)row * p->pitch;
    const bool is_short = col == 0 && (size_t)p->k * t->bytes <= SHORT;
    const size_t fetched = is_short ? AHEAD * p->pitch : 0;
    const float *columns[COLS_MAX];
    sums acc;
    int64_t i = 0;

#pragma GCC unroll 8
    for (int c = 0; c < cols; c++) {
        columns[c] = p->columns[col + c];
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            acc[r][c] = vf_zero();
    }
    for (; i + VF_LEN <= p->k; i += VF_LEN)
        add_vectors(t, rows, cols, x, p->pitch, fetched, columns, i, false,
                    VF_LEN, acc);
    if (i < p->k)
        add_vectors(t, rows, cols, x, p->pitch, fetched, columns, i, true,
                    p->k - i, acc);
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++) {
        float *to = p->dst[col + c] + row;

        if (rows == 4) {
            vf_sum4(to, acc[0][c], acc[1][c], acc[2][c], acc[3][c]);
            continue;
        }
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            to[r] = vf_sum(acc[r][c]);
    }
}

/* Functions of their own, so that each has all registers. */
typedef void
micro_kernel_fn(const struct gb_product *p, int64_t row, int64_t col);

#define TILES(type, cols)                                                      \
    static void type##_rows_by_##cols(const struct gb_product *p, int64_t row, \
                                      int64_t col)                             \
    {                                                                          \
        multiply_tile(&gb_##type, ROWS(cols), cols, p, row, col);              \
    }                                                                          \
    static void type##_row_by_##cols(const struct gb_product *p, int64_t row,  \
                                     int64_t col)                              \
    {                                                                          \
        multiply_tile(&gb_##type, 1, cols, p, row, col);                       \
    }

#define TILES_OF(type) \
    TILES(type, 2)     \
    TILES(type, 3)     \
    TILES(type, 4)     \
    TILES(type, 5)     \
    TILES(type, 6)

TILES_OF(f32)
TILES_OF(f16)
TILES_OF(bf16)

struct micro_kernel {
    int rows; /* MR */
    micro_kernel_fn *of_rows;
    micro_kernel_fn *of_row; /* for the rows left over */
};

#define MICRO_KERNEL(type, cols)                              \
    {                                                         \
        .rows = ROWS(cols), .of_rows = type##_rows_by_##cols, \
        .of_row = ROWS(cols) == 1 ? type##_rows_by_##cols     \
                                  : type##_row_by_##cols,     \
    }
#define MICRO_KERNELS(type)                                                  \
    {                                                                        \
        MICRO_KERNEL(type, 2), MICRO_KERNEL(type, 3), MICRO_KERNEL(type, 4), \
            MICRO_KERNEL(type, 5), MICRO_KERNEL(type, 6),                    \
    }

/* By type and number of columns. */
static const struct micro_kernel micro_kernels[][COLS_MAX - COLS_MIN + 1] = {
    MICRO_KERNELS(f32),
    MICRO_KERNELS(f16),
    MICRO_KERNELS(bf16),
};

static const struct micro_kernel *
micro_kernels_of(enum ggml_type type)
{
    return micro_kernels[type == GGML_TYPE_F32   ? 0
                         : type == GGML_TYPE_F16 ? 1
                                                 : 2];
}

/* All rows with one tile of columns after the other; tiles differ by one column
 * at most. */
void
GB_K(skinny_floats)(const struct gb_format_kernels *weight,
                    const struct gb_product *p)
{
    const struct micro_kernel *const kernels =
        micro_kernels_of(weight->format->activation);
    const int64_t tiles = (p->cols + COLS_MAX - 1) / COLS_MAX;
    int64_t col = 0;

    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t cols = (p->cols - col) / (tiles - tile);
        const struct micro_kernel *kernel = &kernels[cols - COLS_MIN];
        int64_t row = 0;

        for (; row + kernel->rows <= p->rows; row += kernel->rows)
            kernel->of_rows(p, row, col);
        for (; row < p->rows; row++)
            kernel->of_row(p, row, col);
        col += cols;
    }
}
