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

/* ---- with what stands round it ---- */

/* Where the nodes of a group are: -1 for what is not there. */
struct parts {
    int get, add, norm, mul, bias;
};

static struct parts
parts_of(const struct gb_fuse_group *group)
{
    const bool gets = group->pattern == GB_FUSE_GET_NORM;
    const bool adds = group->pattern == GB_FUSE_ADD_NORM;
    const int norm = gets || adds ? 1 : 0;

    return (struct parts){
        .get = gets ? 0 : -1,
        .add = adds ? 0 : -1,
        .norm = norm,
        .mul = norm + 1,
        .bias = group->n_nodes > norm + 2 ? norm + 2 : -1,
    };
}

/* What node I, which comes after INNER, has besides. */
static const struct ggml_tensor *
operand(const struct gb_fuse_group *group, int i)
{
    return gb_cuda_other_operand(group->nodes[i], group->nodes[i - 1]);
}

/* Are the rows that NODE picks those of a matrix? */
static bool
gets_plain_rows(const struct ggml_tensor *node)
{
    return gb_cuda_has_f32_rows(node->src[0]) &&
           ggml_is_matrix(node->src[0]) && ggml_is_vector(node->src[1]);
}

/* Does the first node, of which SHAPE has the counts, read what the kernel
 * does? */
static bool
reads_plain_rows(const struct parts *parts, const struct ggml_tensor *first,
                 const struct ggml_tensor *shape)
{
    if (parts->get >= 0)
        return gets_plain_rows(first);
    return gb_cuda_has_f32_rows(first->src[0]) &&
           ggml_are_same_shape(first->src[0], shape) &&
           (parts->add < 0 || gb_cuda_has_rows_for(first->src[1], shape));
}

static bool
fused_norm_supports(const struct gb_cuda_limits *limits,
                    const struct gb_fuse_group *group)
{
    const struct parts parts = parts_of(group);
    const struct ggml_tensor *norm = group->nodes[parts.norm];

    (void)limits;
    for (int i = 0; i < group->n_nodes; i++) {
        if (!gb_cuda_has_f32_rows(group->nodes[i]) ||
            !ggml_are_same_shape(group->nodes[i], norm))
            return false;
    }
    return reads_plain_rows(&parts, group->nodes[0], norm) &&
           gb_cuda_has_rows_for(operand(group, parts.mul), norm) &&
           (parts.bias < 0 ||
            gb_cuda_has_rows_for(operand(group, parts.bias), norm));
}

static void
fused_norm_emit(struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(norm_mul_f32);
    const struct parts parts = parts_of(group);
    const struct ggml_tensor *first = group->nodes[0];
    const struct ggml_tensor *norm = group->nodes[parts.norm];
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    struct gb_cuda_norm_mul_args args = {
        .dst = gb_cuda_arg(last),
        .src = gb_cuda_arg(first->src[0]),
        .weights = gb_cuda_arg_repeated(operand(group, parts.mul)),
        .normed = gb_cuda_arg_if_written(group, parts.norm),
        .columns = gb_cuda_columns_for(emit, last),
        .halves = gb_cuda_halves_for(emit, last, last->ne[0]),
        .n_rows = ggml_nrows(last),
        .eps = gb_cuda_param_f32(norm, 0),
        .has_mean = norm->op == GGML_OP_NORM,
    };

    if (parts.get >= 0) {
        args.ids = gb_cuda_arg(first->src[1]);
        args.sum = gb_cuda_arg_if_written(group, parts.get);
    }
    if (parts.add >= 0) {
        args.addend = gb_cuda_arg_repeated(first->src[1]);
        args.sum = gb_cuda_arg_if_written(group, parts.add);
    }
    if (parts.bias >= 0) {
        args.bias = gb_cuda_arg_repeated(operand(group, parts.bias));
        args.scaled = gb_cuda_arg_if_written(group, parts.mul);
    }
    gb_cuda_launch_rows(emit, &kernels, last->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_fused gb_cuda_fused_norm = {
    .supports = fused_norm_supports,
    .emit = fused_norm_emit,
};
