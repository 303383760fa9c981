/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/recurrent.c - operations that carry a state from token to token.
 *
 * N numbers of state a channel, R channels, T tokens, S sequences, H heads of Z
 * elements.  Results are contiguous: the outputs of all tokens, then the last
 * states.
 */
#include "backends/cuda/kernels/args-recurrent.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* The first N sources are F32 with dense rows. */
static bool
are_float_rows(const struct ggml_tensor *node, int n)
{
    if (!gb_cuda_has_sources(node, n))
        return false;
    for (int i = 0; i < n; i++)
        if (!gb_cuda_has_f32_rows(node->src[i]))
            return false;
    return node->type == GGML_TYPE_F32 && ggml_is_contiguous(node);
}

/* src0 [K - 1 + T, R, S], src1 [K, R], the node [R, T, S]. */
static bool
ssm_conv_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return are_float_rows(node, 2) && ggml_is_contiguous(b) &&
           ggml_is_matrix(b) && b->ne[1] == a->ne[1] &&
           a->ne[0] == b->ne[0] - 1 + node->ne[1] && a->ne[3] == 1 &&
           gb_cuda_has_shape(node, a->ne[1], node->ne[1], a->ne[2], 1);
}

static void
ssm_conv_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_ssm_conv_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(node->src[0]),
        .taps = node->src[1]->data,
        .n_taps = node->src[1]->ne[0],
        .n = ggml_nelements(node),
    };

    GB_CUDA_LAUNCH(
        emit, gb_ssm_conv_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_ssm_conv = {
    .supports = ssm_conv_supports,
    .emit = ssm_conv_emit,
};

/* Sources: the first states [N, R, S], x and dt [R, T, S], A [N, R], B and C
 * [N, T, S]. */
static bool
ssm_scan_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
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
    return s->ne[3] == 1 && gb_cuda_has_shape(x, r, t, n_seqs, 1) &&
           gb_cuda_has_shape(node->src[2], r, t, n_seqs, 1) &&
           gb_cuda_has_shape(node->src[3], n, r, 1, 1) &&
           gb_cuda_has_shape(node->src[4], n, t, n_seqs, 1) &&
           gb_cuda_has_shape(node->src[5], n, t, n_seqs, 1) &&
           ggml_nelements(node) == ggml_nelements(x) + ggml_nelements(s);
}

/* Numbers of state, one a lane, that stay in registers. */
#define SCAN_LANES 16

static void
ssm_scan_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *s = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const struct gb_cuda_ssm_scan_args args = {
        .y = node->data,
        .states = (float *)node->data + ggml_nelements(x),
        .first = gb_cuda_arg(s),
        .x = gb_cuda_arg(x),
        .dt = gb_cuda_arg(node->src[2]),
        .a = gb_cuda_arg(node->src[3]),
        .b = gb_cuda_arg(node->src[4]),
        .c = gb_cuda_arg(node->src[5]),
    };

    emit->add(emit,
              s->ne[0] <= SCAN_LANES ? GB_CUDA_KERNEL_gb_ssm_scan_16_f32
                                     : GB_CUDA_KERNEL_gb_ssm_scan_f32,
              gb_cuda_blocks(s->ne[1] * s->ne[2], 256 / SCAN_LANES), 0, &args,
              sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_ssm_scan = {
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
        return gb_cuda_has_shape(node->src[i], k->ne[0], k->ne[1], 1, 1);
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
           gb_cuda_is_product(n_state / n_seqs, rows, k->ne[0]) &&
           ggml_nelements(node) == ggml_nelements(k) + n_state;
}

static bool
linear_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
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
static const enum gb_cuda_kernel any_kernels[] = {
    GB_CUDA_KERNEL_gb_gla_f32, GB_CUDA_KERNEL_gb_wkv6_f32
};
static const enum gb_cuda_kernel kernels_of_64[] = {
    GB_CUDA_KERNEL_gb_gla_64_f32, GB_CUDA_KERNEL_gb_wkv6_64_f32
};

static struct gb_cuda_linear_args
linear_args(const struct ggml_tensor *node)
{
    const struct ggml_tensor *k = node->src[0];
    const int64_t n_seqs = state_of(node)->ne[1];
    const struct gb_cuda_linear_args args = {
        .out = node->data,
        .states = (float *)node->data + ggml_nelements(k),
        .k = k->data,
        .v = node->src[1]->data,
        .r = node->src[2]->data,
        .decay = node->src[has_bonus(node) ? 4 : 3]->data,
        .bonus = node->src[3]->data,
        .first = state_of(node)->data,
        .z = k->ne[0],
        .n_heads = k->ne[1],
        .n_seqs = n_seqs,
        .n_tokens = k->ne[2] / n_seqs,
        .scale = gb_cuda_param_f32(node, 0),
    };

    return args;
}

static void
linear_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_linear_args args = linear_args(node);
    const int64_t n_heads = args.n_heads * args.n_seqs;

    if (args.z == 64)
        emit->add(emit, kernels_of_64[has_bonus(node)],
                  gb_cuda_blocks(n_heads, 1), 0, &args, sizeof(args));
    else
        emit->add(emit, any_kernels[has_bonus(node)],
                  gb_cuda_blocks(n_heads * args.z, 64), 0, &args,
                  sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_linear = {
    .supports = linear_supports,
    .emit = linear_emit,
};
