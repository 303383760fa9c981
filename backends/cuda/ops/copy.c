/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/copy.c - a tensor's elements in row-major order as those of another
 * one: DUP CPY CONT.
 *
 * Of any type to itself, between floating-point types, of these to the types in
 * blocks that can be written, and of all types in blocks to F32.
 */
#include "backends/cuda/ops/copy.h"

#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/quantize.h"
#include "backends/cuda/ops/shape.h"
#include "backends/cuda/ops/units.h"

static bool
copy_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    if (a->type == node->type)
        return gb_cuda_can_be_moved(a) && gb_cuda_can_be_moved(node);
    return (gb_node_is_float(a->type) && gb_node_is_float(node->type)) ||
           gb_cuda_can_convert_blocks(node, a);
}

void
gb_cuda_emit_move(struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
                  const struct ggml_tensor *src)
{
    const size_t unit = gb_cuda_unit(dst, src);
    struct gb_cuda_move_args args = {
        .dst = gb_cuda_in_units(dst, unit),
        .src0 = gb_cuda_in_units(src, unit),
        .size = (int32_t)unit,
    };

    args.n = gb_cuda_n_units(&args.dst);
    if (unit == 16 && ggml_is_contiguous(dst) && ggml_is_contiguous(src))
        GB_CUDA_LAUNCH(
            emit, gb_copy_contiguous, gb_cuda_blocks(args.n, 256), 0, &args);
    else
        GB_CUDA_LAUNCH(emit, gb_copy, gb_cuda_blocks(args.n, 256), 0, &args);
}

static void
emit_convert(struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
             const struct ggml_tensor *src)
{
    const struct gb_cuda_convert_args args = {
        .dst = gb_cuda_arg(dst),
        .src = gb_cuda_arg(src),
        .n = ggml_nelements(dst),
        .dst_type = gb_cuda_float_of(dst->type),
        .src_type = gb_cuda_float_of(src->type),
    };

    GB_CUDA_LAUNCH(emit, gb_convert, gb_cuda_blocks(args.n, 256), 0, &args);
}

/* A copy of a tensor onto itself has nothing to do. */
static bool
is_onto_itself(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return node->data == a->data && node->type == a->type &&
           ggml_are_same_shape(node, a) && ggml_are_same_stride(node, a);
}

static void
copy_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    if (is_onto_itself(node))
        return;
    if (a->type == node->type)
        gb_cuda_emit_move(emit, node, a);
    else if (gb_node_is_float(a->type) && gb_node_is_float(node->type))
        emit_convert(emit, node, a);
    else
        gb_cuda_emit_convert_blocks(emit, node, a);
}

const struct gb_cuda_op gb_cuda_op_copy = {
    .supports = copy_supports,
    .emit = copy_emit,
};
