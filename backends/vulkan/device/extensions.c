/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/extensions.c - the extensions of a physical device.
 */
#include "backends/vulkan/device/extensions.h"

#include <stdlib.h>
#include <string.h>

struct gb_vk_extensions
gb_vk_extensions_list(
    const struct gb_vk_instance *instance, VkPhysicalDevice physical)
{
    const PFN_vkEnumerateDeviceExtensionProperties enumerate =
        instance->calls.EnumerateDeviceExtensionProperties;
    struct gb_vk_extensions list = { NULL, 0 };

    if (enumerate(physical, NULL, &list.n, NULL) != VK_SUCCESS)
        return (struct gb_vk_extensions){ NULL, 0 };
    list.items = calloc(list.n, sizeof(*list.items));
    if (list.items == NULL ||
        enumerate(physical, NULL, &list.n, list.items) < VK_SUCCESS)
        list.n = 0;
    return list;
}

bool
gb_vk_extensions_have(const struct gb_vk_extensions *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->items[i].extensionName, name) == 0)
            return true;
    return false;
}
