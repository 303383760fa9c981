/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/repeat.c - a tensor tiled over a larger shape, and the sum of
 * tiles: REPEAT of any type, REPEAT_BACK of floating-point types.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-repeatback.h"

static bool
repeat_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_can_be_moved(node) && gb_vk_can_be_moved(node->src[0]);
}

static void
repeat_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_move move = { .kind = GB_VK_MOVE_REPEAT };

    gb_vk_emit_move(emit, &move, node, node->src[0], NULL);
}

const struct gb_vk_op gb_vk_op_repeat = {
    .supports = repeat_supports,
    .parts = &gb_vk_parts_of_elements,
    .emit = repeat_emit,
};

/* From this many tiles on a work group shares the sum of an element, if there
 * are not elements enough to fill a card with one invocation each. */
#define MIN_TILES    1024
#define MAX_ELEMENTS 16384

static void
repeat_back_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_repeat_back_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_nb = GB_VK_NB(a),
        .n = (uint32_t)ggml_nelements(node),
        .n_tiles = 1,
        .src_type = gb_vk_float_of(a->type),
    };

    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        params.tiles[d] = (uint32_t)(a->ne[d] / node->ne[d]);
        params.n_tiles *= params.tiles[d];
    }
    if (params.n_tiles >= MIN_TILES && params.n < MAX_ELEMENTS)
        GB_VK_DISPATCH(emit, repeatback_by_group, params.n, &params,
                       gb_vk_write(node), gb_vk_read(a));
    else
        GB_VK_DISPATCH(emit, repeatback, gb_vk_groups(params.n, 256), &params,
                       gb_vk_write(node), gb_vk_read(a));
}

/* Repetitions of an element lie apart. */
static const struct gb_vk_parts repeat_back_parts = {
    .dims = { true, true, true, true },
    .sources = { GB_VK_ALIKE },
    .may = gb_vk_is_as_long,
};

const struct gb_vk_op gb_vk_op_repeat_back = {
    .parts = &repeat_back_parts,
    .emit = repeat_back_emit,
};
