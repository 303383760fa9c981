/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/plan.h - a graph as a list of dispatches.
 */
#ifndef GB_VULKAN_DEVICE_PLAN_H
#define GB_VULKAN_DEVICE_PLAN_H

#include "backends/vulkan/device/memory.h"

#include "lib/fuse/fuse.h"
#include "lib/fuse/seen.h"

/* A binding: a range of a buffer, in whole words, and what is done to it. */
struct gb_vk_range {
    VkBuffer buffer;
    VkDeviceSize begin, end;
    bool is_written;
};

struct gb_vk_dispatch {
    enum gb_vk_pipeline pipeline;
    int node; /* of the graph, where it stands */
    int64_t n_groups;
    struct gb_vk_range ranges[GB_VK_MAX_BINDINGS];
    int n_ranges;                          /* as many as the pipeline binds */
    uint32_t params[GB_VK_MAX_PARAMS / 4];
    size_t params_size;
    uint64_t ns;    /* estimated */
    size_t chunk;   /* that it is in, the first one where it is cut */
    bool is_moving; /* it was another one when the graph came again */
};

/* The dispatches of a node, or of the group that is computed where it stands. */
struct gb_vk_unit {
    size_t first, n;
    uint64_t change; /* of the plan, in which they were looked at last */
};

enum { GB_VK_MAX_HOMES = 16 };

/* Memory that dispatches bind, by one tensor that lies in it. */
struct gb_vk_home {
    const struct ggml_tensor *tensor;
    uint64_t number; /* of the memory */
};

/* All zero: empty.  The arrays grow and are kept. */
struct gb_vk_plan {
    struct gb_vk_dispatch *dispatches;
    size_t n_dispatches, room_dispatches;
    struct gb_vk_unit *units; /* by node */
    size_t room_units;
    struct gb_fuse fuse;
    struct gb_fuse_seen seen; /* nothing: the plan is not to be used again */
    struct gb_vk_home homes[GB_VK_MAX_HOMES];
    int n_homes;      /* more than there may be: it is not to be used again */
    uint64_t scratch; /* the number of the memory that is used as such */
    uint64_t change;  /* how often it was changed */
    const struct ggml_cgraph *cgraph; /* while it runs */
};

/* Add DISPATCH; false: there is no memory for it. */
bool gb_vk_plan_add(
    struct gb_vk_plan *plan, const struct gb_vk_dispatch *dispatch);

/*
 * Write CGRAPH's dispatches to PLAN, whose former ones go.  SCRATCH is made as
 * large as they need, for which NUMBER, the last submission that may use it, is
 * waited for.
 */
enum ggml_status gb_vk_plan_make(
    struct gb_vk_plan *plan, struct gb_vk_context *context,
    struct gb_vk_memory *scratch, uint64_t number,
    const struct ggml_cgraph *cgraph);

enum gb_vk_again {
    GB_VK_AS_BEFORE,
    GB_VK_CHANGED, /* some dispatches, which are listed */
    GB_VK_ANOTHER, /* PLAN is not for it, and as it was */
    GB_VK_WORN,    /* PLAN has to be made anew */
};

/* Called for a dispatch that has changed. */
typedef void (*gb_vk_changed_fn)(void *data, struct gb_vk_dispatch *dispatch);

/* Let PLAN compute CGRAPH, if that takes at most other arguments of some
 * dispatches: CHANGED is called for those, with DATA. */
enum gb_vk_again gb_vk_plan_again(
    struct gb_vk_plan *plan, struct gb_vk_context *context,
    const struct gb_vk_memory *scratch, const struct ggml_cgraph *cgraph,
    gb_vk_changed_fn changed, void *data);

void gb_vk_plan_clear(struct gb_vk_plan *plan);

#endif
