/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/conv.c - transposed convolutions, in one dimension and in two.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-conv.h"

/* A place fits an int32_t. */
static bool
conv_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_node_is_countable(node);
}

/* Dispatch the sum over in channels, if kernel and input have elements. */
static void
conv_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node,
          struct gb_vk_conv_params *params, int64_t n_channels)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const bool is_empty = ggml_is_empty(a) || ggml_is_empty(b);

    params->n = (uint32_t)ggml_nelements(node);
    params->stride = (uint32_t)gb_node_param_i32(node, 0);
    params->n_channels = is_empty ? 0 : (uint32_t)n_channels;
    params->is_half = a->type == GGML_TYPE_F16;
    emit->operations = 2 * (uint64_t)params->n * params->n_channels *
                       (uint64_t)(a->ne[0] * a->ne[1]);
    GB_VK_DISPATCH(emit, conv_transpose, gb_vk_groups(params->n, 256), params,
                   gb_vk_write(node), gb_vk_read_or(a, node),
                   gb_vk_read_or(b, node));
}

/* [x, channel, ..] as [x, 1, channel, ..]. */
static void
conv_1d_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_vk_conv_params params = {
        .ne = { (uint32_t)node->ne[0], 1, (uint32_t)node->ne[1], 1 },
        .kernel_ne = { (uint32_t)a->ne[0], 1 },
        .kernel_nb = { (uint32_t)a->nb[0], 0, (uint32_t)a->nb[1],
                       (uint32_t)a->nb[2] },
        .input_ne = { (uint32_t)b->ne[0], 1 },
        .input_nb = { (uint32_t)b->nb[0], 0, (uint32_t)b->nb[1], 0 },
    };

    conv_emit(emit, node, &params, b->ne[1]);
}

/* Out channels are cut from each other. */
static const struct gb_vk_parts conv_1d_parts = {
    .dims = { [1] = true },
    .sources = { { [1] = 2 } },
};

const struct gb_vk_op gb_vk_op_conv_transpose_1d = {
    .supports = conv_supports,
    .parts = &conv_1d_parts,
    .emit = conv_1d_emit,
};

static void
conv_2d_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_vk_conv_params params = {
        .ne = GB_VK_NE(node),
        .kernel_ne = { (uint32_t)a->ne[0], (uint32_t)a->ne[1] },
        .kernel_nb = GB_VK_NB(a),
        .input_ne = { (uint32_t)b->ne[0], (uint32_t)b->ne[1] },
        .input_nb = GB_VK_NB(b),
    };

    conv_emit(emit, node, &params, b->ne[2]);
}

/* Images are cut from each other, and so are out channels. */
static const struct gb_vk_parts conv_2d_parts = {
    .dims = { [2] = true, [3] = true },
    .sources = { { [2] = 3 }, { [3] = 4 } },
};

const struct gb_vk_op gb_vk_op_conv_transpose_2d = {
    .supports = conv_supports,
    .parts = &conv_2d_parts,
    .emit = conv_2d_emit,
};
