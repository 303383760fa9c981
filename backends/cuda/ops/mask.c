/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/mask.c - a matrix with all right of a diagonal replaced.
 */
#include "backends/cuda/kernels/args-mask.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include <math.h>

static void
diag_mask_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_mask_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .n = ggml_nelements(node),
        .n_past = gb_node_param_i32(node, 0),
        .value = node->op == GGML_OP_DIAG_MASK_INF ? -INFINITY : 0.0f,
    };

    GB_CUDA_LAUNCH(
        emit, gb_diag_mask_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_diag_mask = {
    .emit = diag_mask_emit,
};
