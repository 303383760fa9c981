/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/skinny-int8.c - skinny GEMM: quantised weights times 2 to 16
 * columns.
 *
 *     for each MR = Q64_ROWS rows
 *         for each KC = 8 super-blocks of k
 *             unpack and lane-interleave MR x KC weights into the L1 cache
 *             for each NR = Q64_COLS columns, then one by one
 *                 micro-kernel: MR x NR accumulators of 16 floats
 *         add up the lanes
 *
 * So each weight is unpacked once for all columns.  Weights
 * (format/interleave.h) and activations (api/packing.h) are lane-interleaved
 * alike: lane l has sub-block l of 16 values.  The product of a super-block of
 * a row with one of a column is 4 dot4 of 64 bytes into one integer sum a lane;
 * it becomes floats once, times both scales of the lane.  Mins, or the bias as
 * zero-point correction, are one multiply-add with the sums of the activations.
 * Where an activation has an outlier: 4 dot4 more for the low parts.
 *
 * A super-block of a row by one of a column thus costs 4 dot4 (of 16 lanes),
 * one conversion, one multiplication of scales and two multiply-adds for 256
 * products.  Packed weights are MR * KC * 384 bytes: 12 KiB with MR = 4.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/gemm/int8.h"
#include "backends/cpu/kernels/format/interleave.h"

/* Super-blocks of a row that are packed at a time. */
#define KC 8

/* Accumulators of MR rows with one column. */
typedef float row_sums[Q64_ROWS][16];

/* Packed super-blocks of MR rows, and as many of up to NR columns. */
struct tile {
    const struct gb_interleaved *codes;
    int64_t super_blocks; /* in a row */
    const struct gb_q8_super_block *columns[Q64_COLS];
    row_sums *sums[Q64_COLS];
};

/* S + the products of 256 codes and activations. */
GB_INLINE q64s
dot_of_super_block(bool is_wide, q64s s, const q64 *w, const int8_t *codes)
{
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        const q64 y = q64_load(codes + 64 * i);

        s = is_wide ? q64s_dot_wide(s, w[i], y) : q64s_dot(s, w[i], y);
    }
    return s;
}

/* Add the product of a super-block of a row with one of a column. */
GB_INLINE q64f
add_products(bool is_wide, q64f acc, const q64 *w,
             const struct gb_interleaved *x, const struct gb_q8_super_block *y)
{
    q64s s = dot_of_super_block(is_wide, q64s_zero(), w, y->high);

    if (y->has_low[0] != 0)
        s = dot_of_super_block(is_wide, q64s_add_256(q64s_zero(), s), w,
                               y->low);
    acc = q64f_fma(q64f_load(x->min), q64f_load(y->sum), acc);
    return q64f_fma(q64f_from(s),
                    q64f_mul(q64f_load(x->scale), q64f_load(y->scale)), acc);
}

