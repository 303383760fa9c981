/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/norm.c - rows, or groups of channels, brought to mean 0 and
 * variance 1, or to a mean square of 1.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-groupnorm.h"
#include "backends/vulkan/shaders/params-norm.h"

static int
source_count(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RMS_NORM_BACK ? 2 : 1;
}

/* All tensors are F32 of the same shape, with dense rows. */
static bool
norm_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int n = source_count(node);

    (void)limits;
    if (!gb_vk_has_sources(node, n) || !gb_vk_has_f32_rows(node))
        return false;
    for (int i = 0; i < n; i++)
        if (!gb_vk_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return true;
}

static const struct gb_vk_row_pipelines *
pipelines_of(const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines norm = GB_VK_ROW_PIPELINES(norm);
    static const struct gb_vk_row_pipelines rms_norm =
        GB_VK_ROW_PIPELINES(rms_norm);
    static const struct gb_vk_row_pipelines rms_norm_back =
        GB_VK_ROW_PIPELINES(rms_norm_back);

    if (node->op == GGML_OP_NORM)
        return &norm;
    return node->op == GGML_OP_RMS_NORM ? &rms_norm : &rms_norm_back;
}

static void
norm_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[source_count(node) - 1];
    struct gb_vk_norm_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src0_nb = GB_VK_ROW_NB(a),
        .src1_nb = GB_VK_ROW_NB(b),
        .n = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
        .eps = gb_vk_param_f32(node, 0),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(pipelines_of(node), params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(a), gb_vk_read(b));
}

const struct gb_vk_op gb_vk_op_norm = {
    .supports = norm_supports,
    .parts = &gb_vk_parts_of_rows,
    .emit = norm_emit,
};

static bool
group_norm_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return norm_supports(limits, node) && gb_vk_param_i32(node, 0) > 0;
}

/* Channels of a group are the channels by the groups, rounded up; groups that
 * would have none are left out. */
static void
group_norm_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t groups = gb_vk_param_i32(node, 0);
    const int64_t per_group = (node->ne[2] + groups - 1) / groups;
    struct gb_vk_group_norm_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_ROW_NB(a),
        .per_group = (uint32_t)per_group,
        .n_groups = (uint32_t)((node->ne[2] + per_group - 1) / per_group),
        .eps = gb_vk_param_f32(node, 1),
    };

    GB_VK_DISPATCH(emit, group_norm, params.n_groups * node->ne[3], &params,
                   gb_vk_write(node), gb_vk_read(a));
}

/* A group has channels, of one image. */
static const struct gb_vk_parts group_norm_parts = {
    .dims = { [3] = true },
    .sources = { GB_VK_ALIKE },
};

const struct gb_vk_op gb_vk_op_group_norm = {
    .supports = group_norm_supports,
    .parts = &group_norm_parts,
    .emit = group_norm_emit,
};
