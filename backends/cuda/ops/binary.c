/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/binary.c - operations on two tensors, element by element, the second
 * one repeated.
 *
 * ADD ADD1 SUB MUL DIV SILU_BACK, of floating-point types with any strides.
 */
#include "backends/cuda/kernels/args-binary.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/contiguous.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

static bool
binary_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    (void)limits;
    return gb_cuda_has_sources(node, 2) && gb_cuda_is_float(node->type) &&
           gb_cuda_is_float(a->type) && gb_cuda_is_float(b->type) &&
           ggml_are_same_shape(node, a) &&
           (ggml_are_same_shape(b, a) || ggml_can_repeat(b, a));
}

static enum gb_cuda_binary
binary_of(enum ggml_op op)
{
    switch ((int)op) {
    case GGML_OP_SUB:
        return GB_CUDA_SUB;
    case GGML_OP_MUL:
        return GB_CUDA_MUL;
    case GGML_OP_DIV:
        return GB_CUDA_DIV;
    case GGML_OP_SILU_BACK:
        return GB_CUDA_SILU_BACK;
    default:
        return GB_CUDA_ADD;
    }
}

/* Is B, if it is repeated at all, repeated as a whole: is it A without some of
 * the upper dimensions? */
static bool
repeats_as_a_whole(const struct ggml_tensor *b, const struct ggml_tensor *a)
{
    int same = 0;

    while (same < GGML_MAX_DIMS && a->ne[same] == b->ne[same])
        same++;
    for (int i = same; i < GGML_MAX_DIMS; i++)
        if (b->ne[i] != 1)
            return false;
    return true;
}

static void
binary_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct gb_cuda_binary_args args = {
        .dst = gb_cuda_arg(node),
        .src0 = gb_cuda_arg(a),
        .src1 = gb_cuda_arg(b),
        .n = ggml_nelements(node),
        .n_src1 = ggml_nelements(b),
        .op = binary_of(node->op),
        .dst_type = gb_cuda_float_of(node->type),
        .src0_type = gb_cuda_float_of(a->type),
        .src1_type = gb_cuda_float_of(b->type),
    };

    if (gb_cuda_is_f32_by_4(node) && gb_cuda_is_f32_by_4(a) &&
        gb_cuda_is_f32_by_4(b) && repeats_as_a_whole(b, a))
        GB_CUDA_LAUNCH(emit, gb_binary_f32, gb_cuda_blocks(args.n / 4, 256), 0,
                       &args);
    else
        GB_CUDA_LAUNCH(
            emit, gb_binary_any, gb_cuda_blocks(args.n, 256), 0, &args);
}

const struct gb_cuda_op gb_cuda_op_binary = {
    .supports = binary_supports,
    .emit = binary_emit,
};
