/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/window.c - images divided into windows, and positions inside of
 * them.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-addrelpos.h"
#include "backends/vulkan/shaders/params-window.h"

/* Windows of N positions that LENGTH positions take. */
static int64_t
window_count(int64_t length, int64_t n)
{
    return (length + n - 1) / n;
}

static void
window_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node,
            uint32_t kind, int64_t side, int64_t across)
{
    const struct ggml_tensor *a = node->src[0];
    struct gb_vk_window_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_ne = { (uint32_t)a->ne[1], (uint32_t)a->ne[2] },
        .src_nb = GB_VK_NB(a),
        .kind = kind,
        .size = (uint32_t)ggml_type_size(node->type),
        .side = (uint32_t)side,
        .across = (uint32_t)across,
        .n = (uint32_t)ggml_nelements(node),
    };

    GB_VK_DISPATCH(emit, window, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(a));
}

/* Parameters: windows across and down, and their side.  A position behind the
 * image fits 32 bits, too. */
static bool
win_part_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int64_t across = gb_node_param_i32(node, 0);
    const int64_t side = gb_node_param_i32(node, 2);

    (void)limits;
    return across * side <= INT32_MAX &&
           node->ne[3] / across + 1 <= INT32_MAX / side;
}

static void
win_part_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_VK_PART, gb_node_param_i32(node, 2),
                gb_node_param_i32(node, 0));
}

const struct gb_vk_op gb_vk_op_win_part = {
    .supports = win_part_supports,
    .emit = win_part_emit,
};

static void
win_unpart_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const int64_t w = gb_node_param_i32(node, 0);

    window_emit(emit, node, GB_VK_UNPART, w, window_count(node->ne[1], w));
}

const struct gb_vk_op gb_vk_op_win_unpart = {
    .emit = win_unpart_emit,
};

static void
get_rel_pos_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_VK_REL_POS, 0, 0);
}

const struct gb_vk_op gb_vk_op_get_rel_pos = {
    .emit = get_rel_pos_emit,
};

static void
add_rel_pos_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    struct gb_vk_add_rel_pos_params params = {
        .side = (uint32_t)node->src[1]->ne[0],
        .n = (uint32_t)ggml_nelements(node),
    };

    GB_VK_DISPATCH(emit, add_rel_pos, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(node->src[0]),
                   gb_vk_read(node->src[1]), gb_vk_read(node->src[2]));
}

const struct gb_vk_op gb_vk_op_add_rel_pos = {
    .emit = add_rel_pos_emit,
};
