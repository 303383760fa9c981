/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/optable.c - which row runs an operation.
 */
#include "backends/cuda/ops/op.h"

#include "lib/fuse/memory.h"
#include "lib/node/node.h"

static const struct gb_cuda_op *const rows[GGML_OP_COUNT] = {
#define GB_NODE(op, name, n) [GGML_OP_##op] = &gb_cuda_op_##name,
#include "lib/node/nodes.def"
#undef GB_NODE
};

const struct gb_cuda_op *
gb_cuda_op_of(enum ggml_op op)
{
    return (unsigned)op < GGML_OP_COUNT ? rows[op] : NULL;
}

struct gb_cuda_needs
gb_cuda_needs_of(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_cuda_op *op = gb_cuda_op_of(node->op);
    struct gb_cuda_needs needs = { 0, 0, 0 };

    if (op != NULL && op->columns != NULL)
        needs.columns = op->columns(limits, node);
    if (op != NULL && op->block_mask != NULL)
        needs.block_mask = op->block_mask(limits, node);
    if (op != NULL && op->scratch != NULL)
        needs.scratch = op->scratch(limits, node);
    return needs;
}

bool
gb_cuda_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_cuda_op *op = gb_cuda_op_of(node->op);

    return !gb_fuse_computes(node->op) || ggml_is_empty(node) ||
           (op != NULL && gb_node_is_valid(node) &&
            (op->supports == NULL || op->supports(limits, node)));
}
