/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/concat.c - one tensor behind another along a dimension: CONCAT of
 * any type.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"

/* Are sizes the same, but along DIM, where dst has room for both? */
static bool
shapes_fit(const struct ggml_tensor *node, uint32_t dim)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    for (uint32_t d = 0; d < GGML_MAX_DIMS; d++)
        if (node->ne[d] != (d == dim ? a->ne[d] + b->ne[d] : a->ne[d]) ||
            (d != dim && b->ne[d] != a->ne[d]))
            return false;
    return true;
}

static bool
concat_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const uint32_t dim = (uint32_t)gb_vk_param_i32(node, 0);

    (void)limits;
    return gb_vk_has_sources(node, 2) && a->type == node->type &&
           b->type == node->type && dim < GGML_MAX_DIMS &&
           gb_vk_can_be_moved(node) && gb_vk_can_be_moved(a) &&
           gb_vk_can_be_moved(b) && shapes_fit(node, dim);
}

static void
concat_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = {
        .kind = GB_VK_MOVE_CONCAT,
        .dim = (uint32_t)gb_vk_param_i32(node, 0),
    };

    gb_vk_emit_move(emit, &move, node, node->src[0], node->src[1]);
}

static bool
concat_may(const struct ggml_tensor *node, int dim)
{
    return dim != gb_vk_param_i32(node, 0);
}

static const struct gb_vk_parts concat_parts = {
    .dims = { true, true, true, true },
    .sources = { GB_VK_ALIKE, GB_VK_ALIKE },
    .may = concat_may,
};

const struct gb_vk_op gb_vk_op_concat = {
    .supports = concat_supports,
    .parts = &concat_parts,
    .emit = concat_emit,
};
