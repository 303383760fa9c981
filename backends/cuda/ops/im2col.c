/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/im2col.c - the windows of an image as rows (im2col), and the
 * gradient.
 */
#include "backends/cuda/kernels/args-im2col.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include "lib/node/im2col.h"

static struct gb_cuda_im2col_args
args_of(const struct ggml_tensor *node)
{
    const struct gb_node_im2col c = gb_node_im2col_of(node);

    return (struct gb_cuda_im2col_args){
        .image = gb_cuda_arg(&c.image),
        .windows = gb_cuda_arg(&c.windows),
        .s0 = c.stride[0],
        .s1 = c.stride[1],
        .p0 = c.padding[0],
        .p1 = c.padding[1],
        .d0 = c.dilation[0],
        .d1 = c.dilation[1],
        .k0 = c.kernel[0],
        .k1 = c.kernel[1],
        .n = ggml_nelements(node),
    };
}

static void
im2col_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args = args_of(node);

    args.windows_type = gb_cuda_float_of(node->type);
    GB_CUDA_LAUNCH(emit, gb_im2col_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_im2col = {
    .emit = im2col_emit,
};

/* A kernel of width 0 has no elements, and may have any height. */
static void
im2col_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_im2col_args args = args_of(node);

    args.k1 = args.k0 == 0 ? 0 : args.k1;
    GB_CUDA_LAUNCH(
        emit, gb_im2col_back_f32, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_im2col_back = {
    .emit = im2col_back_emit,
};
