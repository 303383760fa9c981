/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/collect.c - which pipelines nodes take.
 */
#include "backends/vulkan/ops/collect.h"

#include "backends/vulkan/ops/fused.h"

struct collector {
    struct gb_vk_emit emit; /* first: rows get it */
    struct gb_vk_collection *collection;
};

static void
add(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline, int64_t n_groups,
    const struct gb_vk_bind *binds, int n_binds, void *params, size_t size)
{
    struct gb_vk_collection *to = ((struct collector *)emit)->collection;
    uint32_t *word = &to->seen[pipeline / 32];
    const uint32_t bit = UINT32_C(1) << pipeline % 32;

    (void)binds;
    (void)n_binds;
    (void)params;
    (void)size;
    if (n_groups <= 0 || (*word & bit) != 0)
        return;
    *word |= bit;
    to->list[to->n++] = (uint16_t)pipeline;
}

void
gb_vk_collect(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node,
    struct gb_vk_collection *collection)
{
    struct collector collector = {
        .emit = { .limits = limits, .add = add },
        .collection = collection,
    };

    if (gb_vk_needs_work(node))
        gb_vk_emit_node(&collector.emit, node);
}

void
gb_vk_collect_whole(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node,
    struct gb_vk_collection *collection)
{
    struct collector collector = {
        .emit = { .limits = limits, .add = add },
        .collection = collection,
    };

    if (gb_vk_needs_work(node))
        gb_vk_op_of(node->op)->emit(&collector.emit, node);
}

void
gb_vk_collect_group(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group,
    struct gb_vk_collection *collection)
{
    struct collector collector = {
        .emit = { .limits = limits, .add = add },
        .collection = collection,
    };

    gb_vk_fused_of(group->pattern)->emit(&collector.emit, group);
}
