/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/concat.c - one tensor behind another along a dimension: CONCAT of
 * any type.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"
#include "backends/cuda/ops/units.h"

static bool
concat_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_can_be_moved(node) && gb_cuda_can_be_moved(node->src[0]) &&
           gb_cuda_can_be_moved(node->src[1]);
}

static void
concat_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const size_t with_a = gb_cuda_unit(node, a);
    const size_t with_b = gb_cuda_unit(node, b);
    const size_t unit = with_a < with_b ? with_a : with_b;
    struct gb_cuda_move_args args = {
        .dst = gb_cuda_in_units(node, unit),
        .src0 = gb_cuda_in_units(a, unit),
        .src1 = gb_cuda_in_units(b, unit),
        .size = (int32_t)unit,
        .dim = gb_node_param_i32(node, 0),
    };

    args.n = gb_cuda_n_units(&args.dst);
    GB_CUDA_LAUNCH(emit, gb_concat, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_concat = {
    .supports = concat_supports,
    .emit = concat_emit,
};
