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

/* A submission, and what it waits for; nothing for 0. */
struct submission {
    VkQueue queue;
    const VkCommandBuffer *commands;
    uint32_t n;
    VkSemaphore waits;
    uint64_t wait_number;
    VkSemaphore signals;
    uint64_t number;
};

static enum ggml_status
submit(struct gb_vk_context *context, const struct submission *submission)
{
    static const VkPipelineStageFlags stage = VK_PIPELINE_STAGE_ALL_COMMANDS_BIT;
    const uint32_t n_waits = submission->wait_number > 0 ? 1 : 0;
    const VkTimelineSemaphoreSubmitInfo timeline = {
        .sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO,
        .waitSemaphoreValueCount = n_waits,
        .pWaitSemaphoreValues = &submission->wait_number,
        .signalSemaphoreValueCount = 1,
        .pSignalSemaphoreValues = &submission->number,
    };
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .pNext = &timeline,
        .waitSemaphoreCount = n_waits,
        .pWaitSemaphores = &submission->waits,
        .pWaitDstStageMask = &stage,
        .commandBufferCount = submission->n,
        .pCommandBuffers = submission->commands,
        .signalSemaphoreCount = 1,
        .pSignalSemaphores = &submission->signals,
    };

    return GB_VK(context, QueueSubmit,
                 (submission->queue, 1, &info, VK_NULL_HANDLE));
}

/* What is in one queue runs in its order, as barriers say. */
static bool
has_to_wait(const struct gb_vk_context *context)
{
    return context->queue != context->copy_queue ||
           context->card->waits_always;
}

/* Copies that it has not been told to wait for yet are waited for. */
static enum ggml_status
submit_locked(struct gb_vk_context *context, const VkCommandBuffer *commands,
              uint32_t n, uint64_t *number)
{
    const struct submission submission = {
        .queue = context->queue,
        .commands = commands,
        .n = n,
        .waits = context->copy_timeline,
        .wait_number = context->copies > context->copies_before &&
                               has_to_wait(context)
                           ? context->copies : 0,
        .signals = context->timeline,
        .number = context->submitted + 1,
    };
    const enum ggml_status status = submit(context, &submission);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->submitted = *number = submission.number;
    context->copies_before = context->copies;
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

static enum ggml_status
submit_copies_locked(struct gb_vk_context *context, VkCommandBuffer commands,
                     uint64_t after, uint64_t *number)
{
    const uint64_t most = has_to_wait(context) ? context->submitted : 0;
    const struct submission submission = {
        .queue = context->copy_queue,
        .commands = &commands,
        .n = 1,
        .waits = context->timeline,
        .wait_number = after < most ? after : most,
        .signals = context->copy_timeline,
        .number = context->copies + 1,
    };
    const enum ggml_status status = submit(context, &submission);

    if (status == GGML_STATUS_SUCCESS)
        context->copies = *number = submission.number;
    return status;
}

enum ggml_status
gb_vk_submit_copies(
    struct gb_vk_context *context, VkCommandBuffer commands, uint64_t after,
    uint64_t *number)
{
    enum ggml_status status;

    pthread_mutex_lock(&context->queue_lock);
    status = submit_copies_locked(context, commands, after, number);
    pthread_mutex_unlock(&context->queue_lock);
    return status;
}

/* Seconds that a submission may take. */
static time_t
patience_of(const struct gb_vk_card *card)
{
    return card->type == VK_PHYSICAL_DEVICE_TYPE_CPU ? MOST_SECONDS * SOFTWARE
                                                     : MOST_SECONDS;
}

/* How far a timeline is; 0 where the card does not say. */
static uint64_t
reached(struct gb_vk_context *context, VkSemaphore timeline)
{
    uint64_t number = 0;

    if (context->calls.GetSemaphoreCounterValue(
            context->device, timeline, &number) != VK_SUCCESS)
        return 0;
    return number;
}

uint64_t
gb_vk_reached(struct gb_vk_context *context)
{
    return reached(context, context->timeline);
}

/* VK_TIMEOUT where no submission ends for too long.  The wait is made of short
 * ones, since a driver that hangs may not keep to the time of a long one. */
static VkResult
wait_while_it_gets_on(
    struct gb_vk_context *context, VkSemaphore timeline, uint64_t number,
    time_t patience)
{
    const VkSemaphoreWaitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO,
        .semaphoreCount = 1,
        .pSemaphores = &timeline,
        .pValues = &number,
    };
    time_t begin = time(NULL);
    uint64_t before = reached(context, timeline);

    for (;;) {
        const VkResult result = context->calls.WaitSemaphores(
            context->device, &info, patience > 0 ? PATIENCE_NS : 0);
        const uint64_t now = reached(context, timeline);

        if (result != VK_TIMEOUT)
            return result;
        if (now > before)
            begin = time(NULL);
        before = now;
        if (time(NULL) - begin >= patience)
            return VK_TIMEOUT;
    }
}

static enum ggml_status
wait_for(struct gb_vk_context *context, VkSemaphore timeline, uint64_t number)
{
    const time_t patience =
        gb_vk_test_has("impatient") ? 0 : patience_of(context->card);
    const VkResult result =
        number > 0 ? wait_while_it_gets_on(context, timeline, number, patience)
                   : VK_SUCCESS;

    return gb_vk_check(
        context, result == VK_TIMEOUT ? VK_ERROR_DEVICE_LOST : result,
        "vkWaitSemaphores");
}

enum ggml_status
gb_vk_wait(struct gb_vk_context *context, uint64_t number)
{
    return wait_for(context, context->timeline, number);
}

enum ggml_status
gb_vk_wait_for_copies(struct gb_vk_context *context, uint64_t number)
{
    return wait_for(context, context->copy_timeline, number);
}

/* Does all that was submitted end? */
static bool
ends(struct gb_vk_context *context, uint64_t number, uint64_t copies)
{
    const time_t patience = patience_of(context->card);

    return wait_while_it_gets_on(context, context->timeline, number,
                                 patience) != VK_TIMEOUT &&
           wait_while_it_gets_on(context, context->copy_timeline, copies,
                                 patience) != VK_TIMEOUT;
}

void
gb_vk_drain(struct gb_vk_context *context)
{
    uint64_t number, copies;

    if (!gb_vk_is_own(context))
        return;
    pthread_mutex_lock(&context->queue_lock);
    number = context->submitted;
    copies = context->copies;
    pthread_mutex_unlock(&context->queue_lock);
    if (ends(context, number, copies))
        return;
    atomic_store_explicit(&context->is_stuck, true, memory_order_release);
    GGML_LOG_WARN("%s: it works on and on, and its memory is left to it\n",
                  context->card->label);
}
