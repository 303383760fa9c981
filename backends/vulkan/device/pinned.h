/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pinned.h - memory of the host that a card copies from and to by
 * itself, and buffers of it.
 */
#ifndef GB_VULKAN_DEVICE_PINNED_H
#define GB_VULKAN_DEVICE_PINNED_H

#include "backends/vulkan/device/device.h"
#include "backends/vulkan/device/memory.h"

/*
 * The buffer of CONTEXT's that all SIZE bytes at MEMORY lie in, and where in it
 * they begin; VK_NULL_HANDLE: there is none.  Any thread.
 */
VkBuffer gb_vk_find_pinned(
    const struct gb_vk_context *context, const void *memory, size_t size,
    size_t *offset);

/* The type of DEVICE's pinned buffers, "Vulkan_Host". */
void gb_vk_host_type_init(struct gb_vk_device *device);

#endif
