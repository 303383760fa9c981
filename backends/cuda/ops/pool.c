/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/pool.c - the largest or the mean of windows over rows and planes,
 * and the gradient.
 */
#include "backends/cuda/kernels/args-pool.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

#include "lib/node/pool.h"

static struct gb_cuda_pool_args
args_of(const struct ggml_tensor *node)
{
    const struct gb_node_pool pool = gb_node_pool_of(node);

    return (struct gb_cuda_pool_args){
        .k0 = pool.kernel[0],
        .k1 = pool.kernel[1],
        .s0 = pool.stride[0],
        .s1 = pool.stride[1],
        .p0 = pool.padding[0],
        .p1 = pool.padding[1],
        .is_max = pool.is_max,
    };
}

static void
pool_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_pool_args args = args_of(node);

    args.dst = gb_cuda_arg(node);
    args.src = gb_cuda_arg(node->src[0]);
    args.src_type = gb_cuda_float_of(node->src[0]->type);
    args.row_plane = node->op == GGML_OP_POOL_1D ? args.src.nb[1] : 0;
    args.n = ggml_nelements(node);
    GB_CUDA_LAUNCH(emit, gb_pool, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pool = {
    .emit = pool_emit,
};

/* A place for each window. */
static size_t
pool_back_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_node_pool_of(node).is_max
               ? (size_t)ggml_nelements(node->src[0]) * sizeof(int64_t)
               : 0;
}

/* Rows without elements may be any number: no windows. */
static void
pool_back_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    struct gb_cuda_pool_args args = args_of(node);

    args.dst = gb_cuda_arg(node);
    args.src = gb_cuda_arg(node->src[1]);
    args.src_type = gb_cuda_float_of(node->src[1]->type);
    args.grad = gb_cuda_arg(node->src[0]);
    args.places = (int64_t *)emit->scratch;
    if (args.grad.ne[0] == 0)
        args.grad.ne[1] = 0;
    args.n = ggml_nelements(node->src[0]);
    if (args.is_max)
        GB_CUDA_LAUNCH(
            emit, gb_pool_places, gb_cuda_blocks(args.n, 256), 0, &args);
    args.n = ggml_nelements(node);
    GB_CUDA_LAUNCH(emit, gb_pool_back, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pool_back = {
    .scratch = pool_back_scratch,
    .emit = pool_back_emit,
};
