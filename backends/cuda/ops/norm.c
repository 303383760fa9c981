/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/norm.c - rows, or groups of channels, brought to mean 0 and variance
 * 1, or to a mean square of 1.
 */
#include "backends/cuda/kernels/args-norm.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/rows.h"
#include "backends/cuda/ops/shape.h"

static int
source_count(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RMS_NORM_BACK ? 2 : 1;
}

/* All tensors are F32 of the same shape, with dense rows. */
static bool
norm_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const int n = source_count(node);

    (void)limits;
    if (!gb_cuda_has_sources(node, n) || !gb_cuda_has_f32_rows(node))
        return false;
    for (int i = 0; i < n; i++)
        if (!gb_cuda_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return true;
}

static const struct gb_cuda_row_kernels *
kernels_of(const struct ggml_tensor *node)
{
    static const struct gb_cuda_row_kernels norm =
        GB_CUDA_ROW_KERNELS(norm_f32);
    static const struct gb_cuda_row_kernels rms_norm =
        GB_CUDA_ROW_KERNELS(rms_norm_f32);
    static const struct gb_cuda_row_kernels rms_norm_back =
        GB_CUDA_ROW_KERNELS(rms_norm_back_f32);

    if (node->op == GGML_OP_NORM)
        return &norm;
    return node->op == GGML_OP_RMS_NORM ? &rms_norm : &rms_norm_back;
}

static void
norm_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_norm_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .src1 = gb_cuda_arg(node->src[source_count(node) - 1]),
        .n_rows = ggml_nrows(node),
        .eps = gb_cuda_param_f32(node, 0),
    };

    gb_cuda_launch_rows(emit, kernels_of(node), node->ne[0], args.n_rows,
                        &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_norm = {
    .supports = norm_supports,
    .emit = norm_emit,
};

static bool
group_norm_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    return norm_supports(limits, node) && gb_cuda_param_i32(node, 0) > 0;
}

/* Channels of a group are the channels by the groups, rounded up; groups that
 * would have none are left out. */
static void
group_norm_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int64_t groups = gb_cuda_param_i32(node, 0);
    const int64_t per_group = (node->ne[2] + groups - 1) / groups;
    const struct gb_cuda_group_norm_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .per_group = per_group,
        .n_groups = (node->ne[2] + per_group - 1) / per_group,
        .eps = gb_cuda_param_f32(node, 1),
    };

    GB_CUDA_LAUNCH(emit, gb_group_norm_f32,
                   gb_cuda_blocks(args.n_groups * node->ne[3], 1), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_group_norm = {
    .supports = group_norm_supports,
    .emit = group_norm_emit,
};
