/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/resize.c - tensors made larger, of any type without blocks: UPSCALE
 * by nearest neighbours, PAD by zeros, PAD_REFLECT_1D by their mirror image.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

static struct gb_cuda_move_args
resize_args(const struct ggml_tensor *node)
{
    return (struct gb_cuda_move_args){
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .n = ggml_nelements(node),
        .size = (int32_t)ggml_type_size(node->type),
    };
}

static void
upscale_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_move_args args = resize_args(node);

    GB_CUDA_LAUNCH(emit, gb_upscale, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_upscale = {
    .emit = upscale_emit,
};

static void
pad_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_move_args args = resize_args(node);

    GB_CUDA_LAUNCH(emit, gb_pad, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pad = {
    .emit = pad_emit,
};

static void
pad_reflect_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_move_args args = resize_args(node);

    args.before = gb_node_param_i32(node, 0);
    GB_CUDA_LAUNCH(
        emit, gb_pad_reflect, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pad_reflect = {
    .emit = pad_reflect_emit,
};
