/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/norm.c - rows, or groups of channels, brought to mean 0 and variance
 * 1, or to a mean square of 1.
 */
#include "backends/cuda/kernels/args-norm.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/fused.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/rows.h"
#include "backends/cuda/ops/shape.h"

static int
source_count(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RMS_NORM_BACK ? 2 : 1;
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
        .eps = gb_node_param_f32(node, 0),
    };

    gb_cuda_launch_rows(emit, kernels_of(node), node->ne[0], args.n_rows,
                        &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_norm = {
    .emit = norm_emit,
};

/* Channels of a group are the channels by the groups, rounded up; groups that
 * would have none are left out. */
static void
group_norm_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const int64_t groups = gb_node_param_i32(node, 0);
    const int64_t per_group = (node->ne[2] + groups - 1) / groups;
    const struct gb_cuda_group_norm_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .per_group = per_group,
        .n_groups = (node->ne[2] + per_group - 1) / per_group,
        .eps = gb_node_param_f32(node, 1),
    };

    GB_CUDA_LAUNCH(emit, gb_group_norm_f32,
                   gb_cuda_blocks(args.n_groups * node->ne[3], 1), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_group_norm = {
    .emit = group_norm_emit,
};

/* ---- with what stands round it ---- */

static bool
fused_norm_supports(const struct gb_cuda_limits *limits,
                    const struct gb_fuse_group *group)
{
    (void)limits;
    return gb_fuse_norm_has_rows(group);
}

/* Dense, and fours of it at multiples of 16? */
static bool
has_fours(const struct ggml_tensor *t)
{
    return ggml_is_contiguous(t) && (uintptr_t)t->data % 16 == 0 &&
           t->ne[0] % 4 == 0;
}

/* A norm and one row of weights alone, of rows that a thread block keeps?  Most
 * of a model's are. */
static bool
is_plain(const struct gb_fuse_group *group, const struct gb_fuse_norm *parts)
{
    const struct ggml_tensor *norm = group->nodes[0];

    return parts->norm == 0 && parts->bias < 0 &&
           ggml_nrows(parts->weights) == 1 &&
           norm->ne[0] > GB_CUDA_WARP_ROW &&
           norm->ne[0] <= GB_CUDA_NORM_KEPT && has_fours(norm->src[0]) &&
           has_fours(parts->weights) && has_fours(norm) &&
           has_fours(group->nodes[1]);
}

static void
emit_plain(struct gb_cuda_emit *emit, const struct gb_fuse_group *group,
           const struct gb_fuse_norm *parts)
{
    const struct ggml_tensor *norm = group->nodes[0], *last = group->nodes[1];
    const struct gb_cuda_norm_plain_args args = {
        .src = norm->src[0]->data,
        .weights = parts->weights->data,
        .dst = last->data,
        .normed = gb_fuse_is_written(group, 0) ? norm->data : NULL,
        .columns = gb_cuda_columns_for(emit, last),
        .halves = gb_cuda_halves_for(emit, last, last->ne[0]),
        .n = (int32_t)last->ne[0],
        .eps = gb_node_param_f32(norm, 0),
        .has_mean = norm->op == GGML_OP_NORM,
    };

    GB_CUDA_LAUNCH(emit, gb_norm_mul_f32_plain,
                   gb_cuda_blocks(ggml_nrows(last), 1), 0, &args);
}

static void
fused_norm_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(norm_mul_f32);
    const struct gb_fuse_norm parts = gb_fuse_norm_of(group);
    const struct ggml_tensor *first = group->nodes[0];
    const struct ggml_tensor *norm = group->nodes[parts.norm];
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    struct gb_cuda_norm_mul_args args;

    if (is_plain(group, &parts)) {
        emit_plain(emit, group, &parts);
        return;
    }
    args = (struct gb_cuda_norm_mul_args){
        .dst = gb_cuda_arg(last),
        .src = gb_cuda_arg(first->src[0]),
        .weights = gb_cuda_arg_repeated(parts.weights),
        .normed = gb_cuda_arg_if_written(group, parts.norm),
        .columns = gb_cuda_columns_for(emit, last),
        .halves = gb_cuda_halves_for(emit, last, last->ne[0]),
        .n_rows = ggml_nrows(last),
        .eps = gb_node_param_f32(norm, 0),
        .has_mean = norm->op == GGML_OP_NORM,
    };

    if (parts.get >= 0) {
        args.ids = gb_cuda_arg(first->src[1]);
        args.sum = gb_cuda_arg_if_written(group, parts.get);
    }
    if (parts.add >= 0) {
        args.addend = gb_cuda_arg_repeated(parts.addend);
        args.sum = gb_cuda_arg_if_written(group, parts.add);
    }
    if (parts.bias >= 0) {
        args.bias = gb_cuda_arg_repeated(parts.bias_values);
        args.scaled = gb_cuda_arg_if_written(group, parts.mul);
    }
    gb_cuda_launch_rows(emit, &kernels, last->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_fused gb_cuda_fused_norm = {
    .supports = fused_norm_supports,
    .emit = fused_norm_emit,
};
