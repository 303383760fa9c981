/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/matmul-id.c - products with matrices that are chosen for each column.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/activations.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include "lib/base/status.h"

/*
 * D[:, x, y] = the matrix A[:, :, ids[x, y]] times B[:, x % u, y], u being B's
 * rows for each y.
 *
 *   src0   experts' weights of any type, [k, m, experts]; rows dense
 *   src1   F32, or what the weights' type is multiplied with, [k, u, n];
 *          likewise
 *   src2   ids, I32 [slots, n], any strides
 *   dst    F32 [m, slots, n], rows dense
 *
 * Threads   tiles are some rows of one expert, with all columns that chose it;
 *           where there are no more columns than experts, of one column.
 * Errors    an id that is no expert's fails the graph: any, if there is none.
 */

#define TILE_ROWS   64
#define TILE_COLS   GB_SKINNY_COLS_MAX /* that go through a kernel at a time */

static bool
mul_mat_id_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct ggml_tensor *ids = node->src[2];

    return node->type == GGML_TYPE_F32 && gb_is_dense(node) &&
           ids->type == GGML_TYPE_I32 && ggml_is_matrix(ids) &&
           a->ne[3] == 1 && b->ne[3] == 1 && ids->ne[1] == b->ne[2] &&
           gb_cpu_divides(b->ne[1], ids->ne[0]) &&
           gb_cpu_has_shape(node, a->ne[1], ids->ne[0], b->ne[2], 1) &&
           gb_cpu_can_multiply(a, b);
}

/* How a product is cut. */
struct cut {
    bool by_column; /* else by expert */
    enum gb_path path;
    int64_t row_step;
    int64_t row_tiles;
    int64_t groups; /* columns or experts */
};

static struct cut
cut_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t columns = node->ne[1] * node->ne[2];
    struct cut cut;
    int64_t cols;

    /* Without an expert, which no id can name, there is nothing to go by. */
    cut.by_column = columns <= a->ne[2] || a->ne[2] == 0;
    cut.groups = cut.by_column ? columns : a->ne[2];
    /* Some experts get more than their share. */
    cols = cut.by_column ? 1 : GB_GEMV_COLS_FLOAT + columns / a->ne[2];
    cut.path = gb_cpu_path(a, cols);
    cut.row_step =
        cut.path == GB_PATH_GEMM ? TILE_ROWS : gb_cpu_gemv_rows(a, cols);
    cut.row_tiles = (a->ne[1] + cut.row_step - 1) / cut.row_step;
    return cut;
}

static int64_t
mul_mat_id_tiles(const struct ggml_tensor *node)
{
    const struct cut cut = cut_of(node);

    return cut.groups * cut.row_tiles;
}

static size_t
mul_mat_id_scratch(const struct ggml_tensor *node)
{
    (void)node;
    return GB_PRODUCT_SCRATCH + 2 * TILE_COLS * sizeof(void *);
}

static size_t
mul_mat_id_shared(const struct ggml_tensor *node)
{
    return gb_cpu_activations_bytes(
        node->src[0], node->src[1], cut_of(node).path);
}

static int32_t
id_at(const struct ggml_tensor *ids, int64_t x, int64_t y)
{
    return *(const int32_t *)(const void *)(
        (const char *)ids->data + (size_t)x * ids->nb[0] +
        (size_t)y * ids->nb[1]);
}

/* The tiles of the columns, and one more that looks at the ids. */
static int64_t
mul_mat_id_prepare_tiles(const struct ggml_tensor *node)
{
    return gb_cpu_activations_tiles(node->src[0], node->src[1]) + 1;
}

static enum ggml_status
check_ids(const struct ggml_tensor *node)
{
    const int64_t experts = node->src[0]->ne[2];

    for (int64_t y = 0; y < node->ne[2]; y++) {
        for (int64_t x = 0; x < node->ne[1]; x++) {
            const int32_t id = id_at(node->src[2], x, y);

            if (id < 0 || id >= experts)
                return gb_fail(GGML_STATUS_FAILED,
                               "mul_mat_id: %s wants expert %d of %lld",
                               node->name, (int)id, (long long)experts);
        }
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
mul_mat_id_prepare(const struct gb_cpu_task *task, int64_t tile)
{
    if (tile == task->n_tiles - 1)
        return check_ids(task->node);
    gb_cpu_activations_pack(task, cut_of(task->node).path, tile);
    return GGML_STATUS_SUCCESS;
}

/* Some rows of one expert, and the columns gathered for them so far. */
struct gathering {
    const struct gb_cpu_task *task;
    enum gb_path path;
    struct gb_cpu_activations from;
    int64_t row;
    struct gb_product product;
    const void **columns;
    float **dst;
};

static void
flush(struct gathering *g)
{
    const struct gb_cpu_kernels *k = g->task->k;
    const struct gb_format_kernels *weight =
        k->format(g->task->node->src[0]->type);

    if (g->product.cols > 0)
        k->multiply(g->path, weight, &g->product);
    g->product.cols = 0;
}

static void
gather(struct gathering *g, int64_t x, int64_t y)
{
    const struct ggml_tensor *node = g->task->node;
    const int64_t at = g->product.cols;

    g->columns[at] =
        gb_cpu_column_at(&g->from, x % node->src[1]->ne[1], y, 0);
    g->dst[at] = (float *)(void *)gb_cpu_row_ptr(node, x, y, 0) + g->row;
    g->product.cols++;
    if (g->product.cols == TILE_COLS)
        flush(g);
}

static enum ggml_status
mul_mat_id_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct cut cut = cut_of(node);
    const int64_t row = tile % cut.row_tiles * cut.row_step;
    const int64_t group = tile / cut.row_tiles;
    const int64_t x = group % node->ne[1];
    const int64_t y = group / node->ne[1];
    const int64_t expert =
        cut.by_column ? id_at(node->src[2], x, y) : group;
    const int64_t rows_left = a->ne[1] - row;
    const void **columns =
        (const void **)(void *)((char *)task->scratch + GB_PRODUCT_SCRATCH);
    float **dst = (float **)(void *)(columns + TILE_COLS);
    struct gathering g = {
        .task = task,
        .path = cut.path,
        .row = row,
        .product = {
            .k = a->ne[0],
            .rows = rows_left < cut.row_step ? rows_left : cut.row_step,
            .weights = gb_cpu_row_ptr(a, row, expert, 0),
            .pitch = a->nb[1],
            .columns = columns,
            .dst = dst,
            .scratch = task->scratch,
        },
        .columns = columns,
        .dst = dst,
    };

    gb_cpu_activations_of(task, cut.path, &g.from);
    if (cut.by_column) {
        gather(&g, x, y);
    } else {
        for (int64_t j = 0; j < node->ne[2]; j++)
            for (int64_t i = 0; i < node->ne[1]; i++)
                if (id_at(node->src[2], i, j) == expert)
                    gather(&g, i, j);
    }
    flush(&g);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_mul_mat_id = {
    .n_src = 3,
    .can_run = mul_mat_id_can_run,
    .tiles = mul_mat_id_tiles,
    .scratch = mul_mat_id_scratch,
    .shared = mul_mat_id_shared,
    .prepare_tiles = mul_mat_id_prepare_tiles,
    .prepare = mul_mat_id_prepare,
    .run = mul_mat_id_run,
};
