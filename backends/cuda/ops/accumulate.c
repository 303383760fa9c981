/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/accumulate.c - a tensor with a part of it replaced or added to: ACC
 * of F32, SET of any type without blocks.
 *
 * dst becomes src0 first, then src1 is written into a view of dst that the
 * parameters describe, or added to it.
 */
#include "backends/cuda/kernels/args-move.h"
#include "backends/cuda/ops/args.h"
#include "backends/cuda/ops/copy.h"
#include "backends/cuda/ops/op.h"
#include "backends/cuda/ops/shape.h"

/* The part as a tensor: the shape of src1, elements of a row next to each
 * other, strides and offset of the parameters. */
static struct ggml_tensor
part_of(const struct ggml_tensor *node)
{
    struct ggml_tensor part = *node->src[1];

    part.type = node->type;
    part.nb[0] = ggml_type_size(node->type);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        part.nb[d] = (size_t)gb_cuda_param_i32(node, d - 1);
    part.data = (void *)((uintptr_t)node->data +
                         (uintptr_t)gb_cuda_param_i32(node, 3));
    return part;
}

/* Are offset and strides those of elements, and all bytes of the part in dst?
 * What is LEFT of dst's bytes behind the offset must hold the steps from the
 * first to the last element, and that one. */
static bool
part_is_inside(const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);
    const size_t size = ggml_type_size(node->type);
    size_t left = ggml_nbytes(node);

    for (int i = 0; i < 4; i++)
        if (gb_cuda_param_i32(node, i) < 0)
            return false;
    if ((size_t)gb_cuda_param_i32(node, 3) % size != 0 ||
        (size_t)gb_cuda_param_i32(node, 3) > left)
        return false;
    if (ggml_is_empty(&part))
        return true;
    left -= (size_t)gb_cuda_param_i32(node, 3);
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        const size_t steps = (size_t)part.ne[d] - 1;

        if (steps > 0 && part.nb[d] % size != 0)
            return false;
        if (part.nb[d] > 0 && steps > left / part.nb[d])
            return false;
        left -= steps * part.nb[d];
    }
    return left >= size;
}

static bool
accumulate_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    return gb_cuda_has_sources(node, 2) && node->src[0]->type == node->type &&
           node->src[1]->type == node->type &&
           ggml_blck_size(node->type) == 1 &&
           (node->op == GGML_OP_SET || node->type == GGML_TYPE_F32) &&
           ggml_are_same_shape(node->src[0], node) &&
           ggml_is_contiguous(node) && part_is_inside(node);
}

/* Have no two rows of the part a byte in common?  So it is if in each dimension
 * a stride is at least the bytes that the dimensions before it span. */
static bool
rows_are_apart(const struct ggml_tensor *part)
{
    size_t below = (size_t)part->ne[0] * part->nb[0];

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (part->ne[d] > 1 && part->nb[d] < below)
            return false;
        below += (size_t)(part->ne[d] - 1) * part->nb[d];
    }
    return true;
}

static void
emit_set(struct gb_cuda_emit *emit, const struct ggml_tensor *part,
         const struct ggml_tensor *src, unsigned n_blocks)
{
    const struct gb_cuda_move_args args = {
        .dst = gb_cuda_arg(part),
        .src1 = gb_cuda_arg(src),
        .n = ggml_nelements(part),
        .size = (int32_t)ggml_type_size(part->type),
    };

    GB_CUDA_LAUNCH(emit, gb_set, n_blocks, 0, &args);
}

static void
emit_acc(struct gb_cuda_emit *emit, const struct ggml_tensor *part,
         const struct ggml_tensor *src, unsigned n_blocks)
{
    const struct gb_cuda_acc_args args = {
        .dst = gb_cuda_arg(part),
        .src = gb_cuda_arg(src),
    };

    GB_CUDA_LAUNCH(emit, gb_acc_f32, n_blocks, 0, &args);
}

/* Rows that overlap are left to a single thread block, which takes them in
 * order. */
static void
accumulate_emit(struct gb_cuda_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor part = part_of(node);
    const unsigned n_blocks =
        rows_are_apart(&part) ? gb_cuda_blocks(ggml_nrows(&part), 1) : 1;

    if (node->data != node->src[0]->data)
        gb_cuda_emit_move(emit, node, node->src[0]);
    if (ggml_is_empty(&part))
        return;
    if (node->op == GGML_OP_ACC)
        emit_acc(emit, &part, node->src[1], n_blocks);
    else
        emit_set(emit, &part, node->src[1], n_blocks);
}

const struct gb_cuda_op gb_cuda_op_accumulate = {
    .supports = accumulate_supports,
    .emit = accumulate_emit,
};
