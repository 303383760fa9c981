/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/fused.c - which row computes a group of nodes.
 */
#include "backends/vulkan/ops/fused.h"

#include "backends/vulkan/ops/collect.h"
#include "backends/vulkan/ops/shape.h"

static const struct {
    const char *name;
    const struct gb_vk_fused *row;
} rows[GB_FUSE_PATTERN_COUNT] = {
    [GB_FUSE_ADD_NORM] = { "add_norm", &gb_vk_fused_norm },
    [GB_FUSE_GATE] = { "gate", &gb_vk_fused_gate },
    [GB_FUSE_GET_NORM] = { "get_norm", &gb_vk_fused_norm },
    [GB_FUSE_NORM] = { "norm", &gb_vk_fused_norm },
    [GB_FUSE_PRODUCT] = { "product", &gb_vk_fused_product },
    [GB_FUSE_PRODUCTS] = { "products", &gb_vk_fused_products },
    [GB_FUSE_ROPE_STORE] = { "rope_store", &gb_vk_fused_stores },
    [GB_FUSE_ROUTE] = { "route", &gb_vk_fused_route },
    [GB_FUSE_SLICES] = { "slices", &gb_vk_fused_slices },
    [GB_FUSE_SOFT_MAX] = { "soft_max", &gb_vk_fused_soft_max },
    [GB_FUSE_STORES] = { "stores", &gb_vk_fused_stores },
};

const struct gb_vk_fused *
gb_vk_fused_of(enum gb_fuse_pattern pattern)
{
    return rows[pattern].row;
}

const char *
gb_vk_fused_name(enum gb_fuse_pattern pattern)
{
    return rows[pattern].name;
}

/* Does GROUP take a pipeline that the driver cannot make? */
static bool
is_broken(const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    struct gb_vk_collection taken = { .n = 0 };

    if (!limits->has_broken)
        return false;
    gb_vk_collect_group(limits, group, &taken);
    return gb_vk_has_broken(limits, &taken);
}

bool
gb_vk_supports_group(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_nodes; i++)
        if (!gb_vk_runs_whole(limits, group->nodes[i]))
            return false;
    return gb_vk_fused_of(group->pattern)->supports(limits, group) &&
           !is_broken(limits, group);
}

bool
gb_vk_writes_whole(const struct gb_fuse_group *group)
{
    for (int i = 0; i < group->n_nodes - 1; i++)
        if (gb_fuse_is_written(group, i) &&
            !ggml_is_contiguous(group->nodes[i]))
            return false;
    return true;
}

struct gb_vk_bind
gb_vk_write_if(const struct gb_fuse_group *group, int i,
               const struct ggml_tensor *instead)
{
    return gb_vk_write(gb_fuse_is_written(group, i) ? group->nodes[i]
                                                    : instead);
}
