/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/submit.c - a card's queue and its timeline.
 */
#include "backends/vulkan/device/context.h"

#include "ggmlbackend.h"

#include <time.h>

enum {
    MOST_SECONDS = 60, /* that a submission takes */
    PATIENCE_NS = 1000000000,
};

static enum ggml_status
submit_locked(struct gb_vk_context *context, VkCommandBuffer commands,
              uint64_t *number)
{
    const uint64_t next = context->submitted + 1;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &next,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &context->timeline,
    };

    GB_VK_TRY(context, QueueSubmit,
              (context->queue, 1, &info, VK_NULL_HANDLE));
    context->submitted = *number = next;
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_vk_submit(
    struct gb_vk_context *context, VkCommandBuffer commands, uint64_t *number)
{
    enum ggml_status status;

    pthread_mutex_lock(&context->queue_lock);
    status = submit_locked(context, commands, number);
    pthread_mutex_unlock(&context->queue_lock);
    return status;
}

bool
gb_vk_is_done(struct gb_vk_context *context, uint64_t number)
{
    uint64_t reached = 0;

    if (atomic_load_explicit(&context->card->has_failed, memory_order_acquire))
        return true;
    return number == 0 ||
           (GB_VK(context, GetSemaphoreCounterValue,
                  (context->device, context->timeline, &reached)) ==
                GGML_STATUS_SUCCESS &&
            reached >= number);
}

/* The wait is made of short ones, since a driver that hangs may not keep to the
 * time of a long one. */
enum ggml_status
gb_vk_wait(struct gb_vk_context *context, uint64_t number)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &context->timeline,
        .pValues = &number,
    };
    const time_t begin = time(NULL);
    VkResult result;

    if (number == 0)
        return GGML_STATUS_SUCCESS;
    do {
        result = context->calls.WaitSemaphores(context->device, &info,
                                               PATIENCE_NS);
    } while (result == VK_TIMEOUT && time(NULL) - begin < MOST_SECONDS);
    return gb_vk_check(
        context, result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result,
        "vkWaitSemaphores");
}
