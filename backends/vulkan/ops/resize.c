/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/resize.c - tensors made larger, of any type without blocks:
 * UPSCALE by nearest neighbours, PAD by zeros, PAD_REFLECT_1D by their mirror
 * image.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"

static bool
resize_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_can_be_moved(node) && gb_vk_can_be_moved(node->src[0]);
}

static void
upscale_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_move move = { .kind = GB_VK_MOVE_UPSCALE };

    for (int d = 0; d < GGML_MAX_DIMS; d++)
        move.factors[d] = (float)node->ne[d] / (float)a->ne[d];
    gb_vk_emit_move(emit, &move, node, a, NULL);
}

/* Along dimensions in which nothing changes. */
static const struct gb_vk_parts resize_parts = {
    .dims = { [1] = true, [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE },
    .may = gb_vk_is_as_long,
};

const struct gb_vk_op gb_vk_op_upscale = {
    .supports = resize_supports,
    .parts = &resize_parts,
    .emit = upscale_emit,
};

static void
pad_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = { .kind = GB_VK_MOVE_PAD };

    gb_vk_emit_move(emit, &move, node, node->src[0], NULL);
}

const struct gb_vk_op gb_vk_op_pad = {
    .supports = resize_supports,
    .parts = &resize_parts,
    .emit = pad_emit,
};

static void
pad_reflect_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = {
        .kind = GB_VK_MOVE_REFLECT,
        .before = (uint32_t)gb_node_param_i32(node, 0),
    };

    gb_vk_emit_move(emit, &move, node, node->src[0], NULL);
}

const struct gb_vk_op gb_vk_op_pad_reflect = {
    .supports = resize_supports,
    .parts = &resize_parts,
    .emit = pad_reflect_emit,
};
