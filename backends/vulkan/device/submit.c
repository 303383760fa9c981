/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/submit.c - commands for a card's queue, and its timeline.
 */
#include "backends/vulkan/device/context.h"

#include "backends/vulkan/device/settings.h"

#include "ggml-impl.h"

#include <time.h>

enum {
    MOST_SECONDS = 60, /* without a submission that ends */
    SOFTWARE = 10,     /* times as many, since others have its processor too */
    PATIENCE_NS = 1000000000,
};

enum ggml_status
gb_vk_commands_new(struct gb_vk_context *context, VkCommandPool *pool,
                   VkCommandBuffer *commands)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = context->card->family,
    };
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };

    GB_VK_TRY(context, CreateCommandPool,
              (context->device, &pool_info, NULL, pool));
    info.commandPool = *pool;
    return GB_VK(context, AllocateCommandBuffers,
                 (context->device, &info, commands));
}

static enum ggml_status
submit_locked(struct gb_vk_context *context, const VkCommandBuffer *commands,
              uint32_t n, uint64_t *number)
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
        .commandBufferCount = n,
        .pCommandBuffers = commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &context->timeline,
    };

    GB_VK_TRY(context, QueueSubmit,
              (context->queue, 1, &info, VK_NULL_HANDLE));
    context->submitted = *number = next;
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_vk_submit_all(
    struct gb_vk_context *context, const VkCommandBuffer *commands, uint32_t n,
    uint64_t *number)
{
    enum ggml_status status;

    pthread_mutex_lock(&context->queue_lock);
    status = submit_locked(context, commands, n, number);
    pthread_mutex_unlock(&context->queue_lock);
    return status;
}

enum ggml_status
gb_vk_submit(
    struct gb_vk_context *context, VkCommandBuffer commands, uint64_t *number)
{
    return gb_vk_submit_all(context, &commands, 1, number);
}

/* Seconds that a submission may take. */
static time_t
patience_of(const struct gb_vk_card *card)
{
    return card->type == VK_PHYSICAL_DEVICE_TYPE_CPU ? MOST_SECONDS * SOFTWARE
                                                     : MOST_SECONDS;
}

uint64_t
gb_vk_reached(struct gb_vk_context *context)
{
    uint64_t number = 0;

    if (context->calls.GetSemaphoreCounterValue(
            context->device, context->timeline, &number) != VK_SUCCESS)
        return 0;
    return number;
}

/* VK_TIMEOUT where no submission ends for too long.  The wait is made of short
 * ones, since a driver that hangs may not keep to the time of a long one. */
static VkResult
wait_while_it_gets_on(
    struct gb_vk_context *context, uint64_t number, time_t patience)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &context->timeline,
        .pValues = &number,
    };
    time_t begin = time(NULL);
    uint64_t before = gb_vk_reached(context);

    for (;;) {
        const VkResult result = context->calls.WaitSemaphores(
            context->device, &info, patience > 0 ? PATIENCE_NS : 0);
        const uint64_t now = gb_vk_reached(context);

        if (result != VK_TIMEOUT)
            return result;
        if (now > before)
            begin = time(NULL);
        before = now;
        if (time(NULL) - begin >= patience)
            return VK_TIMEOUT;
    }
}

enum ggml_status
gb_vk_wait(struct gb_vk_context *context, uint64_t number)
{
    const time_t patience =
        gb_vk_test_has("impatient") ? 0 : patience_of(context->card);
    const VkResult result =
        number > 0 ? wait_while_it_gets_on(context, number, patience)
                   : VK_SUCCESS;

    return gb_vk_check(
        context, result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result,
        "vkWaitSemaphores");
}

void
gb_vk_drain(struct gb_vk_context *context)
{
    uint64_t number;

    if (!gb_vk_is_own(context))
        return;
    pthread_mutex_lock(&context->queue_lock);
    number = context->submitted;
    pthread_mutex_unlock(&context->queue_lock);
    if (wait_while_it_gets_on(context, number, patience_of(context->card)) !=
        VK_TIMEOUT)
        return;
    atomic_store_explicit(&context->is_stuck, true, memory_order_release);
    GGML_LOG_WARN("%s: it works on and on, and its memory is left to it\n",
                  context->card->label);
}
