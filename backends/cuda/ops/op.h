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
     * Can NODE run?  Everything that emit needs is asked here; tensors may have
     * no data yet.  Any thread.
     */
    bool (*supports)(
        const struct gb_cuda_limits *limits, const struct ggml_tensor *node);
    /* Bytes of scratch that emit needs; NULL: none. */
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

/* Does its row run NODE?  Views and nodes without elements need none. */
bool gb_cuda_supports(
    const struct gb_cuda_limits *limits, const struct ggml_tensor *node);

#define GB_CUDA_OP(op, row) extern const struct gb_cuda_op gb_cuda_op_##row;
#include "backends/cuda/ops/optable.def"
#undef GB_CUDA_OP

#endif
