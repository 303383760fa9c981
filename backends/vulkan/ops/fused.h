/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/fused.h - rows of the table of groups of nodes that are computed
 * together, with the bits that the nodes have one by one.
 *
 * Most are one dispatch.  Products with one right side, and stores into a KV
 * cache, have nothing to do with each other: they are dispatched side by side,
 * so that no barrier parts them, which is what a dispatch costs.
 */
#ifndef GB_VULKAN_OPS_FUSED_H
#define GB_VULKAN_OPS_FUSED_H

#include "backends/vulkan/ops/emit.h"

#include "lib/fuse/members.h"

struct gb_vk_fused {
    /* Can GROUP be computed so, each node of which has a row that can? */
    bool (*supports)(const struct gb_vk_limits *limits,
                     const struct gb_fuse_group *group);
    /* Bytes of scratch that emit needs; NULL: no more than any of the nodes
     * asks for. */
    size_t (*scratch)(const struct gb_vk_limits *limits,
                      const struct gb_fuse_group *group);
    void (*emit)(struct gb_vk_emit *emit, const struct gb_fuse_group *group);
};

/* The row of a pattern, and its name in messages. */
const struct gb_vk_fused *gb_vk_fused_of(enum gb_fuse_pattern pattern);
const char *gb_vk_fused_name(enum gb_fuse_pattern pattern);

extern const struct gb_vk_fused gb_vk_fused_gate;
extern const struct gb_vk_fused gb_vk_fused_norm;
extern const struct gb_vk_fused gb_vk_fused_product;
extern const struct gb_vk_fused gb_vk_fused_products;
extern const struct gb_vk_fused gb_vk_fused_route;
extern const struct gb_vk_fused gb_vk_fused_slices;
extern const struct gb_vk_fused gb_vk_fused_soft_max;
extern const struct gb_vk_fused gb_vk_fused_stores;

/* Can GROUP be computed so, each operand being within the range of a binding? */
bool gb_vk_supports_group(
    const struct gb_vk_limits *limits, const struct gb_fuse_group *group);

/* Has each node of GROUP whose result is written, but the last, no gaps? */
bool gb_vk_writes_whole(const struct gb_fuse_group *group);

/* Where the result of node I of GROUP goes; where nobody sees it INSTEAD, which
 * the group writes anyway: the driver knows no better than that it may. */
struct gb_vk_bind gb_vk_write_if(const struct gb_fuse_group *group, int i,
                                 const struct ggml_tensor *instead);

/* Strides of dimensions 1 to 3 of T, which is repeated along dimensions in which
 * it has one element: 0 there. */
#define GB_VK_ROW_NB_REPEATED(t)                         \
    { (t)->ne[1] == 1 ? 0 : (uint32_t)(t)->nb[1],        \
      (t)->ne[2] == 1 ? 0 : (uint32_t)(t)->nb[2],        \
      (t)->ne[3] == 1 ? 0 : (uint32_t)(t)->nb[3] }

#endif
