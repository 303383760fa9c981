/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/window.c - images divided into windows, and positions inside of
 * them.
 */
#include "backends/cuda/kernels/args-window.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* Rows are moved as they are: any type without blocks. */
static bool
window_supports(const struct ggml_tensor *node)
{
    return gb_cuda_has_sources(node, 1) &&
           node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1 && gb_cuda_is_dense(node) &&
           node->src[0]->ne[0] == node->ne[0];
}

/* Windows of N positions that LENGTH positions take. */
static int64_t
window_count(int64_t length, int64_t n)
{
    return (length + n - 1) / n;
}

static void
window_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
            enum gb_cuda_kernel kernel, int64_t side, int64_t across)
{
    const struct gb_cuda_window_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .size = (int)ggml_type_size(node->type),
        .n = ggml_nelements(node),
        .side = side,
        .across = across,
    };

    emit->add(emit, kernel, gb_cuda_blocks(args.n, 256), 0, &args,
              sizeof(args));
}

/* Parameters: windows across and down, and their side. */
static bool
win_part_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return window_supports(node) && node->src[0]->ne[3] == 1 &&
           gb_cuda_is_countable(node) && gb_cuda_param_i32(node, 0) > 0 &&
           gb_cuda_param_i32(node, 2) > 0;
}

static void
win_part_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_CUDA_KERNEL_gb_win_part,
                gb_cuda_param_i32(node, 2), gb_cuda_param_i32(node, 0));
}

const struct gb_cuda_op gb_cuda_op_win_part = {
    .supports = win_part_supports,
    .emit = win_part_emit,
};

/* Parameter: the side of a window. */
static bool
win_unpart_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t w = gb_cuda_param_i32(node, 0);

    (void)limits;
    return window_supports(node) && w > 0 && a->ne[1] == w &&
           a->ne[2] == w && node->ne[3] == 1 &&
           window_count(node->ne[1], w) * window_count(node->ne[2], w) <=
               a->ne[3];
}

static void
win_unpart_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int64_t w = gb_cuda_param_i32(node, 0);

    window_emit(emit, node, GB_CUDA_KERNEL_gb_win_unpart, w,
                window_count(node->ne[1], w));
}

const struct gb_cuda_op gb_cuda_op_win_unpart = {
    .supports = win_unpart_supports,
    .emit = win_unpart_emit,
};

/* The table has a row for each distance of two positions. */
static bool
get_rel_pos_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return window_supports(node) && node->type == GGML_TYPE_F16 &&
           node->ne[3] == 1 && ggml_is_matrix(node->src[0]) &&
           node->ne[1] + node->ne[2] - 1 <= node->src[0]->ne[1];
}

static void
get_rel_pos_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_CUDA_KERNEL_gb_get_rel_pos, 0, 0);
}

const struct gb_cuda_op gb_cuda_op_get_rel_pos = {
    .supports = get_rel_pos_supports,
    .emit = get_rel_pos_emit,
};

static bool
is_contiguous_f32(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

/* src1 is added to the columns, src2 to the rows of the positions that a row of
 * src0 has. */
static bool
add_rel_pos_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *columns = node->src[1];
    const struct ggml_tensor *rows = node->src[2];

    (void)limits;
    return gb_cuda_has_sources(node, 3) && is_contiguous_f32(node) &&
           is_contiguous_f32(a) && is_contiguous_f32(columns) &&
           is_contiguous_f32(rows) && ggml_are_same_shape(a, node) &&
           ggml_are_same_shape(columns, rows) &&
           gb_cuda_is_product(a->ne[0], columns->ne[0], columns->ne[0]) &&
           ggml_nrows(a) == ggml_nrows(columns);
}

static void
add_rel_pos_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_add_rel_pos_args args = {
        .dst = node->data,
        .src0 = node->src[0]->data,
        .columns = node->src[1]->data,
        .rows = node->src[2]->data,
        .side = node->src[1]->ne[0],
        .n = ggml_nelements(node),
    };

    GB_CUDA_LAUNCH(
        emit, gb_add_rel_pos_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_add_rel_pos = {
    .supports = add_rel_pos_supports,
    .emit = add_rel_pos_emit,
};
