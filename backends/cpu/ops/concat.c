/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/concat.c - one tensor behind another along a dimension.
 *
 * CONCAT along dimension dim, with i[dim] the index there:
 *     dst[..., i[dim], ...] = src0[..., i[dim], ...]     i[dim] < src0->ne[dim]
 *                             src1[..., i[dim] - src0->ne[dim], ...]     else
 *
 *   src0, src1  one type and, but for dimension dim, one shape; any strides,
 *               quantised types with dense rows
 *   dst         that type; ne[dim] is the sum of both
 *   param       dim, 0 to 3
 *
 * Threads   tiles are whole rows of dst.
 * Accuracy  bits are copied.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

/* A row of src0 is whole blocks, so along dimension 0 that of src1 begins with
 * a block of dst. */
static bool
concat_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    const uint32_t dim = (uint32_t)gb_cpu_param_i32(node, 0);

    if (a->type != node->type || b->type != node->type ||
        dim >= GGML_MAX_DIMS)
        return false;
    for (uint32_t d = 0; d < GGML_MAX_DIMS; d++)
        if (node->ne[d] != (d == dim ? a->ne[d] + b->ne[d] : a->ne[d]) ||
            (d != dim && b->ne[d] != a->ne[d]))
            return false;
    return ggml_blck_size(node->type) == 1 ||
           (gb_is_dense(a) && gb_is_dense(b) &&
            gb_is_dense(node));
}

/* Along dimension 0 each row of dst is a row of src0, then one of src1; along
 * others it is a row of one of the two. */
static enum ggml_status
concat_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int dim = gb_cpu_param_i32(node, 0);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        int64_t i[GGML_MAX_DIMS] = { 0, at.i1, at.i2, at.i3 };
        struct gb_cpu_line from;

        if (i[dim] < a->ne[dim]) {
            from = gb_cpu_line_at(a, i[1], i[2], i[3]);
            gb_cpu_line_copy(task->k, &to, 0, &from, 0, a->ne[0]);
        }
        if (dim == 0) {
            from = gb_cpu_line_at(b, i[1], i[2], i[3]);
            gb_cpu_line_copy(task->k, &to, a->ne[0], &from, 0, b->ne[0]);
        } else if (i[dim] >= a->ne[dim]) {
            i[dim] -= a->ne[dim];
            from = gb_cpu_line_at(b, i[1], i[2], i[3]);
            gb_cpu_line_copy(task->k, &to, 0, &from, 0, b->ne[0]);
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_concat = {
    .n_src = 2,
    .can_run = concat_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = concat_run,
};
