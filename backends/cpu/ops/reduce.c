/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/reduce.c - one number from a row or from everything.
 *
 * SUM SUM_ROWS MEAN ARGMAX COUNT_EQUAL:
 *
 *     SUM          dst[0] = the sum of all elements of src0
 *     SUM_ROWS     dst[0, i1, i2, i3] = the sum of src0[:, i1, i2, i3]
 *     MEAN         the same, divided by the row's length
 *     ARGMAX       dst[i1] = the index of the largest of src0[:, i1]
 *     COUNT_EQUAL  dst[0] = for how many indices src0 and src1 are equal
 *
 *   src0   F32, F16 or BF16 (COUNT_EQUAL: I32, src1 too), any strides
 *   dst    of sums a float type, of ARGMAX I32, of COUNT_EQUAL I64; any strides
 *
 * Threads   tiles are rows of src0; of SUM and COUNT_EQUAL, parts of
 *           GB_CPU_TILE_ELEMENTS elements in index order.  Each leaves its
 *           result in the shared memory, and finish() joins them in their
 *           order, so that it does not matter which thread was first.
 * Accuracy  sums are joined in double and rounded once.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"
#include "backends/cpu/ops/walk.h"
#include "lib/base/checked.h"

#include <string.h>

/* Parts of a whole tensor, GB_CPU_TILE_ELEMENTS in index order. */
static int64_t
part_tiles(const struct ggml_tensor *node)
{
    const int64_t n = ggml_nelements(node->src[0]);

    return (n + GB_CPU_TILE_ELEMENTS - 1) / GB_CPU_TILE_ELEMENTS;
}

/* Elements of part TILE of T; the last one may have fewer than the others. */
static int64_t
part_size(const struct ggml_tensor *t, int64_t tile)
{
    const int64_t left = ggml_nelements(t) - tile * GB_CPU_TILE_ELEMENTS;

    return left < GB_CPU_TILE_ELEMENTS ? left : GB_CPU_TILE_ELEMENTS;
}

/* One result a part; double and int64_t have the same size. */
static size_t
part_results(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)part_tiles(node), sizeof(double));
}

static bool
are_floats(const struct ggml_tensor *node)
{
    return gb_cpu_is_float(node->src[0]->type) && gb_cpu_is_float(node->type);
}

static bool
sum_can_run(const struct ggml_tensor *node)
{
    return are_floats(node) && ggml_is_scalar(node);
}

/* The sum of one part, run by run, to its place in the shared memory. */
static enum ggml_status
sum_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *a = task->node->src[0];
    struct gb_cpu_walk walk =
        gb_cpu_walk_begin(a, tile * GB_CPU_TILE_ELEMENTS);
    int64_t left = part_size(a, tile);
    double sum = 0.0;

    while (left > 0) {
        const struct gb_cpu_line line = gb_cpu_walk_line(&walk);
        const int64_t run = gb_cpu_walk_left(&walk);
        const int64_t n = run < left ? run : left;

        sum += gb_cpu_line_sum(task->k, &line, walk.at[0], n);
        gb_cpu_walk_advance(&walk, n);
        left -= n;
    }
    ((double *)task->shared)[tile] = sum;
    return GGML_STATUS_SUCCESS;
}

