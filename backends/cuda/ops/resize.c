/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/resize.c - tensors made larger, of any type without blocks: UPSCALE
 * by nearest neighbours, PAD by zeros, PAD_REFLECT_1D by their mirror image.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

static bool
resize_supports(const struct ggml_tensor *node)
{
    return gb_cuda_has_sources(node, 1) && node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1;
}

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

/* An empty source has no nearest element. */
static bool
upscale_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return resize_supports(node) && !ggml_is_empty(node->src[0]);
}

static void
upscale_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_move_args args = resize_args(node);

    GB_CUDA_LAUNCH(emit, gb_upscale, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_upscale = {
    .supports = upscale_supports,
    .emit = upscale_emit,
};

static bool
pad_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (!resize_supports(node))
        return false;
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (node->src[0]->ne[d] > node->ne[d])
            return false;
    return true;
}

static void
pad_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_move_args args = resize_args(node);

    GB_CUDA_LAUNCH(emit, gb_pad, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pad = {
    .supports = pad_supports,
    .emit = pad_emit,
};

/* Fewer elements on either side than the source has: one reflection is
 * enough. */
static bool
pad_reflect_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const int32_t before = gb_cuda_param_i32(node, 0);
    const int32_t behind = gb_cuda_param_i32(node, 1);
    int64_t n;

    (void)limits;
    if (!resize_supports(node))
        return false;
    n = node->src[0]->ne[0];
    return before >= 0 && before < n && behind >= 0 && behind < n &&
           node->ne[0] == before + n + behind &&
           gb_cuda_same_from(node, node->src[0], 1);
}

static void
pad_reflect_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_move_args args = resize_args(node);

    args.before = gb_cuda_param_i32(node, 0);
    GB_CUDA_LAUNCH(
        emit, gb_pad_reflect, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pad_reflect = {
    .supports = pad_reflect_supports,
    .emit = pad_reflect_emit,
};
