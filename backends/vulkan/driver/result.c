/* SPDX-License-Identifier: MIT */
/*
 * vulkan/driver/result.c - names of results, for people.
 */
#include "backends/vulkan/driver/driver.h"

const char *
gb_vk_result(VkResult result)
{
    static const struct {
        VkResult result;
        const char *name;
    } names[] = {
#define NAME(result) { result, #result }
        NAME(VK_SUCCESS),
        NAME(VK_NOT_READY),
        NAME(VK_TIMEOUT),
        NAME(VK_INCOMPLETE),
        NAME(VK_ERROR_OUT_OF_HOST_MEMORY),
        NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY),
        NAME(VK_ERROR_INITIALIZATION_FAILED),
        NAME(VK_ERROR_DEVICE_LOST),
        NAME(VK_ERROR_MEMORY_MAP_FAILED),
        NAME(VK_ERROR_LAYER_NOT_PRESENT),
        NAME(VK_ERROR_EXTENSION_NOT_PRESENT),
        NAME(VK_ERROR_FEATURE_NOT_PRESENT),
        NAME(VK_ERROR_INCOMPATIBLE_DRIVER),
        NAME(VK_ERROR_TOO_MANY_OBJECTS),
        NAME(VK_ERROR_FRAGMENTED_POOL),
        NAME(VK_ERROR_OUT_OF_POOL_MEMORY),
        NAME(VK_ERROR_FRAGMENTATION),
        NAME(VK_ERROR_INVALID_EXTERNAL_HANDLE),
        NAME(VK_ERROR_UNKNOWN),
#undef NAME
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (names[i].result == result)
            return names[i].name;
    return "an unknown result";
}