/* The sums of all parts in their order, rounded to dst's type. */
static enum ggml_status
sum_finish(const struct gb_cpu_task *task, int64_t tile)
{
    const struct gb_cpu_line to = gb_cpu_line_at(task->node, 0, 0, 0);
    const double *parts = task->shared;
    double sum = 0.0;
    float result;

    (void)tile;
    for (int64_t i = 0; i < part_tiles(task->node); i++)
        sum += parts[i];
    result = (float)sum;
    gb_cpu_convert(task->k, GGML_TYPE_F32, to.type, 1, to.data, &result);
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_sum = {
    .n_src = 1,
    .can_run = sum_can_run,
    .tiles = part_tiles,
    .shared = part_results,
    .run = sum_run,
    .finish = sum_finish,
};

/* Tiles are rows of the source: dst has one element for each. */
static int64_t
source_row_tiles(const struct ggml_tensor *node)
{
    return gb_cpu_tiles_by_rows(node->src[0]);
}

static bool
sum_rows_can_run(const struct ggml_tensor *node)
{
    return are_floats(node) && node->ne[0] == 1 &&
           gb_cpu_same_from(node, node->src[0], 1);
}

/* SUM_ROWS and MEAN; the mean of an empty row is NaN. */
static enum ggml_status
sum_rows_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(a, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(a, row);
        const struct gb_cpu_line from =
            gb_cpu_line_at(a, at.i1, at.i2, at.i3);
        const double sum = gb_cpu_line_sum(task->k, &from, 0, a->ne[0]);
        const float result = (float)(
            node->op == GGML_OP_MEAN ? sum / (double)a->ne[0] : sum);

        gb_cpu_convert(task->k, GGML_TYPE_F32, node->type, 1,
                       gb_cpu_row_ptr(node, at.i1, at.i2, at.i3), &result);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_sum_rows = {
    .n_src = 1,
    .can_run = sum_rows_can_run,
    .tiles = source_row_tiles,
    .run = sum_rows_run,
};

static bool
argmax_can_run(const struct ggml_tensor *node)
{
    return gb_cpu_is_float(node->src[0]->type) &&
           node->type == GGML_TYPE_I32 && ggml_is_matrix(node->src[0]) &&
           gb_cpu_has_shape(node, node->src[0]->ne[1], 1, 1, 1);
}

/* Room for a row of floats, for rows that are halves or have gaps. */
static size_t
argmax_scratch(const struct ggml_tensor *node)
{
    return gb_mul_or_max((size_t)node->src[0]->ne[0], sizeof(float));
}

/* The index of the largest element, the last one of several that are equal; 0
 * when all are NaN, which equals nothing.  The maximum is found with vectors
 * first, its place by a search from the end. */
static int32_t
last_largest(const struct gb_cpu_kernels *k, int64_t n, const float *x)
{
    const float max = k->max_f32(n, x);

    for (int64_t i = n - 1; i > 0; i--)
        if (x[i] == max)
            return (int32_t)i;
    return 0;
}

static enum ggml_status
argmax_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(a, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_line from = gb_cpu_line_at(a, row, 0, 0);
        const float *x =
            gb_cpu_line_read(task->k, &from, 0, a->ne[0], task->scratch);
        const int32_t index = last_largest(task->k, a->ne[0], x);

        memcpy((char *)node->data + (size_t)row * node->nb[0], &index,
               sizeof(index));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_argmax = {
    .n_src = 1,
    .can_run = argmax_can_run,
    .tiles = source_row_tiles,
    .scratch = argmax_scratch,
    .run = argmax_run,
};

static bool
count_equal_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return a->type == GGML_TYPE_I32 && b->type == GGML_TYPE_I32 &&
           node->type == GGML_TYPE_I64 && ggml_is_scalar(node) &&
           ggml_are_same_shape(a, b);
}

/* How many of the next N elements of A and B are equal; N is at most what is
 * left in either run. */
static int64_t
equal_in_run(const struct gb_cpu_walk *a, const struct gb_cpu_walk *b,
             int64_t n)
{
    const struct gb_cpu_line x = gb_cpu_walk_line(a);
    const struct gb_cpu_line y = gb_cpu_walk_line(b);
    int64_t count = 0;

    for (int64_t i = 0; i < n; i++)
        count += memcmp(x.data + (size_t)(a->at[0] + i) * x.stride,
                        y.data + (size_t)(b->at[0] + i) * y.stride,
                        sizeof(int32_t)) == 0;
    return count;
}

/* A and B have one shape but may have different runs; the shorter one
 * counts. */
static enum ggml_status
count_equal_run(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t first = tile * GB_CPU_TILE_ELEMENTS;
    struct gb_cpu_walk a = gb_cpu_walk_begin(task->node->src[0], first);
    struct gb_cpu_walk b = gb_cpu_walk_begin(task->node->src[1], first);
    int64_t left = part_size(task->node->src[0], tile);
    int64_t count = 0;

    while (left > 0) {
        const int64_t a_left = gb_cpu_walk_left(&a);
        const int64_t b_left = gb_cpu_walk_left(&b);
        const int64_t run = a_left < b_left ? a_left : b_left;
        const int64_t n = run < left ? run : left;

        count += equal_in_run(&a, &b, n);
        gb_cpu_walk_advance(&a, n);
        gb_cpu_walk_advance(&b, n);
        left -= n;
    }
    ((int64_t *)task->shared)[tile] = count;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
count_equal_finish(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t *parts = task->shared;
    int64_t count = 0;

    (void)tile;
    for (int64_t i = 0; i < part_tiles(task->node); i++)
        count += parts[i];
    memcpy(task->node->data, &count, sizeof(count));
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_count_equal = {
    .n_src = 2,
    .can_run = count_equal_can_run,
    .tiles = part_tiles,
    .shared = part_results,
    .run = count_equal_run,
    .finish = count_equal_finish,
};
