/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/store.c - rotations, copies, and copies of rotations, as they fill
 * a KV cache.
 *
 * A copy of a rotation is one dispatch.  Parts of a group have nothing to do
 * with each other, so no barrier comes between their dispatches.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/rope.h"

/* The first member of part NUMBER, and its second one; -1: it has none. */
struct part {
    int first, second;
};

static struct part
part_of(const struct gb_fuse_group *group, int number)
{
    struct part part = { -1, -1 };

    for (int i = 0; i < group->n_nodes; i++) {
        if (group->part[i] != number)
            continue;
        if (part.first < 0)
            part.first = i;
        else
            part.second = i;
    }
    return part;
}

static bool
stores_support(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    (void)limits;
    for (int i = 0; i < group->n_parts; i++) {
        const struct part part = part_of(group, i);

        if (part.second >= 0 &&
            !gb_vk_can_store_rope(group->nodes[part.first],
                                  group->nodes[part.second]))
            return false;
    }
    return true;
}

static void
stores_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_parts; i++) {
        const struct part part = part_of(group, i);
        const struct ggml_tensor *first = group->nodes[part.first];

        if (part.second < 0)
            gb_vk_op_of(first->op)->emit(emit, first);
        else
            gb_vk_emit_rope_store(emit, first, group->nodes[part.second],
                                  gb_fuse_is_written(group, part.first));
    }
}

const struct gb_vk_fused gb_vk_fused_stores = {
    .supports = stores_support,
    .emit = stores_emit,
};
