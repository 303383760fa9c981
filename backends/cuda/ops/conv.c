/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/conv.c - transposed convolutions, in one dimension and in two.
 */
#include "backends/cuda/kernels/args-conv.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* Types, strides and the stride parameter, which both operations have in
 * common. */
static bool
conv_supports(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_cuda_has_sources(node, 2) &&
           (a->type == GGML_TYPE_F16 || a->type == GGML_TYPE_F32) &&
           b->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           ggml_is_contiguous(node) && gb_cuda_param_i32(node, 0) > 0 &&
           gb_cuda_is_countable(a) && gb_cuda_is_countable(b);
}

/* Has the output (L - 1) * s + K elements along dimension D?  Of an empty input
 * it is zeros, and may have any length. */
static bool
is_covered(const struct ggml_tensor *node, int d)
{
    const int64_t stride = gb_cuda_param_i32(node, 0);
    const int64_t length = node->src[1]->ne[d];

    return length == 0 ||
           node->ne[d] == (length - 1) * stride + node->src[0]->ne[d];
}

/* Launch the sum over dimension CHANNEL of src1, if it and the kernel have
 * elements. */
static void
conv_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node,
          struct gb_cuda_conv_args *args, int channel)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const bool is_empty = ggml_is_empty(a) || ggml_is_empty(b);

    args->n = ggml_nelements(node);
    args->stride = gb_cuda_param_i32(node, 0);
    args->n_channels = is_empty ? 0 : b->ne[channel];
    emit->add(emit,
              a->type == GGML_TYPE_F16 ? GB_CUDA_KERNEL_gb_conv_transpose_f16
                                       : GB_CUDA_KERNEL_gb_conv_transpose_f32,
              gb_cuda_blocks(args->n, 256), 0, args, sizeof(*args));
}

/* Parameters are stride, padding and dilation, the last two 0 and 1. */
static bool
conv_1d_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return conv_supports(node) && ggml_is_matrix(b) &&
           a->ne[2] == b->ne[1] && a->ne[3] == 1 && is_covered(node, 0) &&
           gb_cuda_has_shape(node, node->ne[0], a->ne[1], 1, 1) &&
           gb_cuda_param_i32(node, 1) == 0 && gb_cuda_param_i32(node, 2) == 1;
}

/* [x, channel, ..] as [x, 1, channel, ..]. */
static struct gb_cuda_tensor
with_height(const struct ggml_tensor *t)
{
    struct gb_cuda_tensor arg = gb_cuda_arg(t);

    arg.ne[3] = arg.ne[2];
    arg.nb[3] = arg.nb[2];
    arg.ne[2] = arg.ne[1];
    arg.nb[2] = arg.nb[1];
    arg.ne[1] = 1;
    return arg;
}

static void
conv_1d_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_conv_args args = {
        .dst = with_height(node),
        .kernel = with_height(node->src[0]),
        .input = with_height(node->src[1]),
    };

    conv_emit(emit, node, &args, 1);
}

const struct gb_cuda_op gb_cuda_op_conv_transpose_1d = {
    .supports = conv_1d_supports,
    .emit = conv_1d_emit,
};

static bool
conv_2d_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return conv_supports(node) && a->ne[3] == b->ne[2] &&
           is_covered(node, 0) && is_covered(node, 1) &&
           node->ne[2] == a->ne[2] && node->ne[3] == b->ne[3];
}

static void
conv_2d_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_conv_args args = {
        .dst = gb_cuda_arg(node),
        .kernel = gb_cuda_arg(node->src[0]),
        .input = gb_cuda_arg(node->src[1]),
    };

    conv_emit(emit, node, &args, 2);
}

const struct gb_cuda_op gb_cuda_op_conv_transpose_2d = {
    .supports = conv_2d_supports,
    .emit = conv_2d_emit,
};
