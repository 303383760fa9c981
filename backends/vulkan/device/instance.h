/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/instance.h - the process's instance of Vulkan.
 */
#ifndef GB_VULKAN_DEVICE_INSTANCE_H
#define GB_VULKAN_DEVICE_INSTANCE_H

#include "backends/vulkan/driver/driver.h"

struct gb_vk_instance {
    VkInstance handle;
    struct gb_vk_instance_calls calls;
    VkDebugUtilsMessengerEXT messenger; /* NULL: nobody validates */
};

/*
 * Make it, with validation where GGMLBACKEND_VULKAN_VALIDATE asks for it.  False,
 * with the reason in REASON, of SIZE bytes, and nothing left.
 */
bool gb_vk_instance_init(
    struct gb_vk_instance *instance, char *reason, size_t size);

/* No device of it is left. */
void gb_vk_instance_clear(struct gb_vk_instance *instance);

#endif
