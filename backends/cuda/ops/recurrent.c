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

#include "lib/node/recurrent.h"

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
    .emit = ssm_conv_emit,
};

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
    .emit = ssm_scan_emit,
};

/* ---- linear attention ---- */

/* Indexed by gb_node_has_bonus. */
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
    const int64_t n_seqs = gb_node_state_of(node)->ne[1];
    const struct gb_cuda_linear_args args = {
        .out = node->data,
        .states = (float *)node->data + ggml_nelements(k),
        .k = k->data,
        .v = node->src[1]->data,
        .r = node->src[2]->data,
        .decay = gb_node_decay_of(node)->data,
        .bonus = node->src[3]->data,
        .first = gb_node_state_of(node)->data,
        .z = k->ne[0],
        .n_heads = k->ne[1],
        .n_seqs = n_seqs,
        .n_tokens = k->ne[2] / n_seqs,
        .scale = gb_node_param_f32(node, 0),
    };

    return args;
}

static void
linear_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_cuda_linear_args args = linear_args(node);
    const int64_t n_heads = args.n_heads * args.n_seqs;

    if (args.z == 64)
        emit->add(emit, kernels_of_64[gb_node_has_bonus(node)],
                  gb_cuda_blocks(n_heads, 1), 0, &args, sizeof(args));
    else
        emit->add(emit, any_kernels[gb_node_has_bonus(node)],
                  gb_cuda_blocks(n_heads * args.z, 64), 0, &args,
                  sizeof(args));
}

const struct gb_cuda_op gb_cuda_op_linear = {
    .emit = linear_emit,
};
