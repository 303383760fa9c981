/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/out-prod.c - sums of outer products (OUT_PROD), which are the
 * gradient of a matrix product for its weights.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "lib/base/checked.h"

/*
 * D[i, j, p, q] = the sum over k of A[i, k, p / r2, q / r3] * B[j, k, p, q], r2
 * and r3 saying how many matrices of B share one of A.
 *
 *   src0   A [m, k, p / r2, q / r3], any type that can be read; rows dense, any
 *          other strides
 *   src1   B [n, k, p, q], F32, any strides
 *   dst    D [m, n, p, q], F32, rows dense, any other strides
 *
 * Here k is dimension 1 of both operands: weights are stored transposed, with
 * the values of one k side by side.  The micro-kernel reads those as they are,
 * one vector of i for each k.  First B's dimension 1 is packed into columns,
 * and A is made floats if it has other values; both lie in the step's shared
 * memory:
 *
 *     | n * p * q columns of k floats | A as floats, if it is not in place |
 *
 * Threads   tiles of D's rows; a sum is never divided.
 * Accuracy  float sums in the order of k.
 */

#define TILE_COLS 66 /* rows of D in a tile; a multiple of what kernels take */

static bool
out_prod_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_cpu_can_read(a) && gb_is_dense(a) &&
           b->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) && a->ne[1] == b->ne[1] &&
           gb_cpu_has_shape(node, a->ne[0], b->ne[0], b->ne[2], b->ne[3]) &&
           gb_cpu_divides(a->ne[2], b->ne[2]) &&
           gb_cpu_divides(a->ne[3], b->ne[3]);
}

/* Can A be read where it is?  Its rows are addressed in floats, so their stride
 * has to be a whole number of them. */
static bool
is_in_place(const struct ggml_tensor *a)
{
    return a->type == GGML_TYPE_F32 && a->nb[1] % sizeof(float) == 0;
}

/* Columns of B: one for each (j, p, q). */
static int64_t
n_columns(const struct ggml_tensor *node)
{
    return node->ne[1] * node->ne[2] * node->ne[3];
}

/* Columns, and A where it is copied; SIZE_MAX where their number does not
 * fit. */
static size_t
out_prod_shared(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const size_t copied = is_in_place(a) ? 0 : (size_t)ggml_nelements(a);
    const size_t columns =
        gb_mul_or_max((size_t)n_columns(node), (size_t)a->ne[1]);

    return gb_mul_or_max(gb_add_or_max(columns, copied), sizeof(float));
}

/* Tiles that pack columns come first, then those that convert rows of A. */
static int64_t
out_prod_prepare_tiles(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t columns =
        (n_columns(node) + TILE_COLS - 1) / TILE_COLS;

    return columns + (is_in_place(a) ? 0 : gb_cpu_tiles_by_rows(a));
}

/* Where the column of D's row (j, p, q) is. */
static float *
column_at(const struct gb_cpu_task *task, int64_t j, int64_t p, int64_t q)
{
    const struct ggml_tensor *node = task->node;

    if (task->shared == NULL)
        return NULL;
    return (float *)task->shared +
           (j + node->ne[1] * (p + node->ne[2] * q)) * node->src[0]->ne[1];
}

/* Where A's row (k, i2, i3) is when it had to be made floats. */
static float *
copied_row(const struct gb_cpu_task *task, int64_t k, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = task->node->src[0];

    return (float *)task->shared + n_columns(task->node) * a->ne[1] +
           (k + a->ne[1] * (i2 + a->ne[2] * i3)) * a->ne[0];
}

/* TILE_COLS columns of B become contiguous. */
static void
lay_out_columns(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *b = node->src[1];
    const int64_t end = n_columns(node);

    for (int64_t c = tile * TILE_COLS; c < (tile + 1) * TILE_COLS && c < end;
         c++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, c);
        const char *from = gb_cpu_place(b->data, (size_t)at.i1 * b->nb[0] +
                                                     (size_t)at.i2 * b->nb[2] +
                                                     (size_t)at.i3 * b->nb[3]);

        gb_cpu_gather(b->ne[1], sizeof(float),
                      column_at(task, at.i1, at.i2, at.i3), from, b->nb[1]);
    }
}

/* Some rows of A become floats. */
static void
copy_rows(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *a = task->node->src[0];
    const struct gb_cpu_row_range range = gb_cpu_tile_rows(a, tile);

    for (int64_t row = range.first; row < range.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(a, row);

        gb_cpu_convert(task->k, a->type, GGML_TYPE_F32, a->ne[0],
                       copied_row(task, at.i1, at.i2, at.i3),
                       gb_cpu_row_ptr(a, at.i1, at.i2, at.i3));
    }
}

static enum ggml_status
out_prod_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t for_columns =
        (n_columns(task->node) + TILE_COLS - 1) / TILE_COLS;

    if (tile < for_columns)
        lay_out_columns(task, tile);
    else
        copy_rows(task, tile - for_columns);
    return GGML_STATUS_SUCCESS;
}

/* Tiles in each matrix of D. */
static int64_t
tiles_each(const struct ggml_tensor *node)
{
    return (node->ne[1] + TILE_COLS - 1) / TILE_COLS;
}

static int64_t
out_prod_tiles(const struct ggml_tensor *node)
{
    return tiles_each(node) * node->ne[2] * node->ne[3];
}

static size_t
out_prod_scratch(const struct ggml_tensor *node)
{
    (void)node;
    return GB_PRODUCT_SCRATCH;
}

/* The columns first .. first + TILE_COLS - 1 of matrix (p, q) of D: all m rows
 * of A times those. */
static enum ggml_status
out_prod_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t each = tiles_each(node);
    const int64_t first = tile % each * TILE_COLS;
    const int64_t p = tile / each % node->ne[2];
    const int64_t q = tile / each / node->ne[2];
    const int64_t a2 = p / (node->ne[2] / a->ne[2]);
    const int64_t a3 = q / (node->ne[3] / a->ne[3]);
    const bool in_place = is_in_place(a);
    const void *columns[TILE_COLS];
    float *dst[TILE_COLS];
    struct gb_product product = {
        .k = a->ne[1],
        .rows = a->ne[0],
        .pitch = in_place ? a->nb[1] : (size_t)a->ne[0] * sizeof(float),
        .columns = columns,
        .dst = dst,
        .scratch = task->scratch,
    };

    product.weights = in_place ? (const void *)gb_cpu_row_ptr(a, 0, a2, a3)
                               : copied_row(task, 0, a2, a3);
    for (int64_t j = first; j < node->ne[1] && j < first + TILE_COLS; j++) {
        columns[product.cols] = column_at(task, j, p, q);
        dst[product.cols] = (float *)(void *)gb_cpu_row_ptr(node, j, p, q);
        product.cols++;
    }
    task->k->outer(&product, false);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_out_prod = {
    .n_src = 2,
    .can_run = out_prod_can_run,
    .tiles = out_prod_tiles,
    .scratch = out_prod_scratch,
    .shared = out_prod_shared,
    .prepare_tiles = out_prod_prepare_tiles,
    .prepare = out_prod_prepare,
    .run = out_prod_run,
};
