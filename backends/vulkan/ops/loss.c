/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/loss.c - cross entropy with its gradient, and a step of AdamW.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/reduce.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-adamw.h"
#include "backends/vulkan/shaders/params-loss.h"

/* Is T F32 with dense rows, and of the shape of LIKE? */
static bool
is_row_operand(const struct ggml_tensor *t, const struct ggml_tensor *like)
{
    return gb_vk_has_f32_rows(t) && ggml_are_same_shape(t, like);
}

static bool
cross_entropy_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 2) && node->type == GGML_TYPE_F32 &&
           ggml_is_scalar(node) &&
           is_row_operand(node->src[0], node->src[0]) &&
           is_row_operand(node->src[1], node->src[0]);
}

/* Rows that have elements, and so a share of the loss. */
static int64_t
row_count(const struct ggml_tensor *logits)
{
    return ggml_is_empty(logits) ? 0 : ggml_nrows(logits);
}

static size_t
cross_entropy_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_sum_parts_size(row_count(node->src[0]));
}

/* The mean over the rows, with the sign changed. */
static void
cross_entropy_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(cross_entropy);
    const struct ggml_tensor *logits = node->src[0];
    const struct ggml_tensor *labels = node->src[1];
    struct gb_vk_loss_params params = {
        .ne = GB_VK_ROW_NE(logits),
        .logits_nb = GB_VK_ROW_NB(logits),
        .labels_nb = GB_VK_ROW_NB(labels),
        .n = (uint32_t)logits->ne[0],
        .n_rows = (uint32_t)row_count(logits),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_scratch(0, gb_vk_sum_parts_size(params.n_rows), true),
        gb_vk_read(logits), gb_vk_read(labels), gb_vk_read(logits));
    gb_vk_join_parts(emit, node, params.n_rows, -(float)ggml_nrows(logits));
}

const struct gb_vk_op gb_vk_op_cross_entropy = {
    .supports = cross_entropy_supports,
    .scratch = cross_entropy_scratch,
    .emit = cross_entropy_emit,
};

/* src0 is the gradient, one number. */
static bool
cross_entropy_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_has_sources(node, 3) &&
           node->src[0]->type == GGML_TYPE_F32 &&
           ggml_is_scalar(node->src[0]) && is_row_operand(node, node) &&
           is_row_operand(node->src[1], node) &&
           is_row_operand(node->src[2], node);
}

static void
cross_entropy_back_emit(
    struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(cross_entropy_back);
    const struct ggml_tensor *logits = node->src[1];
    const struct ggml_tensor *labels = node->src[2];
    struct gb_vk_loss_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .logits_nb = GB_VK_ROW_NB(logits),
        .labels_nb = GB_VK_ROW_NB(labels),
        .n = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(logits), gb_vk_read(labels),
        gb_vk_read(node->src[0]));
}

const struct gb_vk_op gb_vk_op_cross_entropy_back = {
    .supports = cross_entropy_back_supports,
    .emit = cross_entropy_back_emit,
};

/* Weights, gradient and both moments have the shape of the node, which is a
 * view of the weights. */
static bool
adamw_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *params = node->src[4];

    (void)limits;
    if (!gb_vk_has_sources(node, 5) || !is_row_operand(node, node))
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_row_operand(node->src[i], node))
            return false;
    return params->type == GGML_TYPE_F32 && ggml_is_contiguous(params) &&
           ggml_nelements(params) == 7;
}

/* Both moments are changed, too. */
static void
adamw_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *gradient = node->src[1];
    const struct ggml_tensor *first = node->src[2];
    const struct ggml_tensor *second = node->src[3];
    struct gb_vk_adamw_params params = {
        .ne = GB_VK_NE(node),
        .weights_nb = GB_VK_NB(node),
        .gradient_nb = GB_VK_NB(gradient),
        .first_nb = GB_VK_NB(first),
        .second_nb = GB_VK_NB(second),
        .n = (uint32_t)ggml_nelements(node),
    };

    GB_VK_DISPATCH(emit, adamw, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(gradient),
                   gb_vk_write(first), gb_vk_write(second),
                   gb_vk_read(node->src[4]));
}

const struct gb_vk_op gb_vk_op_adamw = {
    .supports = adamw_supports,
    .parts = &gb_vk_parts_of_elements,
    .emit = adamw_emit,
};
