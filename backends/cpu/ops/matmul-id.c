/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/matmul-id.c - products with matrices that are chosen for each column
 * (MUL_MAT_ID: the feed-forward layers of a mixture of experts).
 */
#include "config.h"

#include "backends/cpu/kernels/api/divide.h"
#include "backends/cpu/ops/activations.h"
#include "backends/cpu/ops/check.h"
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
 * Prepare   all columns are packed once, into the step's shared memory, for one
 *           path; one tile more checks the ids.
 * Dispatch  the path follows from the columns that an expert has in the mean:
 *           how many it really has is known only when the graph runs.
 * Threads   tiles are some rows of one expert, with all columns that chose it;
 *           where there are no more columns than experts, of one column.  An
 *           expert that no column chose costs a look through the ids.
 * Accuracy  as MUL_MAT (ops/matmul.c): each result is one product's, whatever
 *           the other columns are.
 * Errors    an id that is no expert's fails the graph: any, if there is none.
 */

/* Rows of a tile of the GEMM: each tile unpacks its own rows, and a panel has
 * at most 32 of them.  GEMV and skinny GEMM take gb_cpu_gemv_rows() of them. */
#define TILE_ROWS 64
#define TILE_COLS GB_SKINNY_COLS_MAX /* that go through a kernel at a time */
#define MORE_COLS 3                  /* that an expert may have above the mean */

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

/* How a product is computed, and divided into tiles. */
struct tiling {
    const struct gb_format_kernels *weight;
    bool by_column;    /* else by expert */
    int64_t row_step;
    int64_t row_tiles; /* of a column or expert */
    struct gb_cpu_activations columns;
};

_Static_assert(sizeof(struct tiling) <= GB_CPU_TILING_MAX, "its place");

static void
mul_mat_id_tile(const struct ggml_tensor *node, const struct gb_cpu_kernels *k,
                void *out, struct gb_cpu_needs *needs)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int64_t columns = node->ne[1] * node->ne[2];
    struct tiling *tiling = out;
    enum gb_path path;
    int64_t cols;

    /* Without an expert, which no id can name, there is nothing to go by. */
    tiling->by_column = columns <= a->ne[2] || a->ne[2] == 0;
    /* Some experts get more than their share. */
    cols = tiling->by_column ? 1 : MORE_COLS + columns / a->ne[2];
    tiling->weight = gb_cpu_weight_kernels(k, a);
    path = gb_path_of(tiling->weight->format, a->ne[0], cols);
    tiling->row_step =
        path == GB_PATH_GEMM ? TILE_ROWS : gb_cpu_gemv_rows(a, cols);
    tiling->row_tiles = gb_cpu_ceil_div(a->ne[1], tiling->row_step);
    gb_cpu_activations_init(&tiling->columns, b, tiling->weight->format, path);
    needs->tiles =
        (tiling->by_column ? columns : a->ne[2]) * tiling->row_tiles;
    needs->scratch = GB_PRODUCT_SCRATCH + 2 * TILE_COLS * sizeof(void *);
    needs->shared = gb_cpu_activations_bytes(&tiling->columns, b);
    /* The tiles of the columns, and one more that looks at the ids. */
    needs->prepare_tiles = gb_cpu_activations_tiles(&tiling->columns, b) + 1;
    needs->prepared_as = 0;
}

/* ids[x, y]: the expert that slot X of token Y chose. */
static int32_t
id_at(const struct ggml_tensor *ids, int64_t x, int64_t y)
{
    return *(const int32_t *)(const void *)(
        (const char *)ids->data + (size_t)x * ids->nb[0] +
        (size_t)y * ids->nb[1]);
}

/* All ids are looked at before the first product, so that a bad one is an error
 * and not a read behind the experts. */
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
    const struct tiling *tiling = task->tiling;

    if (tile == task->n_tiles - 1)
        return check_ids(task->node);
    gb_cpu_activations_pack(task, &tiling->columns, tile);
    return GGML_STATUS_SUCCESS;
}

/* Some rows of one expert, and the columns gathered for them so far. */
struct gathering {
    const struct gb_cpu_task *task;
    int64_t row;
    struct gb_product product;
    const void **columns;
    float **dst;
};

/* How many columns an expert has is known only now; where they are floats,
 * which all paths take as they are, it decides. */
static void
flush(struct gathering *g)
{
    const struct tiling *tiling = g->task->tiling;
    const bool is_float = gb_cpu_is_float(g->task->node->src[0]->type);

    if (g->product.cols > 0)
        g->task->k->multiply(is_float ? gb_path_of(tiling->weight->format,
                                                   g->product.k,
                                                   g->product.cols)
                                      : tiling->columns.path,
                             tiling->weight, &g->product);
    g->product.cols = 0;
}

/* Column (x, y) joins the product.  When there is no room for another one, what
 * has been gathered is multiplied, and the next ones start anew. */
static void
gather(struct gathering *g, int64_t x, int64_t y)
{
    const struct tiling *tiling = g->task->tiling;
    const struct ggml_tensor *node = g->task->node;
    const int64_t at = g->product.cols;

    GB_INVARIANT(at < TILE_COLS && g->product.rows <= tiling->row_step);
    g->columns[at] = gb_cpu_column_at(g->task, &tiling->columns,
                                      x % node->src[1]->ne[1], y, 0);
    g->dst[at] = (float *)(void *)gb_cpu_row_ptr(node, x, y, 0) + g->row;
    g->product.cols++;
    if (g->product.cols == TILE_COLS)
        flush(g);
}

/* A tile's number is row tile + row_tiles * (column or expert). */
static enum ggml_status
mul_mat_id_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct tiling *tiling = task->tiling;
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t row = tile % tiling->row_tiles * tiling->row_step;
    const int64_t number = tile / tiling->row_tiles; /* column's, or expert's */
    const int64_t x = number % node->ne[1];
    const int64_t y = number / node->ne[1];
    const int64_t expert =
        tiling->by_column ? id_at(node->src[2], x, y) : number;
    const void **columns =
        (const void **)(void *)((char *)task->scratch + GB_PRODUCT_SCRATCH);
    float **dst = (float **)(void *)(columns + TILE_COLS);
    struct gathering g = {
        .task = task,
        .row = row,
        .product = {
            .k = a->ne[0],
            .rows = gb_cpu_min(tiling->row_step, a->ne[1] - row),
            .weights = gb_cpu_row_ptr(a, row, expert, 0),
            .pitch = a->nb[1],
            .columns = columns,
            .dst = dst,
            .scratch = task->scratch,
        },
        .columns = columns,
        .dst = dst,
    };

    if (tiling->by_column) {
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
    .tile = mul_mat_id_tile,
    .tiling_size = sizeof(struct tiling),
    .prepare = mul_mat_id_prepare,
    .run = mul_mat_id_run,
};
