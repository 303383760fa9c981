/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm-few.c - quantised weights times a few columns.
 *
 * Some rows are turned, each weight once, and meet the columns while they are
 * in the first cache.  A lane has the products of one chunk, so the sums of
 * integers of a group become floats together, and the lanes are added up at the
 * end of the rows.
 */
#include "backends/cpu/kernels/gemm.h"
#include "backends/cpu/kernels/turned.h"

#define ROWS 4
#define COLS 2

/* Groups of a row at a time. */
#define PART 8

/* Rows' turned groups, a part of some columns, and their sums in lanes. */
struct strip {
    const struct gb_codes *codes;
    int64_t groups; /* in a row */
    const struct gb_group *columns[COLS];
    float *sums[COLS]; /* 16 for each row */
};

GB_INLINE q64s
dot_of_group(bool is_wide, q64s s, const q64 *w, const int8_t *codes)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const q64 y = q64_load(codes + 64 * i);

        s = is_wide ? q64s_dot_wide(s, w[i], y) : q64s_dot(s, w[i], y);
    }
    return s;
}

GB_INLINE void
add_groups(const struct strip *strip, int rows, int cols, bool is_wide)
{
    q64f acc[ROWS][COLS];

#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            acc[r][c] = q64f_load(strip->sums[c] + 16 * r);
    for (int64_t g = 0; g < strip->groups; g++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            const struct gb_codes *codes = strip->codes + r * strip->groups + g;
            const q64f scale = q64f_load(codes->scale);
            const q64f side = q64f_load(codes->side);
            q64 w[4];

#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                w[i] = q64_load(codes->codes + 64 * i);
#pragma GCC unroll 4
            for (int c = 0; c < cols; c++) {
                const struct gb_group *y = strip->columns[c] + g;
                q64s s = dot_of_group(is_wide, q64s_zero(), w, y->high);

                if (y->has_low[0] != 0)
                    s = dot_of_group(is_wide, q64s_add_256(q64s_zero(), s), w,
                                     y->low);
                acc[r][c] = q64f_fma(side, q64f_load(y->side), acc[r][c]);
                acc[r][c] = q64f_fma(
                    q64f_from(s), q64f_mul(scale, q64f_load(y->scale)),
                    acc[r][c]);
            }
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            q64f_store(strip->sums[c] + 16 * r, acc[r][c]);
}

typedef void strip_fn(const struct strip *strip);

#define STRIPS(name, is_wide)                                          \
    static void name##_rows_by_cols(const struct strip *strip)         \
    {                                                                  \
        add_groups(strip, ROWS, COLS, is_wide);                        \
    }                                                                  \
    static void name##_rows_by_1(const struct strip *strip)            \
    {                                                                  \
        add_groups(strip, ROWS, 1, is_wide);                           \
    }                                                                  \
    static void name##_row_by_1(const struct strip *strip)             \
    {                                                                  \
        add_groups(strip, 1, 1, is_wide);                              \
    }

STRIPS(narrow, false)
STRIPS(wide, true)

static const struct {
    strip_fn *rows_by_cols;
    strip_fn *rows_by_1;
    strip_fn *row_by_1;
} kinds[] = {
    { narrow_rows_by_cols, narrow_rows_by_1, narrow_row_by_1 },
    { wide_rows_by_cols, wide_rows_by_1, wide_row_by_1 },
};

void
GB_K(gemm_few)(const struct gb_weight *weight, const struct gb_product *p)
{
    const struct gb_layout *layout = &weight->layout;
    const int kind = layout->steps == 0;
    const int64_t part = PART * GB_GROUP;
    struct gb_codes *codes = p->scratch;
    float *sums = (float *)(codes + ROWS * PART);

    for (int64_t r = 0; r < p->rows; r += ROWS) {
        const int64_t rows = p->rows - r < ROWS ? p->rows - r : ROWS;

        memset(sums, 0, (size_t)p->cols * ROWS * 16 * sizeof(*sums));
        for (int64_t k = 0; k < p->k; k += part) {
            const int64_t n = p->k - k < part ? p->k - k : part;
            struct strip strip = {
                .codes = codes,
                .groups = (n + GB_GROUP - 1) / GB_GROUP,
            };

            weight->turn(n, rows,
                         (const char *)p->weights + (size_t)r * p->pitch +
                             (size_t)(k / layout->values) * layout->bytes,
                         p->pitch, codes);
            for (int64_t c = 0; c < p->cols; c += COLS) {
                for (int i = 0; i < COLS; i++) {
                    const int64_t at = c + i < p->cols ? c + i : c;

                    strip.columns[i] =
                        (const struct gb_group *)p->columns[at] + k / GB_GROUP;
                    strip.sums[i] = sums + at * ROWS * 16;
                }
                if (rows < ROWS) {
                    for (int64_t j = 0; j < rows; j++) {
                        struct strip one = strip;
                        one.codes += j * strip.groups;
                        one.sums[0] += 16 * j;
                        kinds[kind].row_by_1(&one);
                        if (c + 1 < p->cols) {
                            one.columns[0] = one.columns[1];
                            one.sums[0] = one.sums[1] + 16 * j;
                            kinds[kind].row_by_1(&one);
                        }
                    }
                } else if (c + COLS <= p->cols) {
                    kinds[kind].rows_by_cols(&strip);
                } else {
                    kinds[kind].rows_by_1(&strip);
                }
            }
        }
        for (int64_t c = 0; c < p->cols; c++)
            for (int64_t j = 0; j < rows; j++)
                p->dst[c][r + j] =
                    q64f_sum(q64f_load(sums + (c * ROWS + j) * 16), q64f_zero(),
                             qf_zero());
    }
}
