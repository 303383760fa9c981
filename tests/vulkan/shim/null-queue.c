/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/null-queue.c - queues, semaphores, command buffers and sets of the
 * null driver.
 *
 * A submission signals its semaphores at once.  Pools own what was allocated from
 * them.
 */
#include "tests/vulkan/shim/null.h"

#include <stdatomic.h>
#include <stdlib.h>

struct device {
    char queues[4]; /* their addresses are the handles: one a family */
};

struct semaphore {
    atomic_uint_least64_t value;
};

/* One of a pool's blocks. */
struct block {
    struct block *next;
};

struct pool {
    struct block *blocks;
    uint32_t n, most; /* of sets; 0: no bound */
};

/* ---- devices ---- */

static VkResult VKAPI_PTR
create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
              const VkAllocationCallbacks *own, VkDevice *out)
{
    struct device *device = calloc(1, sizeof(*device));

    (void)physical;
    (void)info;
    (void)own;
    *out = (VkDevice)(void *)device;
    return device != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void VKAPI_PTR
destroy_device(VkDevice device, const VkAllocationCallbacks *own)
{
    (void)own;
    free((void *)device);
}

static void VKAPI_PTR
get_queue(VkDevice handle, uint32_t family, uint32_t index, VkQueue *out)
{
    struct device *device = (void *)handle;

    *out = (VkQueue)(void *)&device->queues[(family + index) % 4];
}

/* ---- semaphores ---- */

static VkResult VKAPI_PTR
create_semaphore(VkDevice device, const VkSemaphoreCreateInfo *info,
                 const VkAllocationCallbacks *own, VkSemaphore *out)
{
    struct semaphore *semaphore = calloc(1, sizeof(*semaphore));

    (void)device;
    (void)info;
    (void)own;
    *out = (VkSemaphore)(uintptr_t)semaphore;
    return semaphore != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void VKAPI_PTR
destroy_semaphore(VkDevice device, VkSemaphore semaphore,
                  const VkAllocationCallbacks *own)
{
    (void)device;
    (void)own;
    free((void *)(uintptr_t)semaphore);
}

static uint64_t
value_of(VkSemaphore handle)
{
    struct semaphore *semaphore = (void *)(uintptr_t)handle;

    return atomic_load(&semaphore->value);
}

static void
signal_to(VkSemaphore handle, uint64_t value)
{
    struct semaphore *semaphore = (void *)(uintptr_t)handle;

    if (atomic_load(&semaphore->value) < value)
        atomic_store(&semaphore->value, value);
}

static VkResult VKAPI_PTR
get_value(VkDevice device, VkSemaphore semaphore, uint64_t *out)
{
    (void)device;
    *out = value_of(semaphore);
    return VK_SUCCESS;
}

/* Nobody signals while a caller waits, so there is nothing to wait for. */
static VkResult VKAPI_PTR
wait_for(VkDevice device, const VkSemaphoreWaitInfo *info, uint64_t timeout)
{
    (void)device;
    (void)timeout;
    for (uint32_t i = 0; i < info->semaphoreCount; i++)
        if (value_of(info->pSemaphores[i]) < info->pValues[i])
            return VK_TIMEOUT;
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
signal_by_host(VkDevice device, const VkSemaphoreSignalInfo *info)
{
    (void)device;
    signal_to(info->semaphore, info->value);
    return VK_SUCCESS;
}

static const VkTimelineSemaphoreSubmitInfo *
timeline_of(const VkSubmitInfo *info)
{
    const VkBaseInStructure *at = info->pNext;

    while (at != NULL &&
           at->sType != VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO)
        at = at->pNext;
    return (const void *)at;
}

static VkResult VKAPI_PTR
submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    (void)queue;
    (void)fence;
    for (uint32_t i = 0; i < n; i++) {
        const VkTimelineSemaphoreSubmitInfo *timeline = timeline_of(&infos[i]);

        for (uint32_t k = 0; timeline != NULL &&
                             k < timeline->signalSemaphoreValueCount; k++)
            signal_to(infos[i].pSignalSemaphores[k],
                      timeline->pSignalSemaphoreValues[k]);
    }
    return VK_SUCCESS;
}

/* ---- pools ---- */

static struct block *
add_block(struct pool *pool)
{
    struct block *block = calloc(1, sizeof(*block) + 16);

    if (block == NULL)
        return NULL;
    block->next = pool->blocks;
    pool->blocks = block;
    return block;
}

static void
empty(struct pool *pool)
{
    while (pool->blocks != NULL) {
        struct block *block = pool->blocks;

        pool->blocks = block->next;
        free(block);
    }
    pool->n = 0;
}

static void
drop(struct pool *pool, const void *block)
{
    for (struct block **at = &pool->blocks; *at != NULL; at = &(*at)->next) {
        struct block *found = *at;

        if (found != block)
            continue;
        *at = found->next;
        free(found);
        pool->n--;
        return;
    }
}

static VkResult VKAPI_PTR
create_command_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
                    const VkAllocationCallbacks *own, VkCommandPool *out)
{
    struct pool *pool = calloc(1, sizeof(*pool));

    (void)device;
    (void)info;
    (void)own;
    *out = (VkCommandPool)(uintptr_t)pool;
    return pool != NULL ? VK_SUCCESS : VK_ERROR_OUT_OF_HOST_MEMORY;
}

static void VKAPI_PTR
destroy_command_pool(VkDevice device, VkCommandPool handle,
                     const VkAllocationCallbacks *own)
{
    struct pool *pool = (void *)(uintptr_t)handle;

    (void)device;
    (void)own;
    if (pool != NULL)
        empty(pool);
    free(pool);
}

static VkResult VKAPI_PTR
allocate_commands(VkDevice device, const VkCommandBufferAllocateInfo *info,
                  VkCommandBuffer *out)
{
    struct pool *pool = (void *)(uintptr_t)info->commandPool;

    (void)device;
    for (uint32_t i = 0; i < info->commandBufferCount; i++) {
        out[i] = (VkCommandBuffer)(void *)add_block(pool);
        if (out[i] == NULL)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
    }
    return VK_SUCCESS;
}

static void VKAPI_PTR
free_commands(VkDevice device, VkCommandPool pool, uint32_t n,
              const VkCommandBuffer *buffers)
{
    (void)device;
    for (uint32_t i = 0; i < n; i++)
        drop((void *)(uintptr_t)pool, buffers[i]);
}

static VkResult VKAPI_PTR
create_set_pool(VkDevice device, const VkDescriptorPoolCreateInfo *info,
                const VkAllocationCallbacks *own, VkDescriptorPool *out)
{
    struct pool *pool = calloc(1, sizeof(*pool));

    (void)device;
    (void)own;
    if (pool == NULL)
        return VK_ERROR_OUT_OF_HOST_MEMORY;
    pool->most = info->maxSets;
    *out = (VkDescriptorPool)(uintptr_t)pool;
    return VK_SUCCESS;
}

static void VKAPI_PTR
destroy_set_pool(VkDevice device, VkDescriptorPool handle,
                 const VkAllocationCallbacks *own)
{
    destroy_command_pool(device, (VkCommandPool)(uintptr_t)handle, own);
}

static VkResult VKAPI_PTR
reset_set_pool(VkDevice device, VkDescriptorPool pool,
               VkDescriptorPoolResetFlags flags)
{
    (void)device;
    (void)flags;
    empty((void *)(uintptr_t)pool);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
allocate_sets(VkDevice device, const VkDescriptorSetAllocateInfo *info,
              VkDescriptorSet *out)
{
    struct pool *pool = (void *)(uintptr_t)info->descriptorPool;

    (void)device;
    if (pool->n + info->descriptorSetCount > pool->most)
        return VK_ERROR_OUT_OF_POOL_MEMORY;
    for (uint32_t i = 0; i < info->descriptorSetCount; i++) {
        out[i] = (VkDescriptorSet)(uintptr_t)add_block(pool);
        if (out[i] == VK_NULL_HANDLE)
            return VK_ERROR_OUT_OF_HOST_MEMORY;
        pool->n++;
    }
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
free_sets(VkDevice device, VkDescriptorPool pool, uint32_t n,
          const VkDescriptorSet *sets)
{
    (void)device;
    for (uint32_t i = 0; i < n; i++)
        drop((void *)(uintptr_t)pool, (void *)(uintptr_t)sets[i]);
    return VK_SUCCESS;
}

static VkResult VKAPI_PTR
wait_device(VkDevice device)
{
    (void)device;
    return VK_SUCCESS;
}

void
shim_null_queue(void)
{
    shim_driver.CreateDevice = create_device;
    shim_driver.DestroyDevice = destroy_device;
    shim_driver.DeviceWaitIdle = wait_device;
    shim_driver.GetDeviceQueue = get_queue;
    shim_driver.CreateSemaphore = create_semaphore;
    shim_driver.DestroySemaphore = destroy_semaphore;
    shim_driver.GetSemaphoreCounterValue = get_value;
    shim_driver.WaitSemaphores = wait_for;
    shim_driver.SignalSemaphore = signal_by_host;
    shim_driver.QueueSubmit = submit;
    shim_driver.CreateCommandPool = create_command_pool;
    shim_driver.DestroyCommandPool = destroy_command_pool;
    shim_driver.AllocateCommandBuffers = allocate_commands;
    shim_driver.FreeCommandBuffers = free_commands;
    shim_driver.CreateDescriptorPool = create_set_pool;
    shim_driver.DestroyDescriptorPool = destroy_set_pool;
    shim_driver.ResetDescriptorPool = reset_set_pool;
    shim_driver.AllocateDescriptorSets = allocate_sets;
    shim_driver.FreeDescriptorSets = free_sets;
}
