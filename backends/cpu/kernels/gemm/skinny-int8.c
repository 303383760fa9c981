/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/skinny-int8.c - skinny GEMM: quantised weights times 2 to 16
 * columns.
 *
 * Q64_ROWS rows of weights are interleaved, a part of PART super-blocks at a time,
 * into the first cache, and meet all columns there, so that each weight is unpacked
 * once.  Lane l of a vector has values of sub-block l, in weights and activations
 * alike: four dot4 of 64 bytes are the products of a super-block, one sum a lane,
 * which becomes floats once, times both scales of the lane.  Lanes are added up at
 * the end of the rows.
 */
#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/kernels/gemm/int8.h"
#include "backends/cpu/kernels/format/interleave.h"

/* Super-blocks of a row at a time. */
#define PART 8

/* The sums of some rows with one column, in lanes. */
typedef float row_sums[Q64_ROWS][16];

/* Interleaved super-blocks of some rows, and as many of some columns. */
struct tile {
    const struct gb_interleaved *codes;
    int64_t super_blocks; /* in a row */
    const struct gb_q8_super_block *columns[Q64_COLS];
    row_sums *sums[Q64_COLS];
};

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
add_products(bool is_wide, q64f acc, const q64 *w, const struct gb_interleaved *x,
             const struct gb_q8_super_block *y)
{
    q64s s = dot_of_super_block(is_wide, q64s_zero(), w, y->high);

    if (y->has_low[0] != 0)
        s = dot_of_super_block(is_wide, q64s_add_256(q64s_zero(), s), w, y->low);
    acc = q64f_fma(q64f_load(x->min), q64f_load(y->sum), acc);
    return q64f_fma(q64f_from(s),
                    q64f_mul(q64f_load(x->scale), q64f_load(y->scale)), acc);
}

GB_INLINE void
add_super_blocks(const struct tile *tile, int cols, bool is_wide)
{
    q64f acc[Q64_ROWS][Q64_COLS];

#pragma GCC unroll 4
    for (int r = 0; r < Q64_ROWS; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            acc[r][c] = q64f_load((*tile->sums[c])[r]);
    for (int64_t g = 0; g < tile->super_blocks; g++) {
#pragma GCC unroll 4
        for (int r = 0; r < Q64_ROWS; r++) {
            const struct gb_interleaved *x = tile->codes + r * tile->super_blocks + g;
            q64 w[4];

#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                w[i] = q64_load(x->codes + 64 * i);
#pragma GCC unroll 4
            for (int c = 0; c < cols; c++)
                acc[r][c] = add_products(is_wide, acc[r][c], w, x,
                                         tile->columns[c] + g);
        }
    }
#pragma GCC unroll 4
    for (int r = 0; r < Q64_ROWS; r++)
#pragma GCC unroll 4
        for (int c = 0; c < cols; c++)
            q64f_store((*tile->sums[c])[r], acc[r][c]);
}

static void
narrow_by_one(const struct tile *tile)
{
    add_super_blocks(tile, 1, false);
}

static void
narrow_by_cols(const struct tile *tile)
{
    add_super_blocks(tile, Q64_COLS, false);
}

static void
wide_by_one(const struct tile *tile)
{
    add_super_blocks(tile, 1, true);
}

static void
wide_by_cols(const struct tile *tile)
{
    add_super_blocks(tile, Q64_COLS, true);
}

static const struct {
    void (*by_one)(const struct tile *tile);
    void (*by_cols)(const struct tile *tile);
} kinds[] = {
    { narrow_by_one, narrow_by_cols },
    { wide_by_one, wide_by_cols },
};

/* The part's super-blocks, from number FROM on, times all columns. */
static void
add_part(bool is_wide, struct tile *tile, const struct gb_product *p,
         int64_t from, row_sums *sums)
{
    int64_t step;

    for (int64_t c = 0; c < p->cols; c += step) {
        step = c + Q64_COLS <= p->cols ? Q64_COLS : 1;
        for (int64_t i = 0; i < step; i++) {
            tile->columns[i] =
                (const struct gb_q8_super_block *)p->columns[c + i] + from;
            tile->sums[i] = &sums[c + i];
        }
        if (step == Q64_COLS)
            kinds[is_wide].by_cols(tile);
        else
            kinds[is_wide].by_one(tile);
    }
}

/* ROWS rows from X on, at most Q64_ROWS; in the place of those that are not
 * there are zeros. */
static void
interleave_rows(const struct gb_format_kernels *weight, int64_t k, int64_t rows,
          const void *x, size_t pitch, struct gb_interleaved *codes)
{
    const int64_t super_blocks = gb_cpu_ceil_div(k, GB_SUPER_BLOCK);

    weight->interleave(k, rows, x, pitch, codes);
    memset(codes + rows * super_blocks, 0,
           (size_t)((Q64_ROWS - rows) * super_blocks) * sizeof(*codes));
}

_Static_assert(Q64_ROWS * PART * sizeof(struct gb_interleaved) +
                       GB_SKINNY_COLS_MAX * sizeof(row_sums) <=
                   GB_PRODUCT_SCRATCH,
               "the turned super_blocks' and the sums' place");

void
GB_K(skinny_int8)(const struct gb_format_kernels *weight, const struct gb_product *p)
{
    const struct gb_format *format = weight->format;
    const bool is_wide = format->dot4s == 0;
    const size_t part_bytes =
        PART * GB_SUPER_BLOCK / (size_t)format->block * format->bytes;
    struct gb_interleaved *codes = p->scratch;
    row_sums *sums = (row_sums *)(codes + Q64_ROWS * PART);

    for (int64_t r = 0; r < p->rows; r += Q64_ROWS) {
        const int64_t rows = gb_cpu_min(Q64_ROWS, p->rows - r);
        const char *x = (const char *)p->weights + (size_t)r * p->pitch;

        memset(sums, 0, (size_t)p->cols * sizeof(*sums));
        for (int64_t k = 0; k < p->k; k += PART * GB_SUPER_BLOCK, x += part_bytes) {
            const int64_t n = gb_cpu_min(PART * GB_SUPER_BLOCK, p->k - k);
            struct tile tile = {
                .codes = codes,
                .super_blocks = gb_cpu_ceil_div(n, GB_SUPER_BLOCK),
            };

            interleave_rows(weight, n, rows, x, p->pitch, codes);
            add_part(is_wide, &tile, p, k / GB_SUPER_BLOCK, sums);
        }
        for (int64_t c = 0; c < p->cols; c++)
            for (int64_t i = 0; i < rows; i++)
                p->dst[c][r + i] = q64f_sum(q64f_load(sums[c][i]),
                                            q64f_zero(), qf_zero());
    }
}
