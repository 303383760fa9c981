/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/memory.c - buffers of Vulkan with memory behind them.
 *
 * Memory that the host reaches is used as such only where it is coherent, which
 * each device has some of.  On cards with memory of their own the part that the
 * host reaches is small or slow to read, so it is the last choice there.
 */
#include "backends/vulkan/device/memory.h"

#include "backends/vulkan/device/settings.h"

#include "ggmlbackend.h"

#include <string.h>

enum {
    LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
    SHARED = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
             VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
    CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT,
};

/* A choice: flags that are wanted, and that are not. */
struct wish {
    VkMemoryPropertyFlags with, without;
};

enum { MAX_WISHES = 4 };

static void
choose_wishes(const struct gb_vk_card *card, enum gb_vk_memory_kind kind,
              struct wish wishes[MAX_WISHES])
{
    static const struct wish host[MAX_WISHES] = {
        { SHARED | CACHED, LOCAL }, { SHARED | CACHED, 0 }, { SHARED, 0 },
        { SHARED, 0 },
    };
    static const struct wish own[MAX_WISHES] = {
        { LOCAL, SHARED }, { LOCAL, 0 }, { SHARED, 0 }, { 0, 0 }
    };
    static const struct wish common[MAX_WISHES] = {
        { LOCAL | SHARED | CACHED, 0 }, { LOCAL | SHARED, 0 }, { LOCAL, 0 },
        { 0, 0 }
    };
    const struct wish *chosen = common;

    if (kind == GB_VK_MEMORY_HOST ||
        gb_vk_setting("GGML_VK_PREFER_HOST_MEMORY") != NULL)
        chosen = host;
    else if (card->type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU)
        chosen = own;
    memcpy(wishes, chosen, sizeof(host));
}

/* -1: there is none of BITS. */
static int
find_type(const struct gb_vk_card *card, uint32_t bits,
          const struct wish *wish, int after)
{
    for (int i = after + 1; i < (int)card->memory.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags =
            card->memory.memoryTypes[i].propertyFlags;

        if ((bits >> i & 1) != 0 && (flags & wish->with) == wish->with &&
            (wish->without == 0 || (flags & wish->without) == 0) &&
            (flags & VK_MEMORY_PROPERTY_PROTECTED_BIT) == 0)
            return i;
    }
    return -1;
}

/* The first type of all wishes that has SIZE bytes left. */
static VkResult
allocate(struct gb_vk_context *context, enum gb_vk_memory_kind kind,
         const VkMemoryRequirements *needs, VkDeviceMemory *memory, int *type)
{
    const struct gb_vk_card *card = context->card;
    struct wish wishes[MAX_WISHES];
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;

    choose_wishes(card, kind, wishes);
    for (int w = 0; w < MAX_WISHES; w++) {
        for (*type = find_type(card, needs->memoryTypeBits, &wishes[w], -1);
             *type >= 0;
             *type = find_type(card, needs->memoryTypeBits, &wishes[w],
                               *type)) {
            const VkMemoryAllocateInfo info = {
                .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                .allocationSize = needs->size,
                .memoryTypeIndex = (uint32_t)*type,
            };

            result = context->calls.AllocateMemory(context->device, &info, NULL,
                                                   memory);
            if (result != VK_ERROR_OUT_OF_DEVICE_MEMORY &&
                result != VK_ERROR_OUT_OF_HOST_MEMORY)
                return result;
        }
    }
    return result;
}

/* May SIZE bytes more be taken of the card? */
static bool
take(struct gb_vk_card *card, size_t size)
{
    const size_t most =
        gb_vk_setting_bytes("GGMLBACKEND_GPU_MEMORY", SIZE_MAX);
    bool may;

    pthread_mutex_lock(&card->lock);
    may = size <= most && card->taken <= most - size;
    if (may)
        card->taken += size;
    pthread_mutex_unlock(&card->lock);
    return may;
}

static void
give_back(struct gb_vk_card *card, size_t size)
{
    pthread_mutex_lock(&card->lock);
    card->taken -= size;
    pthread_mutex_unlock(&card->lock);
}

static enum ggml_status
map(struct gb_vk_context *context, struct gb_vk_memory *memory,
    enum gb_vk_memory_kind kind, int type)
{
    const VkMemoryPropertyFlags flags =
        context->card->memory.memoryTypes[type].propertyFlags;
    void *mapped;

    if ((flags & SHARED) != SHARED ||
        (kind == GB_VK_MEMORY_DEVICE && gb_vk_test_has("staging")))
        return GGML_STATUS_SUCCESS;
    GB_VK_TRY(context, MapMemory,
              (context->device, memory->memory, 0, VK_WHOLE_SIZE, 0, &mapped));
    memory->mapped = mapped;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
bind(struct gb_vk_context *context, struct gb_vk_memory *memory,
     enum gb_vk_memory_kind kind)
{
    VkMemoryRequirements needs;
    VkResult result;
    int type;

    context->calls.GetBufferMemoryRequirements(context->device, memory->buffer,
                                               &needs);
    result = allocate(context, kind, &needs, &memory->memory, &type);
    if (result != VK_SUCCESS)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for %zu bytes: %s",
                                context->card->label, memory->size,
                                gb_vk_result(result));
    GB_VK_TRY(context, BindBufferMemory,
              (context->device, memory->buffer, memory->memory, 0));
    return map(context, memory, kind, type);
}

enum ggml_status
gb_vk_memory_new(
    struct gb_vk_context *context, enum gb_vk_memory_kind kind, size_t size,
    struct gb_vk_memory *out)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                 VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
    };
    static atomic_uint_fast64_t n_made;
    struct gb_vk_memory memory = {
        .size = size,
        .number = atomic_fetch_add_explicit(&n_made, 1, memory_order_relaxed) +
                  1,
        .is_counted = kind == GB_VK_MEMORY_DEVICE,
    };
    enum ggml_status status;

    if (size > context->card->most_allocation)
        return ggmlbackend_fail(
            GGML_STATUS_ALLOC_FAILED,
            "%s: %zu bytes are more than an allocation may have, %zu",
            context->card->label, size, context->card->most_allocation);
    if (memory.is_counted && !take(context->card, size))
        return ggmlbackend_fail(
            GGML_STATUS_ALLOC_FAILED,
            "%s: %zu bytes are more than GGMLBACKEND_GPU_MEMORY allows",
            context->card->label, size);
    status = GB_VK(context, CreateBuffer,
                   (context->device, &info, NULL, &memory.buffer));
    if (status == GGML_STATUS_SUCCESS)
        status = bind(context, &memory, kind);
    if (status == GGML_STATUS_SUCCESS)
        *out = memory;
    else
        gb_vk_memory_free(context, &memory);
    return status;
}

/* The size stands for what was taken, though nothing may have come of it. */
void
gb_vk_memory_free(struct gb_vk_context *context, struct gb_vk_memory *memory)
{
    if (gb_vk_is_own(context)) {
        context->calls.DestroyBuffer(context->device, memory->buffer, NULL);
        context->calls.FreeMemory(context->device, memory->memory, NULL);
    }
    if (memory->is_counted)
        give_back(context->card, memory->size);
    memset(memory, 0, sizeof(*memory));
}
