/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/route.c - the experts of a token and how much they count, by one
 * dispatch: SOFT_MAX, the order of the probabilities, those that come first, and
 * their shares of their sum.
 */
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/rows.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-route.h"

_Static_assert(GB_VK_ROUTE_MOST <= GB_VK_TEAM_ROW,
               "a team has a row, as it has of the operations one by one");

static bool
route_supports(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group)
{
    return gb_vk_can_use(limits, GB_VK_route) &&
           gb_fuse_is_route(group, GB_VK_ROUTE_MOST);
}

static void
route_emit(struct gb_vk_emit *emit, const struct gb_fuse_group *group)
{
    const struct ggml_tensor *values = group->nodes[GB_FUSE_VALUES];
    const struct ggml_tensor *a = values->src[0];
    const struct ggml_tensor *last = group->nodes[group->n_nodes - 1];
    struct gb_vk_bind binds[1 + GB_FUSE_ROUTE_NODES] = { gb_vk_read(a) };
    struct gb_vk_route_params params = {
        .src_nb = (uint32_t)a->nb[1],
        .n = (uint32_t)values->ne[0],
        .n_rows = (uint32_t)values->ne[1],
        .n_picked = (uint32_t)group->nodes[GB_FUSE_PICKED]->ne[1],
        .is_descending = gb_node_param_i32(group->nodes[GB_FUSE_ORDER], 0) ==
                         GGML_SORT_ORDER_DESC,
        .written = group->written & ((1u << group->n_nodes) - 1),
        .scale = gb_node_param_f32(values, 0),
    };

    for (int i = 0; i < GB_FUSE_ROUTE_NODES; i++)
        binds[1 + i] = i < group->n_nodes ? gb_vk_write_if(group, i, last)
                                          : gb_vk_write(last);
    emit->add(emit, GB_VK_route, gb_vk_groups(params.n_rows, GB_VK_TEAMS),
              binds, 1 + GB_FUSE_ROUTE_NODES, &params, sizeof(params));
}

const struct gb_vk_fused gb_vk_fused_route = {
    .supports = route_supports,
    .emit = route_emit,
};
