/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/memory.h - buffers of Vulkan with memory behind them.
 */
#ifndef GB_VULKAN_DEVICE_MEMORY_H
#define GB_VULKAN_DEVICE_MEMORY_H

#include "backends/vulkan/device/context.h"

/* What memory is for. */
enum gb_vk_memory_kind {
    GB_VK_MEMORY_DEVICE, /* the card's; mapped where it is the host's as well */
    GB_VK_MEMORY_HOST,   /* the host's, mapped, which the card reads and writes */
};

struct gb_vk_memory {
    VkBuffer buffer;
    VkDeviceMemory memory;
    char *mapped; /* NULL: the host does not reach it */
    size_t size;
    uint64_t number; /* no other memory of the process has it, or had it */
    bool is_counted; /* among what is taken of the card */
};

/*
 * SIZE bytes, a multiple of 4 that is not 0, at most the card's largest
 * allocation.  On failure *OUT is untouched, and the reason is told.
 */
enum ggml_status gb_vk_memory_new(
    struct gb_vk_context *context, enum gb_vk_memory_kind kind, size_t size,
    struct gb_vk_memory *out);

/* Nothing uses it any more; nothing for one that is all zero. */
void gb_vk_memory_free(
    struct gb_vk_context *context, struct gb_vk_memory *memory);

#endif
