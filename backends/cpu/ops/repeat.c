/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/repeat.c - a tensor tiled over a larger shape, and the sum of tiles.
 *
 * REPEAT REPEAT_BACK.  In each dimension the larger shape is a multiple of the
 * smaller one.
 *
 * Threads   tiles are rows of dst (ops/rows.h).
 */
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

/*
 * REPEAT: dst[i, j, k, l] = src0[i % n0, j % n1, k % n2, l % n3]
 *
 *   src0   [n0, n1, n2, n3] of any type; of a quantised one with dense rows
 *   dst    of the same type, rows dense, any other strides
 *
 * Values are copied as they are, a quantised type's by whole blocks.
 */
static bool
repeat_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return a->type == node->type && gb_is_dense(node) &&
           (gb_is_dense(a) || ggml_blck_size(a->type) == 1) &&
           ggml_can_repeat(a, node);
}

static enum ggml_status
repeat_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const size_t row_bytes = ggml_row_size(node->type, node->ne[0]);
    const size_t tile_bytes = ggml_row_size(a->type, a->ne[0]);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const struct gb_cpu_line from = gb_cpu_line_at(
            a, at.i1 % a->ne[1], at.i2 % a->ne[2], at.i3 % a->ne[3]);
        size_t done = tile_bytes;

        gb_cpu_line_copy(task->k, &to, 0, &from, 0, a->ne[0]);
        /* Copies double in length, so that many short tiles take few calls. */
        while (done < row_bytes) {
            const size_t rest = row_bytes - done;
            const size_t len = done < rest ? done : rest;

            memcpy(to.data + done, to.data, len);
            done += len;
        }
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_repeat = {
    .n_src = 1,
    .can_run = repeat_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = repeat_run,
};

/*
 * REPEAT_BACK, the gradient of REPEAT: dst is the sum of all tiles of src0,
 *
 *     dst[i, j, k, l] = sum over a, b, c, d of
 *         src0[i + a * n0, j + b * n1, k + c * n2, l + d * n3]
 *
 *   src0   F32, F16 or BF16, any strides
 *   dst    F32 [n0, n1, n2, n3], rows dense
 *
 * Accuracy  float sums in index order; rows of one element in double.
 */
static bool
repeat_back_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return gb_cpu_is_float(a->type) && node->type == GGML_TYPE_F32 &&
           gb_is_dense(node) && ggml_can_repeat(node, a);
}

/* All tiles' rows for one row of dst. */
static void
sum_rows_of_tiles(const struct gb_cpu_task *task, const struct gb_cpu_row *at)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t n = node->ne[0];
    float *const dst = (void *)gb_cpu_row_ptr(node, at->i1, at->i2, at->i3);
    double sum = 0.0;

    memset(dst, 0, (size_t)n * sizeof(float));
    /* There may be any number of rows without elements. */
    if (ggml_is_empty(a))
        return;
    for (int64_t i3 = at->i3; i3 < a->ne[3]; i3 += node->ne[3])
        for (int64_t i2 = at->i2; i2 < a->ne[2]; i2 += node->ne[2])
            for (int64_t i1 = at->i1; i1 < a->ne[1]; i1 += node->ne[1]) {
                const struct gb_cpu_line from = gb_cpu_line_at(a, i1, i2, i3);

                /* What the loop would do, for tiles of one element. */
                if (n == 1)
                    sum += gb_cpu_line_sum(task->k, &from, 0, a->ne[0]);
                for (int64_t i0 = 0; n > 1 && i0 < a->ne[0]; i0 += n)
                    gb_cpu_line_add(task->k, &from, i0, n, dst);
            }
    if (n == 1)
        dst[0] = (float)sum;
}

static enum ggml_status
repeat_back_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(task->node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(task->node, row);

        sum_rows_of_tiles(task, &at);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_repeat_back = {
    .n_src = 1,
    .can_run = repeat_back_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = repeat_back_run,
};
