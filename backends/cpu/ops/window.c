/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/window.c - images divided into windows, and positions inside of them.
 *
 * WIN_PART WIN_UNPART GET_REL_POS ADD_REL_POS, of image encoders whose
 * attention is within windows of w x w positions.
 *
 * Source    "Exploring Plain Vision Transformer Backbones" (arXiv 2203.16527)
 *           for windows, "MViTv2" (2112.01526) for relative positions.
 * Threads   tiles are rows of dst (ops/rows.h).
 * Accuracy  values are copied; ADD_REL_POS adds in F32, pw first.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

/* Rows are moved as they are: any unquantised type, any strides of the source,
 * dense rows of dst. */
static bool
window_can_run(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1 && gb_is_dense(node);
}

/*
 * WIN_PART: an image [c, width, height] becomes windows [c, w, w, px * py],
 *
 *     dst[:, x, y, Y * px + X] = src0[:, X * w + x, Y * w + y], 0 outside
 *
 * where px is how many windows stand side by side.
 *
 *   params px, py, w
 */
static enum ggml_status
win_part_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t px = gb_cpu_param_i32(node, 0);
    const int64_t w = gb_cpu_param_i32(node, 2);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const int64_t x = at.i3 % px * w + at.i1;
        const int64_t y = at.i3 / px * w + at.i2;
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);

        if (x < a->ne[1] && y < a->ne[2]) {
            const struct gb_cpu_line from = gb_cpu_line_at(a, x, y, 0);

            gb_cpu_line_copy(task->k, &to, 0, &from, 0, node->ne[0]);
        } else {
            memset(to.data, 0, ggml_row_size(node->type, node->ne[0]));
        }
    }
    return GGML_STATUS_SUCCESS;
}

static bool
win_part_can_run(const struct ggml_tensor *node)
{
    return window_can_run(node) && node->src[0]->ne[0] == node->ne[0] &&
           node->src[0]->ne[3] == 1 && gb_cpu_is_countable(node) &&
           gb_cpu_param_i32(node, 0) > 0 && gb_cpu_param_i32(node, 2) > 0;
}

const struct gb_cpu_op gb_cpu_op_win_part = {
    .n_src = 1,
    .can_run = win_part_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = win_part_run,
};

/*
 * WIN_UNPART: the reverse of WIN_PART,
 *
 *     dst[:, x, y] = src0[:, x % w, y % w, window of (x, y)]
 *
 * What was outside of the image is dropped.
 *
 *   params w
 */
static enum ggml_status
win_unpart_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const int64_t w = gb_cpu_param_i32(node, 0);
    const int64_t px = (node->ne[1] + w - 1) / w;
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to = gb_cpu_line_at(node, at.i1, at.i2, 0);
        const struct gb_cpu_line from =
            gb_cpu_line_at(node->src[0], at.i1 % w, at.i2 % w,
                           at.i2 / w * px + at.i1 / w);

        gb_cpu_line_copy(task->k, &to, 0, &from, 0, node->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

static bool
win_unpart_can_run(const struct ggml_tensor *node)
{
    const int64_t w = gb_cpu_param_i32(node, 0);
    const struct ggml_tensor *a = node->src[0];

    return window_can_run(node) && w > 0 && a->ne[1] == w && a->ne[2] == w &&
           a->ne[0] == node->ne[0] && node->ne[3] == 1 &&
           (node->ne[1] + w - 1) / w * ((node->ne[2] + w - 1) / w) <=
               a->ne[3];
}

const struct gb_cpu_op gb_cpu_op_win_unpart = {
    .n_src = 1,
    .can_run = win_unpart_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = win_unpart_run,
};

/*
 * GET_REL_POS: rows of a table of embeddings by the distance of two positions,
 *
 *     dst[:, x, y] = src0[:, (n - 1 - x) + y]
 *
 * with n = dst's ne[1].  The table has n rows and more: from distance 1 - n on.
 *
 *   src0   F16 [c, at least ne[1] + ne[2] - 1], any strides
 *   dst    F16 [c, n, n2], rows dense
 */
static enum ggml_status
get_rel_pos_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to = gb_cpu_line_at(node, at.i1, at.i2, 0);
        const struct gb_cpu_line from = gb_cpu_line_at(
            node->src[0], node->ne[1] - 1 - at.i1 + at.i2, 0, 0);

        gb_cpu_line_copy(task->k, &to, 0, &from, 0, node->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

static bool
get_rel_pos_can_run(const struct ggml_tensor *node)
{
    return window_can_run(node) && node->type == GGML_TYPE_F16 &&
           node->ne[3] == 1 && node->src[0]->ne[0] == node->ne[0] &&
           ggml_is_matrix(node->src[0]) &&
           node->ne[1] + node->ne[2] - 1 <= node->src[0]->ne[1];
}

const struct gb_cpu_op gb_cpu_op_get_rel_pos = {
    .n_src = 1,
    .can_run = get_rel_pos_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = get_rel_pos_run,
};

/*
 * ADD_REL_POS: scores of a query with all e * e positions get a part that
 * depends on the column and one that depends on the row,
 *
 *     dst[x + e * y, r] = src0[x + e * y, r] + pw[x, r] + ph[y, r]
 *
 * with r the number of the row, in the index order of each tensor.
 *
 *   src0   F32, ne[0] = e * e, contiguous
 *   src1, src2   pw and ph, F32, ne[0] = e, as many rows, contiguous
 *   dst    F32, src0's shape, contiguous; may be src0
 */
static bool
add_rel_pos_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *pw = node->src[1];
    const struct ggml_tensor *ph = node->src[2];
    int64_t elements;

    return a->type == GGML_TYPE_F32 && pw->type == GGML_TYPE_F32 &&
           ph->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(a) && ggml_is_contiguous(node) &&
           ggml_is_contiguous(pw) && ggml_is_contiguous(ph) &&
           ggml_are_same_shape(a, node) && ggml_are_same_shape(pw, ph) &&
           gb_mul_count(pw->ne[0], pw->ne[0], &elements) &&
           a->ne[0] == elements && ggml_nrows(a) == ggml_nrows(pw);
}

static enum ggml_status
add_rel_pos_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const int64_t e = node->src[1]->ne[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const float *a = (const float *)node->src[0]->data + row * e * e;
        const float *pw = (const float *)node->src[1]->data + row * e;
        const float *ph = (const float *)node->src[2]->data + row * e;
        float *const dst = (float *)node->data + row * e * e;

        for (int64_t y = 0; y < e; y++)
            for (int64_t x = 0; x < e; x++)
                dst[x + e * y] = a[x + e * y] + pw[x] + ph[y];
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_add_rel_pos = {
    .n_src = 3,
    .can_run = add_rel_pos_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = add_rel_pos_run,
};
