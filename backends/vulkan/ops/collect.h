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

/* Add those of NODE, whose row supports it, whole or in parts. */
void gb_vk_collect(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node,
    struct gb_vk_collection *collection);

/* The same of a node, or a part of one, that its row takes as it is. */
void gb_vk_collect_whole(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node,
    struct gb_vk_collection *collection);

/* The same of GROUP, which its row supports. */
void gb_vk_collect_group(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group,
    struct gb_vk_collection *collection);

#endif
