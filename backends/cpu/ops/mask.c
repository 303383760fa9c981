/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/mask.c - diagonals: a matrix from one, or all right of one replaced.
 *
 * DIAG, DIAG_MASK_INF and DIAG_MASK_ZERO.  Rows are dimension 1 of a matrix,
 * columns dimension 0; dimensions 2 and 3 are batches.
 *
 * Threads   tiles are rows of dst (ops/rows.h).
 * Accuracy  values are copied, bit by bit.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <math.h>
#include <string.h>

/*
 * DIAG: dst[i0, i1, i2, i3] = i0 == i1 ? src0[i0, 0, i2, i3] : 0
 *
 *   src0   F32 [n, 1, n2, n3], any strides
 *   dst    F32 [n, n, n2, n3], rows dense, any other strides
 */
static bool
diag_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) && a->ne[1] == 1 &&
           gb_cpu_has_shape(node, a->ne[0], a->ne[0], a->ne[2], a->ne[3]);
}

static enum ggml_status
diag_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        char *const to = gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);

        memset(to, 0, (size_t)node->ne[0] * sizeof(float));
        memcpy(to + (size_t)at.i1 * sizeof(float),
               gb_cpu_row_ptr(a, 0, at.i2, at.i3) +
                   (size_t)at.i1 * a->nb[0],
               sizeof(float));
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_diag = {
    .n_src = 1,
    .can_run = diag_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = diag_run,
};

/*
 * DIAG_MASK_INF, DIAG_MASK_ZERO: the causal mask of attention,
 *
 *     dst[i0, i1, ..] = i0 <= n_past + i1 ? src0[i0, i1, ..] : value
 *
 * with value -inf (before a softmax) or 0 (behind it, and in gradients).
 *
 *   src0   F32, any strides
 *   dst    F32, the same shape, rows dense; may be src0 itself
 *   params n_past: keys that stood before the first query, not negative
 */
static bool
diag_mask_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) && ggml_are_same_shape(a, node) &&
           gb_cpu_param_i32(node, 0) >= 0;
}

static enum ggml_status
diag_mask_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const float value = node->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0.0f;
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const struct gb_cpu_line from =
            gb_cpu_line_at(a, at.i1, at.i2, at.i3);
        const int64_t seen = gb_cpu_param_i32(node, 0) + at.i1 + 1;
        const int64_t keep = seen < node->ne[0] ? seen : node->ne[0];
        float *const values = (void *)to.data;

        /* In place only the part that is hidden is written. */
        if (to.data != from.data)
            gb_cpu_line_copy(task->k, &to, 0, &from, 0, keep);
        for (int64_t i = keep; i < node->ne[0]; i++)
            values[i] = value;
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_diag_mask = {
    .n_src = 1,
    .can_run = diag_mask_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = diag_mask_run,
};
