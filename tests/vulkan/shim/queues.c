/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/queues.c - other queues than the driver has.
 *
 * In GGMLBACKEND_TEST_VK_LIMITS, for drivers with one queue:
 *
 *     families:2   a family for copies beside the one for all
 *     families:3   and one between that computes
 *
 * All of them are the driver's one queue, which has a lock.
 */
#include "tests/vulkan/shim/changes.h"

#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <string.h>

static uint64_t n_families; /* 0: the driver's */

static void VKAPI_PTR
get_families(VkPhysicalDevice physical, uint32_t *n,
             VkQueueFamilyProperties *out)
{
    enum {
        COPIES = VK_QUEUE_TRANSFER_BIT,
        COMPUTES = VK_QUEUE_COMPUTE_BIT | COPIES,
        ALL = VK_QUEUE_GRAPHICS_BIT | COMPUTES,
    };
    const VkQueueFamilyProperties shown[] = {
        { ALL, 1, 64, { 1, 1, 1 } },
        { n_families == 2 ? COPIES : COMPUTES, 1, 64, { 1, 1, 1 } },
        { COPIES, 1, 64, { 1, 1, 1 } },
    };
    int copy;

    physical = shim_real(physical, &copy);
    if (n_families > 0)
        shim_give(shown, (uint32_t)n_families, sizeof(shown[0]), n, out);
    else
        shim_driver.GetPhysicalDeviceQueueFamilyProperties(physical, n, out);
    for (uint32_t i = 0; out != NULL && i < *n && shim_is_without("compute");
         i++)
        out[i].queueFlags &= ~(VkQueueFlags)VK_QUEUE_COMPUTE_BIT;
}

static VkResult VKAPI_PTR
create_device(VkPhysicalDevice physical, const VkDeviceCreateInfo *info,
              const VkAllocationCallbacks *own, VkDevice *out)
{
    static const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    VkDeviceCreateInfo real = *info;
    int copy;

    physical = shim_real(physical, &copy);
    if (n_families > 0) {
        real.queueCreateInfoCount = 1;
        real.pQueueCreateInfos = &queue;
    }
    return shim_driver.CreateDevice(physical, &real, own, out);
}

static void VKAPI_PTR
get_queue(VkDevice device, uint32_t family, uint32_t index, VkQueue *out)
{
    shim_driver.GetDeviceQueue(device, n_families > 0 ? 0 : family,
                               n_families > 0 ? 0 : index, out);
    shim_has_queue(device, *out);
}

static VkResult VKAPI_PTR
create_pool(VkDevice device, const VkCommandPoolCreateInfo *info,
            const VkAllocationCallbacks *own, VkCommandPool *out)
{
    VkCommandPoolCreateInfo real = *info;

    if (n_families > 0)
        real.queueFamilyIndex = 0;
    return shim_driver.CreateCommandPool(device, &real, own, out);
}

static VkResult VKAPI_PTR
create_buffer(VkDevice device, const VkBufferCreateInfo *info,
              const VkAllocationCallbacks *own, VkBuffer *out)
{
    VkBufferCreateInfo real = *info;

    if (n_families > 0) {
        real.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
        real.queueFamilyIndexCount = 0;
        real.pQueueFamilyIndices = NULL;
    }
    return shim_driver.CreateBuffer(device, &real, own, out);
}

/* Nothing changes its owner where there is one family. */
static void VKAPI_PTR
add_barrier(VkCommandBuffer commands, VkPipelineStageFlags from,
            VkPipelineStageFlags to, VkDependencyFlags flags, uint32_t n,
            const VkMemoryBarrier *barriers, uint32_t n_buffers,
            const VkBufferMemoryBarrier *buffers, uint32_t n_images,
            const VkImageMemoryBarrier *images)
{
    enum { MOST = 64 };
    VkBufferMemoryBarrier real[MOST];

    for (uint32_t i = 0; i < n_buffers && n_buffers <= MOST; i++) {
        real[i] = buffers[i];
        real[i].srcQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
        real[i].dstQueueFamilyIndex = VK_QUEUE_FAMILY_IGNORED;
    }
    if (n_buffers > MOST)
        shim_report("a barrier for more buffers than the shim knows");
    shim_driver.CmdPipelineBarrier(commands, from, to, flags, n, barriers,
                                   n_buffers <= MOST ? n_buffers : 0, real,
                                   n_images, images);
}

void
shim_queues_init(void)
{
    if (!shim_limit("families", &n_families) || n_families > 3 ||
        shim_is_null())
        n_families = 0;
    shim_override(SHIM_GetPhysicalDeviceQueueFamilyProperties,
                  (PFN_vkVoidFunction)get_families);
    shim_override(SHIM_CreateDevice, (PFN_vkVoidFunction)create_device);
    shim_override(SHIM_GetDeviceQueue, (PFN_vkVoidFunction)get_queue);
    if (n_families == 0)
        return;
    shim_override(SHIM_CreateCommandPool, (PFN_vkVoidFunction)create_pool);
    shim_override(SHIM_CreateBuffer, (PFN_vkVoidFunction)create_buffer);
    shim_override(SHIM_CmdPipelineBarrier, (PFN_vkVoidFunction)add_barrier);
}