/* The micro-kernel: MR rows times COLS columns. */
GB_INLINE void
add_super_blocks(const struct tile *tile, int cols, bool is_wide)
{
    q64f acc[Q64_ROWS][Q64_COLS];

#pragma GCC unroll 4
    for (int r = 0; r < Q64_ROWS; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            acc[r][c] = q64f_load((*tile->sums[c])[r]);
    for (int64_t k = 0; k < tile->super_blocks; k++) {
#pragma GCC unroll 4
        for (int r = 0; r < Q64_ROWS; r++) {
            const struct gb_interleaved *x =
                tile->codes + r * tile->super_blocks + k;
            q64 w[4];

#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                w[i] = q64_load(x->codes + 64 * i);
#pragma GCC unroll 4
            for (int c = 0; c < cols; c++)
                acc[r][c] = add_products(is_wide, acc[r][c], w, x,
                                         tile->columns[c] + k);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < Q64_ROWS; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            q64f_store((*tile->sums[c])[r], acc[r][c]);
}

/* Functions of their own, so that each has all registers. */
#define MICRO_KERNEL(name, cols, is_wide)      \
    static void name(const struct tile *tile)  \
    {                                          \
        add_super_blocks(tile, cols, is_wide); \
    }

MICRO_KERNEL(narrow_column, 1, false)
MICRO_KERNEL(narrow_tile, Q64_COLS, false)
MICRO_KERNEL(wide_column, 1, true)
MICRO_KERNEL(wide_tile, Q64_COLS, true)

/* By whether codes are wide: MR x 1 and MR x NR. */
static const struct {
    void (*column)(const struct tile *tile);
    void (*tile)(const struct tile *tile);
} micro_kernels[] = {
    { .column = narrow_column, .tile = narrow_tile },
    { .column = wide_column, .tile = wide_tile },
};

/* The packed super-blocks, whose first is number FROM of their rows, times all
 * columns. */
static void
add_kc(bool is_wide, struct tile *tile, const struct gb_product *p,
       int64_t from, row_sums *sums)
{
    int64_t cols;

    for (int64_t c = 0; c < p->cols; c += cols) {
        cols = c + Q64_COLS <= p->cols ? Q64_COLS : 1;
        for (int64_t i = 0; i < cols; i++) {
            tile->columns[i] =
                (const struct gb_q8_super_block *)p->columns[c + i] + from;
            tile->sums[i] = &sums[c + i];
        }
        if (cols == Q64_COLS)
            micro_kernels[is_wide].tile(tile);
        else
            micro_kernels[is_wide].column(tile);
    }
}

/* Pack K values of ROWS rows from X on, at most MR; zeros for the rows up to
 * MR. */
static void
interleave_rows(const struct gb_format_kernels *weight, int64_t k, int64_t rows,
                const void *x, size_t pitch, struct gb_interleaved *codes)
{
    const int64_t super_blocks = gb_cpu_ceil_div(k, GB_SUPER_BLOCK);

    weight->interleave(k, rows, x, pitch, codes);
    memset(codes + rows * super_blocks, 0,
           (size_t)((Q64_ROWS - rows) * super_blocks) * sizeof(*codes));
}

_Static_assert(Q64_ROWS * KC * sizeof(struct gb_interleaved) +
                       GB_SKINNY_COLS_MAX * sizeof(row_sums) <=
                   GB_PRODUCT_SCRATCH,
               "room for packed super-blocks and sums");

/* The loops at the head of this file.  Accumulators of all columns are in
 * memory between two KC of k. */
void
GB_K(skinny_int8)(const struct gb_format_kernels *weight,
                  const struct gb_product *p)
{
    const struct gb_format *format = weight->format;
    const bool is_wide = format->dot4s == 0;
    const size_t kc_bytes = KC * GB_SUPER_BLOCK / (size_t)format->block *
                            format->bytes;
    struct gb_interleaved *codes = p->scratch;
    row_sums *sums = (row_sums *)(codes + Q64_ROWS * KC);

    for (int64_t r = 0; r < p->rows; r += Q64_ROWS) {
        const int64_t rows = gb_cpu_min(Q64_ROWS, p->rows - r);
        const char *x = (const char *)p->weights + (size_t)r * p->pitch;

        memset(sums, 0, (size_t)p->cols * sizeof(*sums));
        for (int64_t k = 0; k < p->k; k += KC * GB_SUPER_BLOCK, x += kc_bytes) {
            const int64_t n = gb_cpu_min(KC * GB_SUPER_BLOCK, p->k - k);
            struct tile tile = {
                .codes = codes,
                .super_blocks = gb_cpu_ceil_div(n, GB_SUPER_BLOCK),
            };

            interleave_rows(weight, n, rows, x, p->pitch, codes);
            add_kc(is_wide, &tile, p, k / GB_SUPER_BLOCK, sums);
        }
        for (int64_t c = 0; c < p->cols; c++)
            for (int64_t i = 0; i < rows; i++)
                p->dst[c][r + i] = q64f_sum(q64f_load(sums[c][i]),
                                            q64f_zero(), qf_zero());
    }
}
