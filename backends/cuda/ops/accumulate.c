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

#include "lib/node/part.h"

/* The part as a tensor, where it lies. */
static struct ggml_tensor
part_of(const struct ggml_tensor *node)
{
    struct ggml_tensor part = gb_node_part_of(node);

    part.data = (char *)node->data + gb_node_part_offset(node);
    return part;
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
    const bool is_shared = gb_node_rows_are_apart(&part);
    const unsigned n_blocks =
        is_shared ? gb_cuda_blocks(ggml_nrows(&part), 1) : 1;

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
    .emit = accumulate_emit,
};
