/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/conv.c - transposed convolutions, in one dimension and in two.
 */
#include "backends/vulkan/ops/counts.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-conv.h"

/* Places and steps beyond them fit an int32_t. */
static bool
is_short(const struct ggml_tensor *t)
{
    return (t->ne[0] | t->ne[1] | t->ne[2] | t->ne[3]) >> 30 == 0;
}

/* Types, strides and the stride parameter, which both operations have in
 * common. */
static bool
conv_supports(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_vk_has_sources(node, 2) &&
           (a->type == GGML_TYPE_F16 || a->type == GGML_TYPE_F32) &&
           b->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(node) && gb_vk_param_i32(node, 0) > 0 &&
           is_short(a) && is_short(b) && is_short(node);
}

/* Has the output (L - 1) * s + K elements along dimension D?  Of an empty input
 * it is zeros, and may have any length. */
static bool
is_covered(const struct ggml_tensor *node, int d)
{
    const int64_t stride = gb_vk_param_i32(node, 0);
    const int64_t length = node->src[1]->ne[d];

    return length == 0 ||
           node->ne[d] == (length - 1) * stride + node->src[0]->ne[d];
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
    params->stride = (uint32_t)gb_vk_param_i32(node, 0);
    params->n_channels = is_empty ? 0 : (uint32_t)n_channels;
    params->is_half = a->type == GGML_TYPE_F16;
    emit->operations = 2 * (uint64_t)params->n * params->n_channels *
                       (uint64_t)(a->ne[0] * a->ne[1]);
    GB_VK_DISPATCH(emit, conv_transpose, gb_vk_groups(params->n, 256), params,
                   gb_vk_write(node), gb_vk_read_or(a, node),
                   gb_vk_read_or(b, node));
}

/* Parameters are stride, padding and dilation, the last two 0 and 1. */
static bool
conv_1d_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return conv_supports(node) && ggml_is_matrix(b) && a->ne[2] == b->ne[1] &&
           a->ne[3] == 1 && is_covered(node, 0) &&
           gb_vk_has_shape(node, node->ne[0], a->ne[1], 1, 1) &&
           gb_vk_param_i32(node, 1) == 0 && gb_vk_param_i32(node, 2) == 1;
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

const struct gb_vk_op gb_vk_op_conv_transpose_1d = {
    .supports = conv_1d_supports,
    .emit = conv_1d_emit,
};

static bool
conv_2d_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return conv_supports(node) && a->ne[3] == b->ne[2] &&
           is_covered(node, 0) && is_covered(node, 1) &&
           node->ne[2] == a->ne[2] && node->ne[3] == b->ne[3];
}

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

const struct gb_vk_op gb_vk_op_conv_transpose_2d = {
    .supports = conv_2d_supports,
    .emit = conv_2d_emit,
};
