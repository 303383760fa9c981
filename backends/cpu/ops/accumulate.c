/* SPDX-License-Identifier: MIT */
/*
 * cpu/ops/accumulate.c - a tensor with a part of it replaced or added to.
 *
 * ACC SET.  P is a view of dst, described by the parameters:
 *     dst = src0
 *     P[i, j, k, l] = src1[i, j, k, l]        SET
 *     P[i, j, k, l] += src1[i, j, k, l]       ACC
 *
 *   src0   the shape and the type of dst, any strides
 *   src1   the shape of P and the type of dst, any strides
 *   dst    contiguous; F32 for ACC, any type with blocks of one element for SET
 *   params byte strides of P along dimensions 1 to 3, then the bytes from the
 *          beginning of dst to that of P
 *
 * Phases    prepare copies src0 to dst; run writes P.  Threads wait between the
 *           two, since rows of P need not be rows of dst.
 * Threads   tiles are whole rows, of dst in prepare, of P in run; one tile if
 *           rows of P may overlap.
 * Accuracy  one F32 addition an element; SET copies bits.
 */
#include "backends/cpu/ops/check.h"
#include "backends/cpu/ops/line.h"
#include "backends/cpu/ops/op.h"
#include "backends/cpu/ops/params.h"
#include "backends/cpu/ops/rows.h"

/* P as a tensor of its own: the shape of src1, elements of a row next to each
 * other, and the strides and the offset of the parameters. */
static struct ggml_tensor
part_of(const struct ggml_tensor *node)
{
    struct ggml_tensor part = *node->src[1];

    part.type = node->type;
    part.nb[0] = ggml_type_size(node->type);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        part.nb[d] = (size_t)gb_cpu_param_i32(node, d - 1);
    /* There is no data yet when it is asked whether the node can run. */
    if (node->data != NULL)
        part.data = (char *)node->data + gb_cpu_param_i32(node, 3);
    return part;
}

/* Are all elements of P within dst, each where an element can begin?  The
 * parameters are signed numbers that come from outside: negative ones are
 * refused, and sums that overflow count as the largest number of bytes. */
static bool
part_is_inside(const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);
    const int32_t offset = gb_cpu_param_i32(node, 3);
    size_t bytes;

    for (int i = 0; i < 4; i++)
        if (gb_cpu_param_i32(node, i) < 0)
            return false;
    return (size_t)offset % ggml_type_size(node->type) == 0 &&
           gb_cpu_extent(&part, &bytes) &&
           gb_add_or_max(bytes, (size_t)offset) <= ggml_nbytes(node);
}

static bool
accumulate_can_run(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    if (a->type != node->type || b->type != node->type ||
        ggml_blck_size(node->type) != 1 ||
        (node->op == GGML_OP_ACC && node->type != GGML_TYPE_F32))
        return false;
    return ggml_are_same_shape(a, node) && ggml_is_contiguous(node) &&
           part_is_inside(node);
}

/*
 * Do no two rows of P have a byte in common, so that threads may write them at
 * the same time?  This is so if in each dimension a stride is at least the
 * bytes that the dimensions before it span.  Other strides may be harmless too,
 * but are rare; they get a single tile.
 */
static bool
rows_are_apart(const struct ggml_tensor *part)
{
    size_t below = (size_t)part->ne[0] * part->nb[0];

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (part->ne[d] > 1 && part->nb[d] < below)
            return false;
        below += (size_t)(part->ne[d] - 1) * part->nb[d];
    }
    return true;
}

/* The prepare phase: dst = src0, row by row. */
static int64_t
copy_tiles(const struct ggml_tensor *node)
{
    return gb_cpu_tiles_by_rows(node);
}

static enum ggml_status
copy_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *a = node->src[0];
    const struct gb_cpu_row_range rows = gb_cpu_tile_rows(node, tile);

    /* In place: dst has the values of src0 already. */
    if (node->data == a->data)
        return GGML_STATUS_SUCCESS;
    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(node, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(node, at.i1, at.i2, at.i3);
        const struct gb_cpu_line from =
            gb_cpu_line_at(a, at.i1, at.i2, at.i3);

        gb_cpu_line_copy(task->k, &to, 0, &from, 0, node->ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

/* The run phase: src1 into P, or added to it. */
static int64_t
accumulate_tiles(const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);

    if (ggml_is_empty(&part))
        return 0;
    return rows_are_apart(&part) ? gb_cpu_tiles_by_rows(&part) : 1;
}

static enum ggml_status
accumulate_run(const struct gb_cpu_task *task, int64_t tile)
{
    const struct ggml_tensor *node = task->node;
    const struct ggml_tensor *b = node->src[1];
    const struct ggml_tensor part = part_of(node);
    struct gb_cpu_row_range rows = gb_cpu_tile_rows(&part, tile);

    /* A single tile has all rows, however many elements they have. */
    if (task->n_tiles == 1)
        rows.last = ggml_nrows(&part);
    for (int64_t row = rows.first; row < rows.last; row++) {
        const struct gb_cpu_row at = gb_cpu_row_at(&part, row);
        const struct gb_cpu_line to =
            gb_cpu_line_at(&part, at.i1, at.i2, at.i3);
        const struct gb_cpu_line from =
            gb_cpu_line_at(b, at.i1, at.i2, at.i3);

        if (node->op == GGML_OP_ACC)
            gb_cpu_line_add(task->k, &from, 0, part.ne[0], (void *)to.data);
        else
            gb_cpu_line_copy(task->k, &to, 0, &from, 0, part.ne[0]);
    }
    return GGML_STATUS_SUCCESS;
}

const struct gb_cpu_op gb_cpu_op_accumulate = {
    .n_src = 2,
    .can_run = accumulate_can_run,
    .tiles = accumulate_tiles,
    .prepare_tiles = copy_tiles,
    .prepare = copy_run,
    .run = accumulate_run,
};
