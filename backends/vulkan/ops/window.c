/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/window.c - images divided into windows, and positions inside of
 * them.
 */
#include "backends/vulkan/ops/counts.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-addrelpos.h"
#include "backends/vulkan/shaders/params-window.h"

/* Rows are moved as they are: any type without blocks. */
static bool
window_supports(const struct ggml_tensor *node)
{
    return gb_vk_has_sources(node, 1) && node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1 && gb_vk_is_dense(node) &&
           node->src[0]->ne[0] == node->ne[0];
}

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
    const int64_t across = gb_vk_param_i32(node, 0);
    const int64_t side = gb_vk_param_i32(node, 2);

    (void)limits;
    return window_supports(node) && node->src[0]->ne[3] == 1 && across > 0 &&
           side > 0 && across * side <= INT32_MAX &&
           (node->ne[3] / across + 1) <= INT32_MAX / side &&
           node->ne[1] <= INT32_MAX && node->ne[2] <= INT32_MAX;
}

static void
win_part_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_VK_PART, gb_vk_param_i32(node, 2),
                gb_vk_param_i32(node, 0));
}

const struct gb_vk_op gb_vk_op_win_part = {
    .supports = win_part_supports,
    .emit = win_part_emit,
};

/* Parameter: the side of a window. */
static bool
win_unpart_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t w = gb_vk_param_i32(node, 0);

    (void)limits;
    return window_supports(node) && w > 0 && a->ne[1] == w &&
           a->ne[2] == w && node->ne[3] == 1 &&
           window_count(node->ne[1], w) * window_count(node->ne[2], w) <=
               a->ne[3];
}

static void
win_unpart_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const int64_t w = gb_vk_param_i32(node, 0);

    window_emit(emit, node, GB_VK_UNPART, w, window_count(node->ne[1], w));
}

const struct gb_vk_op gb_vk_op_win_unpart = {
    .supports = win_unpart_supports,
    .emit = win_unpart_emit,
};

/* The table has a row for each distance of two positions. */
static bool
get_rel_pos_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return window_supports(node) && node->type == GGML_TYPE_F16 &&
           node->ne[3] == 1 && ggml_is_matrix(node->src[0]) &&
           node->ne[1] + node->ne[2] - 1 <= node->src[0]->ne[1];
}

static void
get_rel_pos_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    window_emit(emit, node, GB_VK_REL_POS, 0, 0);
}

const struct gb_vk_op gb_vk_op_get_rel_pos = {
    .supports = get_rel_pos_supports,
    .emit = get_rel_pos_emit,
};

static bool
is_contiguous_f32(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t);
}

/* src1 is added to the columns, src2 to the rows of the positions that a row of
 * src0 has. */
static bool
add_rel_pos_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *columns = node->src[1];
    const struct ggml_tensor *rows = node->src[2];

    (void)limits;
    return gb_vk_has_sources(node, 3) && is_contiguous_f32(node) &&
           is_contiguous_f32(a) && is_contiguous_f32(columns) &&
           is_contiguous_f32(rows) && ggml_are_same_shape(a, node) &&
           ggml_are_same_shape(columns, rows) &&
           gb_vk_is_product(a->ne[0], columns->ne[0], columns->ne[0]) &&
           ggml_nrows(a) == ggml_nrows(columns);
}

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
    .supports = add_rel_pos_supports,
    .emit = add_rel_pos_emit,
};
