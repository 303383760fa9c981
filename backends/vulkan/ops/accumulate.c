/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/accumulate.c - a tensor with a part of it replaced or added to:
 * ACC of F32, SET of any type without blocks.
 *
 * dst becomes src0 first, then src1 is written into a view of dst that the
 * parameters describe, or added to it.
 */
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-accumulate.h"

#include "lib/node/part.h"

static bool
accumulate_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_vk_can_be_moved(node->src[0]) &&
           gb_vk_can_be_moved(node->src[1]);
}

/* Rows that overlap are left to a single work group, which takes them in
 * order. */
static void
accumulate_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor part = gb_node_part_of(node);
    struct gb_vk_accumulate_params params = {
        .ne = GB_VK_NE(&part),
        .dst_nb = GB_VK_NB(&part),
        .src_nb = GB_VK_NB(node->src[1]),
        .rows = (uint32_t)ggml_nrows(&part),
        .rows_of_group = gb_node_rows_are_apart(&part) ? 1 : UINT32_MAX,
        .first = (uint32_t)gb_node_part_offset(node),
        .size = (uint32_t)ggml_type_size(node->type),
        .is_sum = node->op == GGML_OP_ACC,
    };

    if (node->data != node->src[0]->data)
        gb_vk_emit_copy(emit, node, node->src[0]);
    if (ggml_is_empty(&part))
        return;
    GB_VK_DISPATCH(emit, accumulate,
                   params.rows_of_group == 1 ? params.rows : 1, &params,
                   gb_vk_write(node), gb_vk_read(node->src[1]));
}

const struct gb_vk_op gb_vk_op_accumulate = {
    .supports = accumulate_supports,
    .emit = accumulate_emit,
};
