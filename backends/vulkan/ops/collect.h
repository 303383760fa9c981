/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/collect.h - which pipelines nodes take: their rows are asked to
 * dispatch, and nothing is.
 */
#ifndef GB_VULKAN_OPS_COLLECT_H
#define GB_VULKAN_OPS_COLLECT_H

#include "backends/vulkan/ops/op.h"

#include "lib/fuse/fuse.h"

struct gb_vk_collection {
    uint32_t seen[GB_VK_PIPELINE_WORDS]; /* a bit a pipeline */
    uint16_t list[GB_VK_PIPELINE_COUNT]; /* in the order of first use */
    int n;
};

void gb_vk_collection_add(
    struct gb_vk_collection *collection, enum gb_vk_pipeline pipeline);

/* Add those of NODE, whose row supports it. */
void gb_vk_collect(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node,
    struct gb_vk_collection *collection);

/* The same of GROUP, which its row supports. */
void gb_vk_collect_group(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group,
    struct gb_vk_collection *collection);

/* Is there one among them that the driver cannot make? */
bool gb_vk_has_broken(const struct gb_vk_limits *limits,
                      const struct gb_vk_collection *collection);

#endif
