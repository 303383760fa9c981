/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/null-memory.c - memory and buffers of the null driver.
 *
 * Memory that can be mapped has addresses of the host's, which cost what is
 * touched; other memory has none.
 */
#include "tests/vulkan/shim/null.h"

#include <stdlib.h>
#include <sys/mman.h>

struct memory {
    char *base; /* NULL: it cannot be mapped */
    size_t size;
    bool is_imported;
};

struct buffer {
    VkDeviceSize size;
};

static void *
imported_pointer(const VkMemoryAllocateInfo *info)
{
    for (const VkBaseInStructure *at = info->pNext; at != NULL; at = at->pNext)
        if (at->sType ==
            VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT)
            return ((const VkImportMemoryHostPointerInfoEXT *)(const void *)at)
                ->pHostPointer;
    return NULL;
}

static VkResult VKAPI_PTR
allocate_memory(VkDevice device, const VkMemoryAllocateInfo *info,
                const VkAllocationCallbacks *own, VkDeviceMemory *out)
{
    struct memory *memory = calloc(1, sizeof(*memory));

    (void)device;
    (void)own;
    if (memory == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    memory->size = (size_t)info->allocationSize;
    memory->base = imported_pointer(info);
    memory->is_imported = memory->base != NULL;
    if (!memory->is_imported && info->memoryTypeIndex != NULL_TYPE_LOCAL) {
        memory->base = mmap(NULL, memory->size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory->base == MAP_FAILED) {
            free(memory);
            return VK_ERROR_OUT_OF_DEVICE_MEMORY;
        }
    }
    *out = (VkDeviceMemory)(uintptr_t)memory;
    return VK_SUCCESS;
}

static void VKAPI_PTR
free_memory(VkDevice device, VkDeviceMemory handle,
            const VkAllocationCallbacks *own)
{
    struct memory *memory = (void *)(uintptr_t)handle;

    (void)device;
    (void)own;
    if (memory != NULL && memory->base != NULL && !memory->is_imported)
        munmap(memory->base, memory->size);
    free(memory);
}

static VkResult VKAPI_PTR
map_memory(VkDevice device, VkDeviceMemory handle, VkDeviceSize offset,
           VkDeviceSize size, VkMemoryMapFlags flags, void **out)
{
    const struct memory *memory = (void *)(uintptr_t)handle;

    (void)device;
    (void)size;
    (void)flags;
    if (memory->base == NULL)
        return VK_ERROR_MEMORY_MAP_FAILED;
    *out = memory->base + offset;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
get_pointer_properties(VkDevice device, VkExternalMemoryHandleTypeFlagBits type,
                       const void *pointer,
                       VkMemoryHostPointerPropertiesEXT *out)
{
    (void)device;
    (void)type;
    (void)pointer;
    out->memoryTypeBits = 1u << NULL_TYPE_HOST;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
create_buffer(VkDevice device, const VkBufferCreateInfo *info,
              const VkAllocationCallbacks *own, VkBuffer *out)
{
    struct buffer *buffer = calloc(1, sizeof(*buffer));

    (void)device;
    (void)own;
    if (buffer == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    buffer->size = info->size;
    *out = (VkBuffer)(uintptr_t)buffer;
    return VK_SUCCESS;
}

static void VKAPI_PTR
destroy_buffer(VkDevice device, VkBuffer buffer,
               const VkAllocationCallbacks *own)
{
    (void)device;
    (void)own;
    free((void *)(uintptr_t)buffer);
}

static void VKAPI_PTR
get_requirements(VkDevice device, VkBuffer handle, VkMemoryRequirements *out)
{
    const struct buffer *buffer = (void *)(uintptr_t)handle;

    (void)device;
    *out = (VkMemoryRequirements){
        .size = (buffer->size + 255) & ~(VkDeviceSize)255,
        .alignment = 256,
        .memoryTypeBits = (1u << NULL_TYPES) - 1,
    };
}

void
shim_null_memory(void)
{
    shim_driver.AllocateMemory = allocate_memory;
    shim_driver.FreeMemory = free_memory;
    shim_driver.MapMemory = map_memory;
    shim_driver.GetMemoryHostPointerPropertiesEXT = get_pointer_properties;
    shim_driver.CreateBuffer = create_buffer;
    shim_driver.DestroyBuffer = destroy_buffer;
    shim_driver.GetBufferMemoryRequirements = get_requirements;
}
