/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/memory.c - other memory than the driver has.
 *
 * In GGMLBACKEND_TEST_VK_LIMITS, for drivers with one type of memory:
 *
 *     types:2   two types instead: the card's, which is not mapped, and the host's
 *     types:3   and a third that is both, 1 MiB of it
 *     heap:N    the first heap has N bytes, and not one more is given
 */
#include "tests/vulkan/shim/changes.h"

#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <string.h>

enum { BAR_BYTES = 1 << 20, LOCAL_TYPE = 0, BAR_TYPE = 2 };

static uint64_t n_types; /* 0: the driver's */

/* ---- what there is ---- */

static void
show_types(VkPhysicalDeviceMemoryProperties *memory)
{
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        SHARED = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                 VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
    };
    const VkDeviceSize size = memory->memoryHeaps[0].size;

    *memory = (VkPhysicalDeviceMemoryProperties){
        .memoryTypeCount = (uint32_t)n_types,
        .memoryTypes = {
            { LOCAL, 0 }, { SHARED | CACHED, 1 }, { LOCAL | SHARED, 2 }
        },
        .memoryHeapCount = (uint32_t)n_types,
        .memoryHeaps = {
            { size, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT },
            { size, 0 },
            { BAR_BYTES, VK_MEMORY_HEAP_DEVICE_LOCAL_BIT },
        },
    };
}

static void VKAPI_PTR
get_memory(VkPhysicalDevice physical, VkPhysicalDeviceMemoryProperties2 *out)
{
    uint64_t size;
    int copy;

    shim_driver.GetPhysicalDeviceMemoryProperties2(shim_real(physical, &copy),
                                                   out);
    if (n_types > 0)
        show_types(&out->memoryProperties);
    if (shim_limit("heap", &size))
        out->memoryProperties.memoryHeaps[0].size = size;
}

static void VKAPI_PTR
get_requirements(VkDevice device, VkBuffer buffer, VkMemoryRequirements *out)
{
    shim_driver.GetBufferMemoryRequirements(device, buffer, out);
    if (n_types > 0)
        out->memoryTypeBits = (1u << n_types) - 1;
}

static VkResult VKAPI_PTR
get_pointer_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                       const void *pointer,
                       VkMemoryHostPointerPropertiesEXT *out)
{
    const VkResult result = shim_driver.GetMemoryHostPointerPropertiesEXT(
        device, type, pointer, out);

    if (n_types > 0)
        out->memoryTypeBits = 2;
    return result;
}

/* ---- what is taken of it ---- */

static bool
has_room(const VkMemoryAllocateInfo *info)
{
    uint64_t most = UINT64_MAX;

    if (n_types == 3 && info->memoryTypeIndex == BAR_TYPE)
        most = BAR_BYTES;
    else if (info->memoryTypeIndex != 0 || !shim_limit("heap", &most))
        return true;
    return shim_bytes_of(info->memoryTypeIndex) + info->allocationSize <= most;
}

static VkResult VKAPI_PTR
allocate(VkDevice device, const VkMemoryAllocateInfo *info,
         const VkAllocationCallbacks *own, VkDeviceMemory *out)
{
    VkMemoryAllocateInfo real = *info;
    VkResult result;

    if (!has_room(info))
        return VK_ERROR_OUT_OF_DEVICE_MEMORY;
    if (n_types > 0)
        real.memoryTypeIndex = 0;
    result = shim_driver.AllocateMemory(device, &real, own, out);
    if (result == VK_SUCCESS)
        shim_has_bytes(SHIM_NUMBER(*out), info->allocationSize,
                       info->memoryTypeIndex);
    return result;
}

static VkResult VKAPI_PTR
map(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset,
    VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    if (n_types > 0 && shim_type_of(SHIM_NUMBER(memory)) == LOCAL_TYPE) {
        shim_report("memory is mapped that cannot be");
        return VK_ERROR_MEMORY_MAP_FAILED;
    }
    return shim_driver.MapMemory(device, memory, offset, size, flags, out);
}

void
shim_memory_init(void)
{
    if (!shim_limit("types", &n_types) || n_types > 3 || shim_is_null())
        n_types = 0;
    shim_override(SHIM_GetPhysicalDeviceMemoryProperties2,
                  (PFN_vkVoidFunction)get_memory);
    shim_override(SHIM_GetBufferMemoryRequirements,
                  (PFN_vkVoidFunction)get_requirements);
    shim_override(SHIM_GetMemoryHostPointerPropertiesEXT,
                  (PFN_vkVoidFunction)get_pointer_properties);
    shim_override(SHIM_AllocateMemory, (PFN_vkVoidFunction)allocate);
    shim_override(SHIM_MapMemory, (PFN_vkVoidFunction)map);
}
