/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/late.c - submissions that begin late, or never end.
 *
 * With GGMLBACKEND_TEST_VK_LATE a submission is kept until somebody waits, or asks
 * for the third time how far a semaphore is: so a program that reads results, or
 * takes back memory, without a wait is always too early.  One that never ends is
 * kept for ever, and waits end without success at once.
 */
#include "tests/vulkan/shim/changes.h"
#include "tests/vulkan/shim/faults.h"
#include "tests/vulkan/shim/live.h"
#include "tests/vulkan/shim/settings.h"

#include <pthread.h>
#include <string.h>

enum { MOST = 4, KEPT = 64, POLLS = 3 };

/* A submission of ours, with all that it points to. */
struct kept {
    VkQueue queue;
    VkSubmitInfo info;
    VkTimelineSemaphoreSubmitInfo timeline;
    VkCommandBuffer commands[MOST];
    VkSemaphore waits[MOST], signals[MOST];
    VkPipelineStageFlags stages[MOST];
    uint64_t wait_values[MOST], signal_values[MOST];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the queues, too */
static struct kept kept[KEPT];
static int n_kept, n_polls;
static bool is_late, hangs;

/* ---- keeping ---- */

static void
begin_all(void)
{
    for (int i = 0; i < n_kept; i++)
        if (shim_driver.QueueSubmit(kept[i].queue, 1, &kept[i].info,
                                    VK_NULL_HANDLE) != VK_SUCCESS)
            shim_report("a submission that was kept fails");
    n_kept = 0;
    n_polls = 0;
}

static const VkTimelineSemaphoreSubmitInfo *
timeline_of(const VkSubmitInfo *info)
{
    const VkBaseInStructure *at = info->pNext;

    return at != NULL && at->pNext == NULL &&
                   at->sType ==
                       VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO
               ? (const void *)at : NULL;
}

#define COPY(to, from, n)                                  \
    do {                                                   \
        if ((n) > 0)                                       \
            memcpy((to), (from), (n) * sizeof((to)[0]));   \
    } while (0)

/* False for one that is not of the usual kind. */
static bool
keep(VkQueue queue, const VkSubmitInfo *info)
{
    const VkTimelineSemaphoreSubmitInfo *timeline = timeline_of(info);
    struct kept *own = &kept[n_kept];

    if (timeline == NULL || n_kept == KEPT || info->commandBufferCount > MOST ||
        info->waitSemaphoreCount > MOST || info->signalSemaphoreCount > MOST)
        return false;
    own->queue = queue;
    own->info = *info;
    own->timeline = *timeline;
    COPY(own->commands, info->pCommandBuffers, info->commandBufferCount);
    COPY(own->waits, info->pWaitSemaphores, info->waitSemaphoreCount);
    COPY(own->stages, info->pWaitDstStageMask, info->waitSemaphoreCount);
    COPY(own->signals, info->pSignalSemaphores, info->signalSemaphoreCount);
    COPY(own->wait_values, timeline->pWaitSemaphoreValues,
         timeline->waitSemaphoreValueCount);
    COPY(own->signal_values, timeline->pSignalSemaphoreValues,
         timeline->signalSemaphoreValueCount);
    own->info.pNext = &own->timeline;
    own->info.pCommandBuffers = own->commands;
    own->info.pWaitSemaphores = own->waits;
    own->info.pWaitDstStageMask = own->stages;
    own->info.pSignalSemaphores = own->signals;
    own->timeline.pWaitSemaphoreValues = own->wait_values;
    own->timeline.pSignalSemaphoreValues = own->signal_values;
    n_kept++;
    return true;
}

/* ---- calls ---- */

static VkResult
submit_locked(VkQueue queue, uint32_t n, const VkSubmitInfo *infos,
              VkFence fence)
{
    hangs = shim_hangs();
    if (hangs)
        return VK_SUCCESS;
    if (is_late && n == 1 && fence == VK_NULL_HANDLE && keep(queue, infos))
        return VK_SUCCESS;
    begin_all();
    return shim_driver.QueueSubmit(queue, n, infos, fence);
}

static VkResult VKAPI_PTR
submit(VkQueue queue, uint32_t n, const VkSubmitInfo *infos, VkFence fence)
{
    VkResult result;

    pthread_mutex_lock(&lock);
    result = submit_locked(queue, n, infos, fence);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Somebody waits; true where that would be for ever. */
static bool
somebody_waits(void)
{
    bool is_vain;

    pthread_mutex_lock(&lock);
    begin_all();
    hangs = hangs && shim_hangs();
    is_vain = hangs;
    pthread_mutex_unlock(&lock);
    return is_vain;
}

static VkResult VKAPI_PTR
wait_semaphores(VkDevice device, const VkSemaphoreWaitInfo *info,
                uint64_t timeout)
{
    const bool is_vain = somebody_waits();

    return shim_driver.WaitSemaphores(device, info, is_vain ? 0 : timeout);
}

static VkResult VKAPI_PTR
get_value(VkDevice device, VkSemaphore semaphore, uint64_t *out)
{
    pthread_mutex_lock(&lock);
    if (n_kept > 0 && ++n_polls == POLLS)
        begin_all();
    pthread_mutex_unlock(&lock);
    return shim_driver.GetSemaphoreCounterValue(device, semaphore, out);
}

static VkResult VKAPI_PTR
wait_queue(VkQueue queue)
{
    VkResult result = VK_SUCCESS;

    somebody_waits();
    pthread_mutex_lock(&lock);
    if (shim_driver.QueueWaitIdle != NULL)
        result = shim_driver.QueueWaitIdle(queue);
    pthread_mutex_unlock(&lock);
    return result;
}

static VkResult VKAPI_PTR
wait_device(VkDevice device)
{
    VkResult result = VK_SUCCESS;

    somebody_waits();
    pthread_mutex_lock(&lock);
    if (shim_driver.DeviceWaitIdle != NULL)
        result = shim_driver.DeviceWaitIdle(device);
    pthread_mutex_unlock(&lock);
    return result;
}

/* What nobody waited for begins now: too late for what it uses. */
static void VKAPI_PTR
destroy_device(VkDevice device, const VkAllocationCallbacks *own)
{
    somebody_waits();
    shim_driver.DestroyDevice(device, own);
}

void
shim_late_init(void)
{
    is_late = shim_setting_number("LATE") != 0;
    shim_override(SHIM_QueueSubmit, (PFN_vkVoidFunction)submit);
    shim_override(SHIM_WaitSemaphores, (PFN_vkVoidFunction)wait_semaphores);
    shim_override(SHIM_GetSemaphoreCounterValue, (PFN_vkVoidFunction)get_value);
    shim_override(SHIM_QueueWaitIdle, (PFN_vkVoidFunction)wait_queue);
    shim_override(SHIM_DeviceWaitIdle, (PFN_vkVoidFunction)wait_device);
    shim_override(SHIM_DestroyDevice, (PFN_vkVoidFunction)destroy_device);
}
