/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/concat.c - one tensor behind another along a dimension: CONCAT of
 * any type.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"

static bool
concat_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_can_be_moved(node) && gb_vk_can_be_moved(node->src[0]) &&
           gb_vk_can_be_moved(node->src[1]);
}

static void
concat_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = {
        .kind = GB_VK_MOVE_CONCAT,
        .dim = (uint32_t)gb_node_param_i32(node, 0),
    };

    gb_vk_emit_move(emit, &move, node, node->src[0], node->src[1]);
}

static bool
concat_may(const struct ggml_tensor *node, int dim)
{
    return dim != gb_node_param_i32(node, 0);
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
