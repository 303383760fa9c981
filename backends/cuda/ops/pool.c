/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/pool.c - the largest or the mean of windows over rows and planes,
 * and the gradient.
 *
 * Parameters: the function, then window, stride and padding: k0 s0 p0 in one
 * dimension, k0 k1 s0 s1 p0 p1 in two.
 */
#include "backends/cuda/kernels/args-pool.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

static bool
is_max(const struct ggml_tensor *node)
{
    return gb_cuda_param_i32(node, 0) == GGML_OP_POOL_MAX;
}

static struct gb_cuda_pool_args
args_of(const struct ggml_tensor *node)
{
    struct gb_cuda_pool_args args = {
        .k0 = gb_cuda_param_i32(node, 1),
        .k1 = 1,
        .s0 = gb_cuda_param_i32(node, 2),
        .s1 = 0,
        .p0 = gb_cuda_param_i32(node, 3),
        .is_max = is_max(node),
    };

    if (node->op != GGML_OP_POOL_1D) {
        args.k1 = gb_cuda_param_i32(node, 2);
        args.s0 = gb_cuda_param_i32(node, 3);
        args.s1 = gb_cuda_param_i32(node, 4);
        args.p0 = gb_cuda_param_i32(node, 5);
        args.p1 = gb_cuda_param_i32(node, 6);
    }
    return args;
}

/* A known function, and a window that is not empty. */
static bool
is_usable(const struct ggml_tensor *node)
{
    const struct gb_cuda_pool_args args = args_of(node);

    return (uint32_t)gb_cuda_param_i32(node, 0) < GGML_OP_POOL_COUNT &&
           args.k0 > 0 && args.k1 > 0;
}

static bool
pool_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    return a != NULL && gb_cuda_is_float(a->type) &&
           gb_cuda_has_f32_rows(node) && is_usable(node) &&
           gb_cuda_is_countable(node) && gb_cuda_is_countable(a) &&
           gb_cuda_same_from(node, a, node->op == GGML_OP_POOL_1D ? 1 : 2);
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
    .supports = pool_supports,
    .emit = pool_emit,
};

/* src0 is the gradient of the result, src1 what had been pooled. */
static bool
pool_back_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return gb_cuda_has_sources(node, 2) && a->type == GGML_TYPE_F32 &&
           gb_cuda_is_float(b->type) && gb_cuda_has_f32_rows(node) &&
           ggml_are_same_shape(b, node) && gb_cuda_same_from(a, node, 2) &&
           gb_cuda_is_countable(a) && gb_cuda_is_countable(node) &&
           is_usable(node);
}

/* A place for each window. */
static size_t
pool_back_scratch(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return is_max(node)
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
    if (is_max(node))
        GB_CUDA_LAUNCH(
            emit, gb_pool_places, gb_cuda_blocks(args.n, 256), 0, &args);
    args.n = ggml_nelements(node);
    GB_CUDA_LAUNCH(emit, gb_pool_back, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_pool_back = {
    .supports = pool_back_supports,
    .scratch = pool_back_scratch,
    .emit = pool_back_emit,
};
