/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/resize.c - tensors made larger: by nearest neighbours, by zeros, by
 * their mirror image.
 *
 *     UPSCALE         dst[i] = src0[floor(i / factor)] along each dimension,
 *                     with factor = dst's size / src0's
 *     PAD             dst[i] = src0[i] where all indices are within it, else 0
 *     PAD_REFLECT_1D  dst[i, ..] = src0[reflect(i - before), ..]
 *
 *   src0, dst   the same unquantised type, any strides
 *
 * Threads   tiles are rows of dst (ops/rows.h).
 * Accuracy  values are copied, bit by bit.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

#include <string.h>

/* Same type of unquantised elements, any strides. */
static bool
resize_can_run(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1;
}

/*
 * Where element I along DIM comes from.  The quotient is a float's, truncated
 * to an integer, as programs that use this interface expect; it can hit the
 * neighbour for factors such as 3 or 7, whose quotients are not exact.
 */
static int64_t
nearest(const struct ggml_tensor *node, int dim, int64_t i)
{
    const int64_t n = node->src[0]->ne[dim];
    const float factor = (float)node->ne[dim] / (float)n;
    const int64_t from = (int64_t)((float)i / factor);

    return from < n ? from : n - 1;
}

static enum ggml_status
upscale_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const size_t size = ggml_type_size(node->type);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        char *const to = gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const char *from =
            gb_cpu_row_ptr(a, nearest(node, 1, at.i1),
                           nearest(node, 2, at.i2), nearest(node, 3, at.i3));

        for (int64_t i = 0; i < node->ne[0]; i++)
            memcpy(to + (size_t)i * node->nb[0],
                   from + (size_t)nearest(node, 0, i) * a->nb[0], size);
    }
    return GGML_STATUS_SUCCESS;
}

/* An empty source has no nearest element. */
static bool
upscale_can_run(const struct ggml_tensor *node)
{
    return resize_can_run(node) && !ggml_is_empty(node->src[0]);
}

const struct gb_cpu_op gb_cpu_op_upscale = {
    .n_src = 1,
    .can_run = upscale_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = upscale_run,
};

/* Zero elements FIRST to N of a row of NODE. */
static void
clear(const struct ggml_tensor *node, char *row, int64_t first, int64_t n)
{
    for (int64_t i = first; i < n; i++)
        memset(row + (size_t)i * node->nb[0], 0, ggml_type_size(node->type));
}

/* A row that is in the source is copied and the rest of it cleared; other rows
 * are zeros throughout. */
static enum ggml_status
pad_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const bool is_behind = at.i1 >= a->ne[1] || at.i2 >= a->ne[2] ||
                               at.i3 >= a->ne[3];

        if (!is_behind) {
            const struct gb_cpu_line from =
                gb_cpu_line_at(a, at.i1, at.i2, at.i3);

            gb_cpu_line_copy(task->k, &to, 0, &from, 0, a->ne[0]);
        }
        clear(node, to.data, is_behind ? 0 : a->ne[0], node->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

static bool
pad_can_run(const struct ggml_tensor *node)
{
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (node->src[0]->ne[d] > node->ne[d])
            return false;
    return resize_can_run(node);
}

const struct gb_cpu_op gb_cpu_op_pad = {
    .n_src = 1,
    .can_run = pad_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = pad_run,
};

/* The first and last elements are mirrors and are not repeated themselves: with
 * one element before, 1 2 3 becomes 2 1 2 3.  There are fewer elements on
 * either side than the source has, so one reflection is enough. */
static enum ggml_status
pad_reflect_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const int64_t before = gb_cpu_param_i32(node, 0);
    const int64_t last = a->ne[0] - 1;
    const size_t size = ggml_type_size(node->type);
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        char *const to = gb_cpu_row_ptr(node, at.i1, at.i2, at.i3);
        const char *from = gb_cpu_row_ptr(a, at.i1, at.i2, at.i3);

        for (int64_t i = 0; i < node->ne[0]; i++) {
            int64_t j = i < before ? before - i : i - before;

            if (j > last)
                j = 2 * last - j;
            memcpy(to + (size_t)i * node->nb[0], from + (size_t)j * a->nb[0],
                   size);
        }
    }
    return GGML_STATUS_SUCCESS;
}

static bool
pad_reflect_can_run(const struct ggml_tensor *node)
{
    const int64_t n = node->src[0]->ne[0];
    const int32_t before = gb_cpu_param_i32(node, 0);
    const int32_t behind = gb_cpu_param_i32(node, 1);

    return resize_can_run(node) && before >= 0 && before < n && behind >= 0 &&
           behind < n && node->ne[0] == before + n + behind &&
           gb_cpu_same_from(node, node->src[0], 1);
}

const struct gb_cpu_op gb_cpu_op_pad_reflect = {
    .n_src = 1,
    .can_run = pad_reflect_can_run,
    .tiles = gb_cpu_tiles_by_rows,
    .run = pad_reflect_run,
};
