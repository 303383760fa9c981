/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/mask.c - a matrix with all right of a diagonal replaced.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-diagmask.h"

static void
diag_mask_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const bool is_inf = node->op == GGML_OP_DIAG_MASK_INF;
    struct gb_vk_diag_mask_params params = {
        .ne = GB_VK_NE(node),
        .dst_nb = GB_VK_NB(node),
        .src_nb = GB_VK_NB(node->src[0]),
        .n = (uint32_t)ggml_nelements(node),
        .n_past = (uint32_t)gb_node_param_i32(node, 0),
        .value = is_inf ? 0xff800000u : 0,
    };

    GB_VK_DISPATCH(emit, diagmask, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(node->src[0]));
}

/* Rows count from a matrix's first. */
static const struct gb_vk_parts diag_mask_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { GB_VK_ALIKE },
};

const struct gb_vk_op gb_vk_op_diag_mask = {
    .parts = &diag_mask_parts,
    .emit = diag_mask_emit,
};
