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
    .scratch = cross_entropy_scratch,
    .emit = cross_entropy_emit,
};

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
    .emit = cross_entropy_back_emit,
};

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
    .parts = &gb_vk_parts_of_elements,
    .emit = adamw_emit,
};
