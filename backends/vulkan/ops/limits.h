/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/limits.h - what rows of the operation table know of a device.
 */
#ifndef GB_VULKAN_OPS_LIMITS_H
#define GB_VULKAN_OPS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gb_vk_limits {
    size_t range;     /* bytes that a binding shows at most, below 4 GiB */
    uint32_t threads; /* invocations of a work group: 256 at least */
};

#endif
