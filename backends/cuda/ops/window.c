/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/window.c - images divided into windows, and positions inside of
 * them.
 */
#include "backends/cuda/kernels/args-window.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

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

static void
win_part_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_CUDA_KERNEL_gb_win_part,
                gb_node_param_i32(node, 2), gb_node_param_i32(node, 0));
}

const struct gb_cuda_op gb_cuda_op_win_part = {
    .emit = win_part_emit,
};

static void
win_unpart_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int64_t w = gb_node_param_i32(node, 0);

    window_emit(emit, node, GB_CUDA_KERNEL_gb_win_unpart, w,
                window_count(node->ne[1], w));
}

const struct gb_cuda_op gb_cuda_op_win_unpart = {
    .emit = win_unpart_emit,
};

static void
get_rel_pos_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_CUDA_KERNEL_gb_get_rel_pos, 0, 0);
}

const struct gb_cuda_op gb_cuda_op_get_rel_pos = {
    .emit = get_rel_pos_emit,
};

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
    .emit = add_rel_pos_emit,
};
