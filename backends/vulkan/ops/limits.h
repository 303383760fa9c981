/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/limits.h - what rows of the operation table know of a device.
 */
#ifndef GB_VULKAN_OPS_LIMITS_H
#define GB_VULKAN_OPS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What not every device has, a bit each: GB_VK_HAS_F16 … */
enum {
#define GB_VK_FEATURE(id, name, variable, capabilities) GB_VK_FEATURE_##id,
#include "backends/vulkan/ops/features.def"
#undef GB_VK_FEATURE
    GB_VK_FEATURE_COUNT
};

enum {
#define GB_VK_FEATURE(id, name, variable, capabilities) \
    GB_VK_HAS_##id = 1 << GB_VK_FEATURE_##id,
#include "backends/vulkan/ops/features.def"
#undef GB_VK_FEATURE
};

/* Words that have a bit for each pipeline. */
enum { GB_VK_PIPELINE_WORDS = 32 };

struct gb_vk_limits {
    size_t range;      /* bytes that a binding shows at most, below 4 GiB */
    uint32_t threads;  /* invocations of a work group: 256 at least */
    uint32_t features; /* GB_VK_HAS_…: there, and to be used */
    uint32_t subgroup; /* invocations, with GB_VK_HAS_SUBGROUP: 4 to 64 */
    bool has_broken;   /* a pipeline that the driver cannot make */
    uint32_t broken[GB_VK_PIPELINE_WORDS]; /* their bits */
};

#endif
