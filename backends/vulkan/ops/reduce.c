/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/reduce.c - one number from a row or from everything.
 */
#include "backends/vulkan/ops/reduce.h"

#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-argmax.h"
#include "backends/vulkan/shaders/params-joincounts.h"
#include "backends/vulkan/shaders/params-parts.h"
#include "backends/vulkan/shaders/params-sumrows.h"

/* Elements of a part of everything: few enough that a count is exact as a
 * float, and enough that parts are few. */
#define PER_PART 16384

static const struct gb_vk_row_pipelines sum_rows_pipelines =
    GB_VK_ROW_PIPELINES(sum_rows);

size_t
gb_vk_sum_parts_size(int64_t n_parts)
{
    return (size_t)(n_parts > 0 ? n_parts : 1) * sizeof(float);
}

void
gb_vk_join_parts(struct gb_vk_emit *emit, const struct ggml_tensor *dst,
                 int64_t n_parts, float divisor)
{
    struct gb_vk_sum_rows_params params = {
        .ne = { (uint32_t)n_parts, 1, 1, 1 },
        .src_nb = { sizeof(float) },
        .n_rows = 1,
        .dst_type = gb_vk_float_of(dst->type),
        .src_type = GB_VK_F32,
        .divisor = divisor,
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&sum_rows_pipelines, n_parts), 1, &params,
        gb_vk_write(dst),
        gb_vk_scratch(0, gb_vk_sum_parts_size(n_parts), false));
}

/* ---- everything ---- */

static int64_t
part_count(const struct ggml_tensor *node)
{
    return (ggml_nelements(node->src[0]) + PER_PART - 1) / PER_PART;
}

static size_t
parts_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_sum_parts_size(part_count(node));
}

/* Does a binding show all of the sources, or do they at least lie so that one
 * shows whole parts? */
static bool
parts_fit(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const size_t room = gb_vk_room(limits);
    bool fit = true, are_flat = true;

    for (int i = 0; i < 2 && node->src[i] != NULL; i++) {
        fit = fit && ggml_nbytes(node->src[i]) <= room;
        are_flat = are_flat && ggml_is_contiguous(node->src[i]);
    }
    return fit || (are_flat && PER_PART * sizeof(float) <= room);
}

/* PARTS of T, which has no gaps, from number FIRST on, in a row. */
static struct ggml_tensor
parts_of(const struct ggml_tensor *t, int64_t first, int64_t n_parts)
{
    const size_t size = ggml_type_size(t->type);
    const size_t offset = (size_t)(first * PER_PART) * size;
    const int64_t left = ggml_nelements(t) - first * PER_PART;
    struct ggml_tensor row = *t;

    row.ne[0] = left < n_parts * PER_PART ? left : n_parts * PER_PART;
    row.view_offs += offset;
    row.data = (char *)t->data + offset;
    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        row.ne[d] = 1;
        row.nb[d] = size * (size_t)row.ne[0];
    }
    return row;
}

/* Dispatch PIPELINE, which leaves the sum of each part of A, as long as SECOND,
 * in the scratch, from number FIRST on. */
static void
emit_some_parts(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline,
                const struct ggml_tensor *a, const struct ggml_tensor *second,
                int64_t first)
{
    struct gb_vk_parts_params params = {
        .ne = GB_VK_NE(a),
        .src0_nb = GB_VK_NB(a),
        .src1_nb = GB_VK_NB(second),
        .n = (uint32_t)ggml_nelements(a),
        .per_part = PER_PART,
        .n_parts =
            (uint32_t)((ggml_nelements(a) + PER_PART - 1) / PER_PART),
        .src_type = gb_vk_float_of(a->type),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, pipeline, params.n_parts, &params,
        gb_vk_scratch((size_t)first * sizeof(float),
                      gb_vk_sum_parts_size(params.n_parts), true),
        gb_vk_read(a), gb_vk_read(second));
}

/* All parts, as many at a time as a binding shows; they are always the same. */
static void
emit_parts(struct gb_vk_emit *emit, const struct ggml_tensor *node,
           enum gb_vk_pipeline pipeline, const struct ggml_tensor *second)
{
    const struct ggml_tensor *a = node->src[0];
    const size_t room = gb_vk_room(emit->limits);
    const int64_t most = (int64_t)(room / (PER_PART * sizeof(float)));

    if (ggml_nbytes(a) <= room && ggml_nbytes(second) <= room) {
        emit_some_parts(emit, pipeline, a, second, 0);
        return;
    }
    for (int64_t first = 0; first < part_count(node); first += most) {
        const struct ggml_tensor some = parts_of(a, first, most);
        const struct ggml_tensor others = parts_of(second, first, most);

        emit_some_parts(emit, pipeline, &some, &others, first);
    }
}

static void
sum_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    emit_parts(emit, node, GB_VK_sum_parts, node->src[0]);
    gb_vk_join_parts(emit, node, part_count(node), 1.0f);
}

const struct gb_vk_op gb_vk_op_sum = {
    .supports = parts_fit,
    .cuts = true,
    .scratch = parts_scratch,
    .emit = sum_emit,
};

static void
count_equal_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_join_counts_params params = {
        .n_parts = (uint32_t)part_count(node),
    };

    emit_parts(emit, node, GB_VK_count_parts, node->src[1]);
    GB_VK_DISPATCH(
        emit, join_counts, 1, &params, gb_vk_write(node),
        gb_vk_scratch(0, gb_vk_sum_parts_size(params.n_parts), false));
}

const struct gb_vk_op gb_vk_op_count_equal = {
    .supports = parts_fit,
    .cuts = true,
    .scratch = parts_scratch,
    .emit = count_equal_emit,
};

/* ---- rows ---- */

/* The mean of an empty row is 0 / 0, NaN. */
static void
sum_rows_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_sum_rows_params params = {
        .ne = GB_VK_NE(a),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_NB(a),
        .n_rows = (uint32_t)ggml_nrows(node),
        .dst_type = gb_vk_float_of(node->type),
        .src_type = gb_vk_float_of(a->type),
        .divisor = node->op == GGML_OP_MEAN ? (float)a->ne[0] : 1.0f,
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&sum_rows_pipelines, a->ne[0]),
        gb_vk_row_groups(a->ne[0], params.n_rows), &params,
        gb_vk_write(node), gb_vk_read_or(a, node));
}

const struct gb_vk_op gb_vk_op_sum_rows = {
    .parts = &gb_vk_parts_of_rows,
    .emit = sum_rows_emit,
};

static void
argmax_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_argmax_params params = {
        .n = (uint32_t)a->ne[0],
        .n_rows = (uint32_t)node->ne[0],
        .dst_nb = (uint32_t)node->nb[0],
        .src_nb = { (uint32_t)a->nb[0], (uint32_t)a->nb[1] },
        .src_type = gb_vk_float_of(a->type),
    };

    GB_VK_DISPATCH(emit, argmax, params.n_rows, &params, gb_vk_write(node),
                   gb_vk_read_or(a, node));
}

/* An element for each row. */
static const struct gb_vk_parts argmax_parts = {
    .dims = { true },
    .sources = { { 2 } },
};

const struct gb_vk_op gb_vk_op_argmax = {
    .parts = &argmax_parts,
    .emit = argmax_emit,
};
