/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/softmax.c - softmax of rows, with a scale and a mask, also where those
 * are nodes of their own, and its gradient.
 */
#include "backends/cuda/kernels/args-softmax.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/rows.h"
#include "backends/cuda/ops/shape.h"

static int64_t
power_of_2_up_to(int64_t n)
{
    int64_t power = 1;

    while (power <= n / 2)
        power *= 2;
    return power;
}

static void
soft_max_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_cuda_row_kernels f32 =
        GB_CUDA_ROW_KERNELS(soft_max_f32_f32);
    static const struct gb_cuda_row_kernels f16 =
        GB_CUDA_ROW_KERNELS(soft_max_f32_f16);
    const struct ggml_tensor *mask = node->src[1];
    const struct gb_cuda_softmax_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .mask = mask == NULL ? NULL : mask->data,
        .mask_stride = mask == NULL ? 0 : (int64_t)mask->nb[1],
        .n_rows = ggml_nrows(node),
        .scale = gb_node_param_f32(node, 0),
        .max_bias = gb_node_param_f32(node, 1),
        .power = power_of_2_up_to(node->ne[2]),
    };

    gb_cuda_launch_rows(
        emit, mask != NULL && mask->type == GGML_TYPE_F16 ? &f16 : &f32,
        node->ne[0], args.n_rows, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_soft_max = {
    .emit = soft_max_emit,
};

/* ---- with what stands before it ---- */

static bool
fused_soft_max_supports(const struct gb_cuda_limits *limits,
                        const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_soft_max_has_rows(group);
}

static void
fused_soft_max_emit(
    struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(soft_max_chain);
    const struct gb_fuse_soft_max parts = gb_fuse_soft_max_of(group);
    const struct ggml_tensor *last = group->nodes[parts.soft_max];
    struct gb_cuda_softmax_chain_args args = {
        .dst = gb_cuda_arg(last),
        .src0 = gb_cuda_arg(parts.scores),
        .n_rows = ggml_nrows(last),
        .n_past = INT64_MAX / 2,
        .factor = 1.0f,
        .scale = gb_node_param_f32(last, 0),
    };

    if (parts.scale >= 0) {
        args.factor = gb_node_param_f32(group->nodes[parts.scale], 0);
        args.scaled = gb_cuda_arg_if_written(group, parts.scale);
    }
    if (parts.mask >= 0)
        args.masked = gb_cuda_arg_if_written(group, parts.mask);
    if (parts.addend != NULL)
        args.addend = gb_cuda_arg_repeated(parts.addend);
    else if (parts.mask >= 0)
        args.n_past = gb_node_param_i32(group->nodes[parts.mask], 0);
    gb_cuda_launch_rows(emit, &kernels, last->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_fused gb_cuda_fused_soft_max = {
    .supports = fused_soft_max_supports,
    .emit = fused_soft_max_emit,
};

static void
soft_max_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(soft_max_back_f32);
    const struct gb_cuda_softmax_back_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .src1 = gb_cuda_arg(node->src[1]),
        .n_rows = ggml_nrows(node),
        .scale = gb_node_param_f32(node, 0),
    };

    gb_cuda_launch_rows(emit, &kernels, node->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_soft_max_back = {
    .emit = soft_max_back_emit,
};
