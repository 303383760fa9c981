/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/conv.c - transposed convolutions, in one dimension and in two.
 */
#include "backends/cuda/kernels/args-conv.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

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
    args->stride = gb_node_param_i32(node, 0);
    args->n_channels = is_empty ? 0 : b->ne[channel];
    emit->add(emit,
              a->type == GGML_TYPE_F16 ? GB_CUDA_KERNEL_gb_conv_transpose_f16
                                       : GB_CUDA_KERNEL_gb_conv_transpose_f32,
              gb_cuda_blocks(args->n, 256), 0, args, sizeof(*args));
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
    .emit = conv_1d_emit,
};

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
    .emit = conv_2d_emit,
};
