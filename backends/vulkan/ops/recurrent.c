/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/recurrent.c - operations that carry a state from token to token.
 *
 * N numbers of state a channel, R channels, T tokens, S sequences, H heads of Z
 * elements.  Results are contiguous: the outputs of all tokens, then the last
 * states.
 */
#include "backends/vulkan/ops/counts.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-linear.h"
#include "backends/vulkan/shaders/params-ssmconv.h"
#include "backends/vulkan/shaders/params-ssmscan.h"

/* The first N sources are F32 with dense rows. */
static bool
are_float_rows(const struct ggml_tensor *node, int n)
{
    if (!gb_vk_has_sources(node, n))
        return false;
    for (int i = 0; i < n; i++)
        if (!gb_vk_has_f32_rows(node->src[i]))
            return false;
    return node->type == GGML_TYPE_F32 && ggml_is_contiguous(node);
}

/* Strides of dimensions 1 and 2. */
#define NB_1_2(t) { (uint32_t)(t)->nb[1], (uint32_t)(t)->nb[2] }

/* src0 [K - 1 + T, R, S], src1 [K, R], the node [R, T, S]. */
static bool
ssm_conv_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return are_float_rows(node, 2) && ggml_is_contiguous(b) &&
           ggml_is_matrix(b) && b->ne[1] == a->ne[1] &&
           a->ne[0] == b->ne[0] - 1 + node->ne[1] && a->ne[3] == 1 &&
           gb_vk_has_shape(node, a->ne[1], node->ne[1], a->ne[2], 1);
}

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

const struct gb_vk_op gb_vk_op_ssm_conv = {
    .supports = ssm_conv_supports,
    .emit = ssm_conv_emit,
};

/* Sources: the first states [N, R, S], x and dt [R, T, S], A [N, R], B and C
 * [N, T, S]. */
static bool
ssm_scan_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    int64_t n, r, t, n_seqs;

    (void)limits;
    if (!are_float_rows(node, 6))
        return false;
    n = s->ne[0];
    r = s->ne[1];
    t = x->ne[1];
    n_seqs = s->ne[2];
    return s->ne[3] == 1 && gb_vk_has_shape(x, r, t, n_seqs, 1) &&
           gb_vk_has_shape(node->src[2], r, t, n_seqs, 1) &&
           gb_vk_has_shape(node->src[3], n, r, 1, 1) &&
           gb_vk_has_shape(node->src[4], n, t, n_seqs, 1) &&
           gb_vk_has_shape(node->src[5], n, t, n_seqs, 1) &&
           ggml_nelements(node) == ggml_nelements(x) + ggml_nelements(s);
}

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
    .supports = ssm_scan_supports,
    .emit = ssm_scan_emit,
};

/* ---- linear attention ---- */

/*
 * RWKV_WKV6           k v r bonus decay state
 * GATED_LINEAR_ATTN   k v q decay state
 *
 * k, v, r or q and decay are [Z, H, T], bonus [Z, H]; the state, [.., S], has
 * Z * Z numbers for each head and sequence.
 */
static bool
has_bonus(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_RWKV_WKV6;
}

static int
linear_sources(const struct ggml_tensor *node)
{
    return has_bonus(node) ? 6 : 5;
}

static const struct ggml_tensor *
state_of(const struct ggml_tensor *node)
{
    return node->src[linear_sources(node) - 1];
}

static bool
has_linear_shape(const struct ggml_tensor *node, int i)
{
    const struct ggml_tensor *k = node->src[0];

    if (has_bonus(node) && i == 3)
        return gb_vk_has_shape(node->src[i], k->ne[0], k->ne[1], 1, 1);
    return i == linear_sources(node) - 1 ||
           ggml_are_same_shape(node->src[i], k);
}

/* The states have Z * Z * H * S numbers, and are as many as the node has behind
 * the outputs. */
static bool
are_states_good(const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const int64_t n_state = ggml_nelements(state_of(node));
    const int64_t rows = k->ne[0] * k->ne[1];
    const int64_t n_seqs = state_of(node)->ne[1];

    return n_seqs > 0 && k->ne[2] % n_seqs == 0 && n_state % n_seqs == 0 &&
           gb_vk_is_product(n_state / n_seqs, rows, k->ne[0]) &&
           ggml_nelements(node) == ggml_nelements(k) + n_state;
}

static bool
linear_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const int n = linear_sources(node);

    (void)limits;
    if (!are_float_rows(node, n))
        return false;
    for (int i = 0; i < n; i++)
        if (!ggml_is_contiguous(node->src[i]) || !has_linear_shape(node, i))
            return false;
    return node->src[0]->ne[3] == 1 && are_states_good(node);
}

/* Indexed by has_bonus(). */
static const enum gb_vk_pipeline any_pipelines[] = { GB_VK_gla, GB_VK_wkv6 };
static const enum gb_vk_pipeline pipelines_of_64[] = { GB_VK_gla_64,
                                                       GB_VK_wkv6_64 };

static void
linear_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const struct ggml_tensor *decay = node->src[has_bonus(node) ? 4 : 3];
    const int64_t n_seqs = state_of(node)->ne[1];
    const int64_t n_heads = k->ne[1] * n_seqs;
    const bool is_of_64 = k->ne[0] == 64;
    struct gb_vk_linear_params params = {
        .z = (uint32_t)k->ne[0],
        .n_heads = (uint32_t)k->ne[1],
        .n_seqs = (uint32_t)n_seqs,
        .n_tokens = (uint32_t)(k->ne[2] / n_seqs),
        .scale = gb_vk_param_f32(node, 0),
    };

    emit->operations = 6 * (uint64_t)ggml_nelements(k) * params.z;
    GB_VK_DISPATCH_ONE_OF(
        emit,
        is_of_64 ? pipelines_of_64[has_bonus(node)]
                 : any_pipelines[has_bonus(node)],
        is_of_64 ? n_heads : gb_vk_groups(n_heads * k->ne[0], 64), &params,
        gb_vk_write(node), gb_vk_read_or(k, node),
        gb_vk_read_or(node->src[1], node), gb_vk_read_or(node->src[2], node),
        gb_vk_read_or(decay, node), gb_vk_read_or(node->src[3], node),
        gb_vk_read(state_of(node)));
}

const struct gb_vk_op gb_vk_op_linear = {
    .supports = linear_supports,
    .emit = linear_emit,
};
