/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/im2col.c - the windows of an image as rows (im2col), and the
 * gradient.
 *
 * Parameters: strides s0, s1, paddings p0, p1, dilations d0, d1, and 1 for the
 * two-dimensional form.  In the one-dimensional form tensors lack their
 * dimension for y, those behind it move down by one, and the parameters for y
 * mean nothing.
 */
#include "backends/cuda/kernels/args-im2col.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

static bool
is_2d(const struct ggml_tensor *node)
{
    return gb_cuda_param_i32(node, 6) == 1;
}

/* T with a dimension of one element before dimension AT, the last one, which is
 * 1, left out. */
static struct gb_cuda_tensor
with_dimension(const struct ggml_tensor *t, int at)
{
    struct gb_cuda_tensor arg = gb_cuda_arg(t);

    for (int i = GGML_MAX_DIMS - 1; i > at; i--) {
        arg.ne[i] = arg.ne[i - 1];
        arg.nb[i] = arg.nb[i - 1];
    }
    arg.ne[at] = 1;
    return arg;
}

/* The arguments for a node with these tensors, in whichever role. */
static struct gb_cuda_im2col_args
args_of(const struct ggml_tensor *node, const struct ggml_tensor *kernel,
        const struct ggml_tensor *image, const struct ggml_tensor *windows)
{
    struct gb_cuda_im2col_args args = {
        .s0 = gb_cuda_param_i32(node, 0),
        .s1 = 1,
        .p0 = gb_cuda_param_i32(node, 2),
        .d0 = gb_cuda_param_i32(node, 4),
        .d1 = 1,
        .k0 = kernel->ne[0],
        .k1 = 1,
        .n = ggml_nelements(node),
    };

    if (!is_2d(node)) {
        args.image = with_dimension(image, 1);
        args.windows = with_dimension(windows, 2);
        return args;
    }
    args.image = gb_cuda_arg(image);
    args.windows = gb_cuda_arg(windows);
    args.s1 = gb_cuda_param_i32(node, 1);
    args.p1 = gb_cuda_param_i32(node, 3);
    args.d1 = gb_cuda_param_i32(node, 5);
    args.k1 = kernel->ne[1];
    return args;
}

/* Do the shapes agree?  Windows may be more or fewer than fit the image:
 * positions outside of it are 0. */
static bool
are_consistent(
    const struct gb_cuda_im2col_args *args, bool is_flat,
    const struct ggml_tensor *kernel, const struct ggml_tensor *image,
    const struct ggml_tensor *windows)
{
    return gb_cuda_is_countable(kernel) && gb_cuda_is_countable(image) &&
           gb_cuda_is_countable(windows) && args->s0 > 0 && args->s1 > 0 &&
           gb_cuda_is_product(
               windows->ne[0], args->k0 * args->k1, args->image.ne[2]) &&
           args->windows.ne[3] == args->image.ne[3] &&
           (!is_flat || (windows->ne[3] == 1 && image->ne[3] == 1));
}

static bool
im2col_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args;

    (void)limits;
    if (!gb_cuda_has_sources(node, 2))
        return false;
    args = args_of(node, node->src[0], node->src[1], node);
    return node->src[1]->type == GGML_TYPE_F32 &&
           gb_cuda_is_float(node->type) &&
           are_consistent(
               &args, !is_2d(node), node->src[0], node->src[1], node);
}

static void
im2col_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args =
        args_of(node, node->src[0], node->src[1], node);

    args.windows_type = gb_cuda_float_of(node->type);
    GB_CUDA_LAUNCH(emit, gb_im2col_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_im2col = {
    .supports = im2col_supports,
    .emit = im2col_emit,
};

/* src0 has the windows, src1 is the kernel, the node the image. */
static bool
im2col_back_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args;

    (void)limits;
    if (!gb_cuda_has_sources(node, 2))
        return false;
    args = args_of(node, node->src[1], node, node->src[0]);
    return node->src[0]->type == GGML_TYPE_F32 &&
           gb_cuda_has_f32_rows(node) &&
           are_consistent(
               &args, !is_2d(node), node->src[1], node, node->src[0]);
}

/* A kernel of width 0 has no elements, and may have any height. */
static void
im2col_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args =
        args_of(node, node->src[1], node, node->src[0]);

    args.k1 = args.k0 == 0 ? 0 : args.k1;
    GB_CUDA_LAUNCH(
        emit, gb_im2col_back_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_im2col_back = {
    .supports = im2col_back_supports,
    .emit = im2col_back_emit,
};
