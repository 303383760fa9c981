/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/extensions.h - the extensions of a physical device.
 */
#ifndef GB_VULKAN_DEVICE_EXTENSIONS_H
#define GB_VULKAN_DEVICE_EXTENSIONS_H

#include "backends/vulkan/device/instance.h"

struct gb_vk_extensions {
    VkExtensionProperties *items; /* to be freed */
    uint32_t n;                   /* 0 where there is no memory for them */
};

struct gb_vk_extensions gb_vk_extensions_list(
    const struct gb_vk_instance *instance, VkPhysicalDevice physical);

bool gb_vk_extensions_have(
    const struct gb_vk_extensions *list, const char *name);

#endif
