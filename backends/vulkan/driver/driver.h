/* SPDX-License-Identifier: MIT */
/*
 * vulkan/driver/driver.h - the functions of Vulkan, looked up at run time.
 *
 * The loader, libvulkan.so.1, is opened and never closed.  Nothing is linked, so
 * that the module loads where there is no Vulkan.
 */
#ifndef GB_VULKAN_DRIVER_H
#define GB_VULKAN_DRIVER_H

#include "backends/vulkan/driver/later.h"

#include <stdbool.h>

/* Members of each table are named like the functions, without "vk". */
struct gb_vk_global {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define GB_VK_ROW_GLOBAL(name) PFN_vk##name name;
#define GB_VK_ROW_INSTANCE(name)
#define GB_VK_ROW_DEVICE(name)
#define GB_VK_ROW_OPTIONAL(name)
#define GB_VK_ROW_DEBUG(name)
#define GB_VK_CALL(level, name) GB_VK_ROW_##level(name)
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_GLOBAL
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEBUG
};

struct gb_vk_instance_calls {
#define GB_VK_ROW_GLOBAL(name)
#define GB_VK_ROW_INSTANCE(name) PFN_vk##name name;
#define GB_VK_ROW_DEBUG(name) PFN_vk##name name; /* NULL: not there */
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEVICE
#undef GB_VK_ROW_OPTIONAL
#undef GB_VK_ROW_DEBUG
};

struct gb_vk_device_calls {
#define GB_VK_ROW_INSTANCE(name)
#define GB_VK_ROW_DEVICE(name) PFN_vk##name name;
#define GB_VK_ROW_OPTIONAL(name) PFN_vk##name name; /* NULL: not there */
#define GB_VK_ROW_DEBUG(name)
#include "backends/vulkan/driver/calls.def"
#undef GB_VK_ROW_GLOBAL
#undef GB_VK_ROW_INSTANCE
#undef GB_VK_ROW_DEVICE
#undef GB_VK_ROW_OPTIONAL
#undef GB_VK_ROW_DEBUG
#undef GB_VK_CALL
};

/*
 * The loader's functions; NULL, with the reason, a static text, where it cannot
 * be opened or is no loader.  Any thread.
 */
const struct gb_vk_global *gb_vk_global(const char **reason);

/* False, with the name of one that is missing. */
bool gb_vk_look_up_instance(
    const struct gb_vk_global *global, VkInstance instance,
    struct gb_vk_instance_calls *calls, const char **missing);
bool gb_vk_look_up_device(
    const struct gb_vk_instance_calls *instance, VkDevice device,
    struct gb_vk_device_calls *calls, const char **missing);

/* "VK_ERROR_DEVICE_LOST" …; "an unknown result" for others. */
const char *gb_vk_result(VkResult result);

#endif
