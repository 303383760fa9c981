/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/op.h - rows of the operation table: one answers whether it can run a
 * node, how much scratch that takes, and puts its launches into a plan.
 *
 * A row sees shapes, strides, types and addresses, and limits, never a device:
 * the same node on the same limits makes the same launches.  Data of all
 * tensors lies in the device's memory.
 */
#ifndef GB_CUDA_OPS_OP_H
#define GB_CUDA_OPS_OP_H

#include "backends/cuda/ops/emit.h"

#include "ggml.h"

struct gb_cuda_op {
    /*
     * Can NODE run, which is valid (lib/node)?  Everything else that emit needs
     * is asked here; tensors may have no data yet.  NULL: yes.  Any thread.
     */
    bool (*supports)(
        const struct gb_cuda_limits *limits, const struct ggml_tensor *node);
    /* Bytes of packed columns that emit needs; NULL: none. */
    size_t (*columns)(
        const struct gb_cuda_limits *limits, const struct ggml_tensor *node);
    /* Bytes of the block mask that attentions with the same mask share; NULL:
     * none. */
    size_t (*block_mask)(
        const struct gb_cuda_limits *limits, const struct ggml_tensor *node);
    /* Bytes of scratch besides; NULL: none. */
    size_t (*scratch)(
        const struct gb_cuda_limits *limits, const struct ggml_tensor *node);
    /* NODE is supported and has elements. */
    void (*emit)(struct gb_cuda_emit *emit, const struct ggml_tensor *node);
};

/*
 * The row of an operation; NULL for one that no row runs (views, functions of
 * the client's).
 */
const struct gb_cuda_op *gb_cuda_op_of(enum ggml_op op);

/* What the row asks for, by NODE. */
struct gb_cuda_needs {
    size_t columns, block_mask, scratch;
};

struct gb_cuda_needs gb_cuda_needs_of(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node);

/* Bytes of all, one behind the other. */
static inline size_t
gb_cuda_needs_size(const struct gb_cuda_needs *needs)
{
    return gb_cuda_scratch_up(needs->columns) +
           GB_CUDA_BLOCK_MASKS * gb_cuda_scratch_up(needs->block_mask) +
           needs->scratch;
}

/* Let EMIT have them at MEMORY, where nothing is kept yet. */
static inline void
gb_cuda_emit_place(struct gb_cuda_emit *emit,
                   const struct gb_cuda_needs *needs, char *memory)
{
    emit->columns = memory;
    emit->block_masks = memory + gb_cuda_scratch_up(needs->columns);
    emit->block_mask_size = gb_cuda_scratch_up(needs->block_mask);
    emit->scratch =
        emit->block_masks + GB_CUDA_BLOCK_MASKS * emit->block_mask_size;
    emit->kept.b = NULL;
    emit->sorted.ids = NULL;
    emit->next_mask = 0;
    for (int i = 0; i < GB_CUDA_BLOCK_MASKS; i++)
        emit->masks[i].mask = NULL;
}

/* Does its row run NODE?  Views and nodes without elements need none. */
bool gb_cuda_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node);

#define GB_NODE(op, name, n) extern const struct gb_cuda_op gb_cuda_op_##name;
#include "lib/node/nodes.def"
#undef GB_NODE

#endif
