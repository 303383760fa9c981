/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/softmax.c - softmax of rows, with a scale and a mask, and its
 * gradient.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-softmax.h"
#include "backends/vulkan/shaders/params-softmaxback.h"

/* The mask has a row for each row of a matrix, and perhaps more. */
static bool
is_mask_for(const struct ggml_tensor *mask, const struct ggml_tensor *a)
{
    return (mask->type == GGML_TYPE_F32 || mask->type == GGML_TYPE_F16) &&
           gb_vk_is_dense(mask) && mask->ne[0] == a->ne[0] &&
           mask->ne[1] >= a->ne[1] && mask->ne[2] > 0 && mask->ne[3] > 0;
}

static bool
soft_max_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];

    (void)limits;
    return a != NULL && gb_vk_has_f32_rows(a) && gb_vk_has_f32_rows(node) &&
           ggml_are_same_shape(a, node) &&
           (mask == NULL || is_mask_for(mask, a));
}

static uint32_t
power_of_2_up_to(int64_t n)
{
    int64_t power = 1;

    while (power <= n / 2)
        power *= 2;
    return (uint32_t)power;
}

static void
soft_max_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(soft_max);
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *mask = node->src[1];
    struct gb_vk_softmax_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .src_nb = GB_VK_ROW_NB(a),
        .mask_nb = mask == NULL ? 0 : (uint32_t)mask->nb[1],
        .mask_type = mask == NULL ? GB_VK_F32 : gb_vk_float_of(mask->type),
        .has_mask = mask != NULL,
        .n = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
        .power = power_of_2_up_to(node->ne[2]),
        .scale = gb_vk_param_f32(node, 0),
        .max_bias = gb_vk_param_f32(node, 1),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(a), gb_vk_read(mask == NULL ? a : mask));
}

/* A head's slope depends on how many there are. */
static bool
soft_max_may(const struct ggml_tensor *node, int dim)
{
    return dim != 2 || gb_vk_param_f32(node, 1) == 0.0f;
}

/* All matrices have the same mask. */
static const struct gb_vk_parts soft_max_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE, { [1] = 2 } },
    .may = soft_max_may,
};

const struct gb_vk_op gb_vk_op_soft_max = {
    .supports = soft_max_supports,
    .parts = &soft_max_parts,
    .emit = soft_max_emit,
};

/* The gradient is that of a softmax without slopes. */
static bool
soft_max_back_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (!gb_vk_has_sources(node, 2) || !gb_vk_has_f32_rows(node))
        return false;
    for (int i = 0; i < 2; i++)
        if (!gb_vk_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return gb_vk_param_f32(node, 1) == 0.0f;
}

static void
soft_max_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    static const struct gb_vk_row_pipelines pipelines =
        GB_VK_ROW_PIPELINES(soft_max_back);
    const struct ggml_tensor *dy = node->src[0];
    const struct ggml_tensor *y = node->src[1];
    struct gb_vk_softmax_back_params params = {
        .ne = GB_VK_ROW_NE(node),
        .dst_nb = GB_VK_ROW_NB(node),
        .dy_nb = GB_VK_ROW_NB(dy),
        .y_nb = GB_VK_ROW_NB(y),
        .n = (uint32_t)node->ne[0],
        .n_rows = (uint32_t)ggml_nrows(node),
        .scale = gb_vk_param_f32(node, 0),
    };

    GB_VK_DISPATCH_ONE_OF(
        emit, gb_vk_row_pipeline(&pipelines, params.n),
        gb_vk_row_groups(params.n, params.n_rows), &params,
        gb_vk_write(node), gb_vk_read(dy), gb_vk_read(y));
}

const struct gb_vk_op gb_vk_op_soft_max_back = {
    .supports = soft_max_back_supports,
    .parts = &gb_vk_parts_of_rows,
    .emit = soft_max_back_emit,
};
