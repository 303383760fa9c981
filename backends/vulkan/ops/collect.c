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

void
gb_vk_collection_add(
    struct gb_vk_collection *collection, enum gb_vk_pipeline pipeline)
{
    uint32_t *word = &collection->seen[pipeline / 32];
    const uint32_t bit = UINT32_C(1) << pipeline % 32;

    if ((*word & bit) != 0)
        return;
    *word |= bit;
    collection->list[collection->n++] = (uint16_t)pipeline;
}

static void
add(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline, int64_t n_groups,
    const struct gb_vk_bind *binds, int n_binds, void *params, size_t size)
{
    (void)binds;
    (void)n_binds;
    (void)params;
    (void)size;
    if (n_groups > 0)
        gb_vk_collection_add(((struct collector *)emit)->collection, pipeline);
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

bool
gb_vk_has_broken(const struct gb_vk_limits *limits,
                 const struct gb_vk_collection *collection)
{
    for (int i = 0; i < GB_VK_PIPELINE_WORDS; i++)
        if ((collection->seen[i] & limits->broken[i]) != 0)
            return true;
    return false;
}
