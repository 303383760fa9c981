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
resize_supports(const struct ggml_tensor *node)
{
    return gb_vk_has_sources(node, 1) && node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1 && gb_vk_can_be_moved(node) &&
           gb_vk_can_be_moved(node->src[0]);
}

/* An empty source has no nearest element. */
static bool
upscale_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return resize_supports(node) && !ggml_is_empty(node->src[0]);
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
    .supports = upscale_supports,
    .parts = &resize_parts,
    .emit = upscale_emit,
};

static bool
pad_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (!resize_supports(node))
        return false;
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (node->src[0]->ne[d] > node->ne[d])
            return false;
    return true;
}

static void
pad_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = { .kind = GB_VK_MOVE_PAD };

    gb_vk_emit_move(emit, &move, node, node->src[0], NULL);
}

const struct gb_vk_op gb_vk_op_pad = {
    .supports = pad_supports,
    .parts = &resize_parts,
    .emit = pad_emit,
};

/* Fewer elements on either side than the source has: one reflection is
 * enough. */
static bool
pad_reflect_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int32_t before = gb_vk_param_i32(node, 0);
    const int32_t behind = gb_vk_param_i32(node, 1);
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    return resize_supports(node) && before >= 0 && before < a->ne[0] &&
           behind >= 0 && behind < a->ne[0] &&
           node->ne[0] == before + a->ne[0] + behind &&
           node->ne[1] == a->ne[1] && node->ne[2] == a->ne[2] &&
           node->ne[3] == a->ne[3];
}

static void
pad_reflect_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = {
        .kind = GB_VK_MOVE_REFLECT,
        .before = (uint32_t)gb_vk_param_i32(node, 0),
    };

    gb_vk_emit_move(emit, &move, node, node->src[0], NULL);
}

const struct gb_vk_op gb_vk_op_pad_reflect = {
    .supports = pad_reflect_supports,
    .parts = &resize_parts,
    .emit = pad_reflect_emit,
};
