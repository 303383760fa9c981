/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/op.h - rows of the operation table: one answers whether it can run a
 * node, how much scratch that takes, and dispatches its shaders.
 *
 * A row sees shapes, strides, types and limits, never a device: the same node on
 * the same limits makes the same dispatches.
 */
#ifndef GB_VULKAN_OPS_OP_H
#define GB_VULKAN_OPS_OP_H

#include "backends/vulkan/ops/emit.h"
#include "backends/vulkan/ops/parts.h"

#include "ggml.h"

struct gb_vk_op {
    /*
     * Can NODE run, which is valid (lib/node)?  Everything else that emit needs
     * is asked here, but that each operand fits into a binding, which
     * gb_vk_supports has asked; tensors may have no data yet.  NULL: yes.  Any
     * thread.
     */
    bool (*supports)(
        const struct gb_vk_limits *limits, const struct ggml_tensor *node);
    /* May the node and its first two sources be larger than a binding's range?
     * If so supports asks what it needs of them, and emit cuts. */
    bool cuts;
    /* How a node whose operands are larger is computed in parts, each of which
     * the functions get as a node; NULL: not at all. */
    const struct gb_vk_parts *parts;
    /* Bytes of scratch that emit uses; NULL: none.  Its content is undefined
     * before the node, and lost after it. */
    size_t (*scratch)(
        const struct gb_vk_limits *limits, const struct ggml_tensor *node);
    /* NODE is supported and has elements. */
    void (*emit)(struct gb_vk_emit *emit, const struct ggml_tensor *node);
};

/*
 * The row of an operation; NULL for one that no row runs (views, functions of
 * the client's).
 */
const struct gb_vk_op *gb_vk_op_of(enum ggml_op op);

/* Does its row run NODE?  Views and nodes without elements need none. */
bool gb_vk_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node);

/* Does it run NODE, no view, as it is? */
bool gb_vk_runs_whole(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node);

/* Bytes of scratch that gb_vk_emit_node uses of NODE, which needs work. */
size_t gb_vk_scratch_of(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node);

/* Dispatch NODE, which needs work, whole or in parts; false where it is not
 * supported. */
bool gb_vk_emit_node(struct gb_vk_emit *emit, const struct ggml_tensor *node);

/* Does NODE take dispatches, or is it a view, or empty? */
bool gb_vk_needs_work(const struct ggml_tensor *node);

#define GB_NODE(op, name, n) extern const struct gb_vk_op gb_vk_op_##name;
#include "lib/node/nodes.def"
#undef GB_NODE

#endif
