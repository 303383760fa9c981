/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/matmul.c - products of matrices.
 */
#include "backends/cpu/ops/columns.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

/*
 * D[m, n, p, q] = the sum over k of A[k, m, p / r2, q / r3] * B[k, n, p, q],
 * r2 and r3 saying how many matrices of B share one of A.
 *
 *   src0   weights of any type; rows dense, any other strides
 *   src1   F32, or what the weights' type is multiplied with; likewise
 *   dst    F32, rows dense
 *
 * Quantised weights are multiplied with activations of 8 bits, some of 16 (see
 * isa/weight.h), in integers and with float scales; float weights with F32.
 *
 * Threads   tiles of rows by columns, cut by the shape alone, never a sum.
 * Accuracy  float sums in the order of k (few columns: in lanes).
 */

/* A tile's extent.  Columns are a multiple of what any level's kernels take at
 * a time; few of them go by rows. */
#define TILE_ROWS     64
#define TILE_COLS     264
#define TILE_COLS_MIN 66
#define TILES_WANTED  32

/* How a product is cut.  All columns of B that meet the same matrix of A are
 * taken together. */
struct cut {
    int64_t cols;      /* for each matrix of A */
    int64_t row_step;  /* of a tile */
    int64_t col_step;
    int64_t row_tiles; /* in a matrix */
    int64_t col_tiles;
    int64_t matrices;  /* of A */
    bool few;          /* columns; they are prepared differently */
};

static int64_t
parts(int64_t n, int64_t step)
{
    return (n + step - 1) / step;
}

static struct cut
cut_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct cut cut;

    cut.matrices = a->ne[2] * a->ne[3];
    cut.cols = node->ne[1] * (node->ne[2] / a->ne[2]) *
               (node->ne[3] / a->ne[3]);
    cut.row_step = TILE_ROWS;
    cut.col_step = TILE_COLS;
    cut.few = cut.cols < GB_FEW_COLS;
    if (cut.few)
        cut.row_step = gb_cpu_few_rows(a);
    cut.row_tiles = parts(a->ne[1], cut.row_step);
    while (cut.col_step > TILE_COLS_MIN &&
           cut.matrices * cut.row_tiles * parts(cut.cols, cut.col_step) <
               TILES_WANTED)
        cut.col_step /= 2;
    cut.col_tiles = parts(cut.cols, cut.col_step);
    return cut;
}

static bool
mul_mat_can_run(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 && node->nb[0] == sizeof(float) &&
           gb_cpu_can_multiply(node->src[0], node->src[1]);
}

static int64_t
mul_mat_tiles(const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(node);

    return cut.row_tiles * cut.col_tiles * cut.matrices;
}

/* The kernel's, and the addresses of columns and of their results. */
static size_t
mul_mat_scratch(const struct ggml_tensor *node)
{
    (void)node;
    return GB_PRODUCT_SCRATCH + 2 * TILE_COLS * sizeof(void *);
}

static size_t
mul_mat_shared(const struct ggml_tensor *node)
{
    return gb_cpu_columns_bytes(
        node->src[0], node->src[1], cut_of(node).few);
}

static int64_t
mul_mat_prepare_tiles(const struct ggml_tensor *node)
{
    return gb_cpu_columns_tiles(node->src[0], node->src[1]);
}

static enum ggml_status
mul_mat_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    gb_cpu_columns_prepare(task, cut_of(task->node).few, tile);
    return GGML_STATUS_SUCCESS;
}

static int64_t
min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static enum ggml_status
mul_mat_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct cut cut = cut_of(node);
    const int64_t r2 = node->ne[2] / a->ne[2];
    const int64_t r3 = node->ne[3] / a->ne[3];
    const int64_t row = tile % cut.row_tiles * cut.row_step;
    const int64_t col = tile / cut.row_tiles % cut.col_tiles * cut.col_step;
    const int64_t matrix = tile / cut.row_tiles / cut.col_tiles;
    const int64_t a2 = matrix % a->ne[2];
    const int64_t a3 = matrix / a->ne[2];
    const void **columns =
        (const void **)(void *)((char *)task->scratch + GB_PRODUCT_SCRATCH);
    float **dst = (float **)(void *)(columns + TILE_COLS);
    const struct gb_product product = {
        .k = a->ne[0],
        .rows = min_of(cut.row_step, a->ne[1] - row),
        .cols = min_of(cut.col_step, cut.cols - col),
        .weights = gb_cpu_row_ptr(a, row, a2, a3),
        .pitch = a->nb[1],
        .columns = columns,
        .dst = dst,
        .scratch = task->scratch,
    };

    for (int64_t c = 0; c < product.cols; c++) {
        const int64_t i1 = (col + c) % node->ne[1];
        const int64_t shared_by = (col + c) / node->ne[1];
        const int64_t i2 = a2 * r2 + shared_by % r2;
        const int64_t i3 = a3 * r3 + shared_by / r2;

        columns[c] = gb_cpu_column_at(task, cut.few, i1, i2, i3);
        dst[c] = (float *)(void *)gb_cpu_row_ptr(node, i1, i2, i3) + row;
    }
    if (cut.few)
        task->k->product_few(task->k->weight(a->type), &product);
    else
        task->k->product(task->k->weight(a->type), &product);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_mul_mat = {
    .can_run = mul_mat_can_run,
    .tiles = mul_mat_tiles,
    .scratch = mul_mat_scratch,
    .shared = mul_mat_shared,
    .prepare_tiles = mul_mat_prepare_tiles,
    .prepare = mul_mat_prepare,
    .run = mul_mat_run,
};
