/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/binary.c - operations on two tensors, element by element.
 */
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"

static bool
binary_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return node->type == GGML_TYPE_F32 && node->src[0]->type == GGML_TYPE_F32 &&
           node->src[1]->type == GGML_TYPE_F32;
}

static void
binary_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_binary_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .src1 = gb_cuda_arg(node->src[1]),
        .n = ggml_nelements(node),
    };

    GB_CUDA_LAUNCH(emit, gb_add_f32_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_binary = {
    .supports = binary_supports,
    .emit = binary_emit,
};
