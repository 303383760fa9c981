/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/skinny-float.c - float weights times 2 to 16 columns, as they lie.
 *
 * Transposing weights into panels costs more than so few columns bring.  Vectors
 * run along the rows; each of some rows meets each of some columns while both
 * are in registers.
 */
#include "backends/cpu/kernels/gemm/float.h"
#include "backends/cpu/kernels/format/float-types.h"
#include "lib/base/attr.h"

/* At a time; with more than six the addresses do not fit the registers. */
#define COLS_MIN 2
#define COLS_MAX 6

/* As many rows as there are registers for the sums, at most four, whose sums
 * are then made together: rows may be short. */
#define FIT(cols)  (VF_ROWS * VF_COLS / (cols))
#define ROWS(cols) (FIT(cols) < 1 ? 1 : FIT(cols) > 4 ? 4 : FIT(cols))

/* Rows of at most so many bytes are over before the machine foresees what comes
 * next, the more so where rows of other matrices lie between them: rows so far
 * ahead are fetched. */
#define SHORT 1024
#define AHEAD 32

typedef vf sums[ROWS(COLS_MIN)][COLS_MAX];

/* One vector of each row and of each column, or where IS_PART its first N
 * values; FETCHED bytes ahead, when not 0, is what is wanted later. */
GB_INLINE void
add_step(const struct gb_float_type *t, int rows, int cols, const char *x,
         size_t pitch, size_t fetched, const float *const *columns, int64_t i,
         bool is_part, int64_t n, sums acc)
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

        w[r] = is_part ? t->load_n(at, n) : t->load(at);
    }
#pragma GCC unroll 8
    for (int c = 0; c < cols; c++) {
        const vf y = is_part ? vf_load_n(columns[c] + i, n)
                             : vf_load(columns[c] + i);

#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
            acc[r][c] = vf_fma(w[r], y, acc[r][c]);
    }
}

GB_INLINE void
dots(const struct gb_float_type *t, int rows, int cols, const struct gb_product *p,
     int64_t row, int64_t col)
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
        add_step(t, rows, cols, x, p->pitch, fetched, columns, i, false,
                 VF_LEN, acc);
    if (i < p->k)
        add_step(t, rows, cols, x, p->pitch, fetched, columns, i, true,
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

/* Functions of their own, so that the compiler has all registers for each. */
typedef void dots_fn(const struct gb_product *p, int64_t row, int64_t col);

#define DOTS(type, cols)                                                     \
    static void type##_rows_by_##cols(const struct gb_product *p,            \
                                      int64_t row, int64_t col)              \
    {                                                                        \
        dots(&gb_##type, ROWS(cols), cols, p, row, col);                     \
    }                                                                        \
    static void type##_row_by_##cols(const struct gb_product *p,             \
                                     int64_t row, int64_t col)               \
    {                                                                        \
        dots(&gb_##type, 1, cols, p, row, col);                              \
    }

#define DOTS_OF(type)                                                        \
    DOTS(type, 2)                                                            \
    DOTS(type, 3)                                                            \
    DOTS(type, 4)                                                            \
    DOTS(type, 5)                                                            \
    DOTS(type, 6)

DOTS_OF(f32)
DOTS_OF(f16)
DOTS_OF(bf16)

struct micro_kernel {
    int rows;
    dots_fn *of_rows;
    dots_fn *of_row;
};

#define MICRO_KERNEL(type, cols)                                                      \
    { ROWS(cols), type##_rows_by_##cols,                                     \
      ROWS(cols) == 1 ? type##_rows_by_##cols : type##_row_by_##cols }
#define MICRO_KERNELS(type)                                                           \
    { MICRO_KERNEL(type, 2), MICRO_KERNEL(type, 3), MICRO_KERNEL(type, 4), MICRO_KERNEL(type, 5), MICRO_KERNEL(type, 6) }

static const struct micro_kernel micro_kernels[][COLS_MAX - COLS_MIN + 1] = {
    MICRO_KERNELS(f32), MICRO_KERNELS(f16), MICRO_KERNELS(bf16),
};

static const struct micro_kernel *
micro_kernels_of(enum ggml_type type)
{
    return micro_kernels[type == GGML_TYPE_F32 ? 0 : type == GGML_TYPE_F16 ? 1 : 2];
}

/* All rows with a part of the columns after the other; parts are of about the
 * same number. */
void
GB_K(skinny_floats)(const struct gb_format_kernels *weight,
                    const struct gb_product *p)
{
    const struct micro_kernel *const kernels =
        micro_kernels_of(weight->format->activation);
    const int64_t parts = (p->cols + COLS_MAX - 1) / COLS_MAX;
    int64_t col = 0;

    for (int64_t part = 0; part < parts; part++) {
        const int64_t cols = (p->cols - col) / (parts - part);
        const struct micro_kernel *kernel = &kernels[cols - COLS_MIN];
        int64_t row = 0;

        for (; row + kernel->rows <= p->rows; row += kernel->rows)
            kernel->of_rows(p, row, col);
        for (; row < p->rows; row++)
            kernel->of_row(p, row, col);
        col += cols;
    }
}
