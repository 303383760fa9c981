/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/get-rows.c - rows picked by their numbers (embeddings), and its
 * gradient.
 *
 * GET_ROWS:
 *     dst[:, i, j, k] = src0[:, src1[i, j, k], j, k]
 *   src0   [n0, rows, m1, m2]: a float type or I32 with any strides, or a
 *          quantised type with dense rows
 *   src1   row numbers, I32 [m0, m1, m2], any strides
 *   dst    [n0, m0, m1, m2], rows dense: I32 for an I32 src0, else F32
 *
 * GET_ROWS_BACK:
 *     dst = 0, then dst[:, src1[i]] += src0[:, i] for each i in order
 *   src0   the gradient of the rows [n0, m0 or more], a float type, any strides
 *   src1   row numbers, I32 [m0]
 *   dst    F32 [n0, rows], rows dense
 *
 * Row numbers are known only when the graph is computed: one below 0 or not
 * below the number of rows ends that with GGML_STATUS_FAILED and a message.
 *
 * Threads   tiles are whole rows of dst.
 * Accuracy  GET_ROWS converts as line.h does; GET_ROWS_BACK adds in F32.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include "lib/base/status.h"

#include <string.h>

/* The number at (i0, i1, i2) of an I32 tensor of any strides. */
static int64_t
number_at(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2)
{
    int32_t number;

    memcpy(&number, gb_cpu_row_ptr(t, i1, i2, 0) + (size_t)i0 * t->nb[0],
           sizeof(number));
    return number;
}

/* Fail with a message: NUMBER is not that of one of N_ROWS rows. */
static enum ggml_status
no_such_row(const struct ggml_tensor *node, int64_t number, int64_t n_rows)
{
    return gb_fail(GGML_STATUS_FAILED, "%s %s: there is no row %lld of %lld",
                   node->op == GGML_OP_GET_ROWS ? "get_rows" : "get_rows_back",
                   node->name, (long long)number, (long long)n_rows);
}

/* Shapes agree and src0 can be read; the numbers are checked by each tile. */
static bool
get_rows_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    if (b->type != GGML_TYPE_I32 || !gb_is_dense(node) ||
        a->ne[2] != b->ne[1] || a->ne[3] != b->ne[2] || b->ne[3] != 1 ||
        !gb_cpu_has_shape(node, a->ne[0], b->ne[0], b->ne[1], b->ne[2]))
        return false;
    if (a->type == GGML_TYPE_I32)
        return node->type == GGML_TYPE_I32;
    return node->type == GGML_TYPE_F32 && gb_cpu_can_read(a);
}

static enum ggml_status
get_rows_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const int64_t number =
            number_at(node->src[1], at.i1, at.i2, at.i3);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        struct gb_cpu_line from;

        if (number < 0 || number >= a->ne[1])
            return no_such_row(node, number, a->ne[1]);
        from = gb_cpu_line_at(a, number, at.i2, at.i3);
        gb_cpu_line_copy(task->k, &to, 0, &from, 0, node->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_get_rows = {
    .n_src = 2,
    .can_run = get_rows_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = get_rows_run,
};

/* Matrices only; src0 has a row for each number. */
static bool
get_rows_back_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_cpu_is_float(a->type) && b->type == GGML_TYPE_I32 &&
           node->type == GGML_TYPE_F32 && gb_is_dense(node) &&
           a->ne[0] == node->ne[0] && a->ne[1] >= b->ne[0] &&
           ggml_is_matrix(a) && ggml_is_matrix(node) && ggml_is_vector(b);
}

/* A tile goes through all numbers and adds the rows that belong to its own rows
 * of dst.  So no two threads write the same row, and the order of additions,
 * and with it the result, does not depend on the threads. */
static enum ggml_status
get_rows_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *b = node->src[1];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);
    const int64_t n = node->ne[0];

    for (int64_t row = rows.first; row < rows.last; row++)
        memset(gb_cpu_row_ptr(node, row, 0, 0), 0,
               (size_t)n * sizeof(float));
    for (int64_t i = 0; i < b->ne[0]; i++) {
        const int64_t number = number_at(b, i, 0, 0);
        const struct gb_cpu_line from = gb_cpu_line_at(node->src[0], i, 0, 0);

        if (number < 0 || number >= node->ne[1])
            return no_such_row(node, number, node->ne[1]);
        if (number >= rows.first && number < rows.last)
            gb_cpu_line_add(task->k, &from, 0, n,
                            (void *)gb_cpu_row_ptr(node, number, 0, 0));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_get_rows_back = {
    .n_src = 2,
    .can_run = get_rows_back_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = get_rows_back_run,
};
