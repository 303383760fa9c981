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

/* The mask has a row for each row of a matrix, and perhaps more. */
static bool
is_mask_for(const struct ggml_tensor *mask, const struct ggml_tensor *a)
{
    return (mask->type == GGML_TYPE_F32 || mask->type == GGML_TYPE_F16) &&
           gb_cuda_is_dense(mask) && mask->ne[0] == a->ne[0] &&
           mask->ne[1] >= a->ne[1] && mask->ne[2] > 0 && mask->ne[3] > 0;
}

static bool
soft_max_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];

    (void)limits;
    return a != NULL && gb_cuda_has_f32_rows(a) &&
           gb_cuda_has_f32_rows(node) && ggml_are_same_shape(a, node) &&
           (mask == NULL || is_mask_for(mask, a));
}

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
        .scale = gb_cuda_param_f32(node, 0),
        .max_bias = gb_cuda_param_f32(node, 1),
        .power = power_of_2_up_to(node->ne[2]),
    };

    gb_cuda_launch_rows(
        emit, mask != NULL && mask->type == GGML_TYPE_F16 ? &f16 : &f32,
        node->ne[0], args.n_rows, &args, sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_soft_max = {
    .supports = soft_max_supports,
    .emit = soft_max_emit,
};

/* ---- with what stands before it ---- */

/* Where the nodes of a group are; -1: it is not there. */
struct parts {
    int scale, mask, soft_max;
};

static struct parts
parts_of(const struct gb_fuse_group *group)
{
    const int soft_max = group->n_nodes - 1;
    const bool is_scaled = group->nodes[0]->op == GGML_OP_SCALE;

    return (struct parts){
        .scale = is_scaled ? 0 : -1,
        .mask = soft_max == is_scaled ? -1 : soft_max - 1,
        .soft_max = soft_max,
    };
}

/* What the group makes scores of. */
static const struct ggml_tensor *
scores_of(const struct gb_fuse_group *group)
{
    return group->nodes[0]->src[0];
}

/* What is added to them; NULL: nothing. */
static const struct ggml_tensor *
addend_of(const struct gb_fuse_group *group)
{
    const struct parts parts = parts_of(group);

    if (parts.mask < 0 || group->nodes[parts.mask]->op != GGML_OP_ADD)
        return NULL;
    return gb_cuda_other_operand(
        group->nodes[parts.mask],
        parts.scale < 0 ? scores_of(group) : group->nodes[parts.scale]);
}

static bool
fused_soft_max_supports(const struct gb_cuda_limits *limits,
                        const struct gb_fuse_group *group)
{
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    const struct ggml_tensor *addend = addend_of(group);

    (void)limits;
    for (int i = 0; i < group->n_nodes; i++) {
        if (!gb_cuda_has_f32_rows(group->nodes[i]) ||
            !ggml_are_same_shape(group->nodes[i], last))
            return false;
    }
    return last->src[1] == NULL && gb_cuda_has_f32_rows(scores_of(group)) &&
           ggml_are_same_shape(scores_of(group), last) &&
           (addend == NULL || gb_cuda_has_rows_for(addend, last));
}

static void
fused_soft_max_emit(
    struct gb_cuda_emit *emit, const struct gb_fuse_group *group)
{
    static const struct gb_cuda_row_kernels kernels =
        GB_CUDA_ROW_KERNELS(soft_max_chain);
    const struct parts parts = parts_of(group);
    const struct ggml_tensor *last = group->nodes[parts.soft_max];
    const struct ggml_tensor *addend = addend_of(group);
    struct gb_cuda_softmax_chain_args args = {
        .dst = gb_cuda_arg(last),
        .src0 = gb_cuda_arg(scores_of(group)),
        .n_rows = ggml_nrows(last),
        .n_past = INT64_MAX / 2,
        .factor = 1.0f,
        .scale = gb_cuda_param_f32(last, 0),
    };

    if (parts.scale >= 0) {
        args.factor = gb_cuda_param_f32(group->nodes[parts.scale], 0);
        args.scaled = gb_cuda_arg_if_written(group, parts.scale);
    }
    if (parts.mask >= 0)
        args.masked = gb_cuda_arg_if_written(group, parts.mask);
    if (addend != NULL)
        args.addend = gb_cuda_arg_repeated(addend);
    else if (parts.mask >= 0)
        args.n_past = gb_cuda_param_i32(group->nodes[parts.mask], 0);
    gb_cuda_launch_rows(emit, &kernels, last->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_fused gb_cuda_fused_soft_max = {
    .supports = fused_soft_max_supports,
    .emit = fused_soft_max_emit,
};

/* The gradient is that of a softmax without slopes. */
static bool
soft_max_back_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (!gb_cuda_has_sources(node, 2) || !gb_cuda_has_f32_rows(node))
        return false;
    for (int i = 0; i < 2; i++)
        if (!gb_cuda_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return gb_cuda_param_f32(node, 1) == 0.0f;
}

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
        .scale = gb_cuda_param_f32(node, 0),
    };

    gb_cuda_launch_rows(emit, &kernels, node->ne[0], args.n_rows, &args,
                        sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_soft_max_back = {
    .supports = soft_max_back_supports,
    .emit = soft_max_back_emit,
};
