/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/recurrent.c - operations that carry a state from token to token.
 *
 * N numbers of state a channel, R channels, T tokens, S sequences, H heads of Z
 * elements.  Results are contiguous: the outputs of all tokens, then the last
 * states.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-linear.h"
#include "backends/vulkan/shaders/params-ssmconv.h"
#include "backends/vulkan/shaders/params-ssmscan.h"

#include "lib/node/recurrent.h"

/* Strides of dimensions 1 and 2. */
#define NB_1_2(t) { (uint32_t)(t)->nb[1], (uint32_t)(t)->nb[2] }

static void
ssm_conv_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    struct gb_vk_ssm_conv_params params = {
        .ne = { (uint32_t)node->ne[0], (uint32_t)node->ne[1] },
        .src_nb = NB_1_2(a),
        .n_taps = (uint32_t)b->ne[0],
        .n = (uint32_t)ggml_nelements(node),
    };

    GB_VK_DISPATCH(emit, ssm_conv, gb_vk_groups(params.n, 256), &params,
                   gb_vk_write(node), gb_vk_read(a), gb_vk_read_or(b, node));
}

/* Sequences are cut from each other. */
static const struct gb_vk_parts ssm_conv_parts = {
    .dims = { [2] = true },
    .sources = { GB_VK_ALIKE },
};

const struct gb_vk_op gb_vk_op_ssm_conv = {
    .parts = &ssm_conv_parts,
    .emit = ssm_conv_emit,
};

static void
ssm_scan_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *const *src =
        (const struct ggml_tensor *const *)node->src;
    struct gb_vk_ssm_scan_params params = {
        .n_state = (uint32_t)src[0]->ne[0],
        .n_channels = (uint32_t)src[0]->ne[1],
        .n_tokens = (uint32_t)src[1]->ne[1],
        .n_seqs = (uint32_t)src[0]->ne[2],
        .first_nb = NB_1_2(src[0]),
        .x_nb = NB_1_2(src[1]),
        .dt_nb = NB_1_2(src[2]),
        .a_nb = (uint32_t)src[3]->nb[1],
        .b_nb = NB_1_2(src[4]),
        .c_nb = NB_1_2(src[5]),
    };

    emit->operations = 8 * (uint64_t)ggml_nelements(src[1]) * params.n_state;
    GB_VK_DISPATCH_ONE_OF(
        emit,
        params.n_state <= GB_VK_SCAN_LANES ? GB_VK_ssm_scan_16
                                           : GB_VK_ssm_scan,
        gb_vk_groups(src[0]->ne[1] * src[0]->ne[2], 256 / GB_VK_SCAN_LANES),
        &params, gb_vk_write(node), gb_vk_read_or(src[0], node),
        gb_vk_read_or(src[1], node), gb_vk_read_or(src[2], node),
        gb_vk_read_or(src[3], node), gb_vk_read_or(src[4], node),
        gb_vk_read_or(src[5], node));
}

const struct gb_vk_op gb_vk_op_ssm_scan = {
    .emit = ssm_scan_emit,
};

/* ---- linear attention ---- */

/* Indexed by gb_node_has_bonus. */
static const enum gb_vk_pipeline any_pipelines[] = { GB_VK_gla, GB_VK_wkv6 };
static const enum gb_vk_pipeline pipelines_of_64[] = { GB_VK_gla_64,
                                                       GB_VK_wkv6_64 };

static void
linear_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const struct ggml_tensor *decay = gb_node_decay_of(node);
    const int64_t n_seqs = gb_node_state_of(node)->ne[1];
    const int64_t n_heads = k->ne[1] * n_seqs;
    const bool is_of_64 = k->ne[0] == 64;
    struct gb_vk_linear_params params = {
        .z = (uint32_t)k->ne[0],
        .n_heads = (uint32_t)k->ne[1],
        .n_seqs = (uint32_t)n_seqs,
        .n_tokens = (uint32_t)(k->ne[2] / n_seqs),
        .scale = gb_node_param_f32(node, 0),
    };

    emit->operations = 6 * (uint64_t)ggml_nelements(k) * params.z;
    GB_VK_DISPATCH_ONE_OF(
        emit,
        is_of_64 ? pipelines_of_64[gb_node_has_bonus(node)]
                 : any_pipelines[gb_node_has_bonus(node)],
        is_of_64 ? n_heads : gb_vk_groups(n_heads * k->ne[0], 64), &params,
        gb_vk_write(node), gb_vk_read_or(k, node),
        gb_vk_read_or(node->src[1], node), gb_vk_read_or(node->src[2], node),
        gb_vk_read_or(decay, node), gb_vk_read_or(node->src[3], node),
        gb_vk_read(gb_node_state_of(node)));
}

const struct gb_vk_op gb_vk_op_linear = {
    .emit = linear_emit,
};
