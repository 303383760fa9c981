/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/context.c - a card's logical device: there as long as something
 * of ours lies on the card.
 */
#include "backends/vulkan/device/context.h"

#include "backends/vulkan/device/features.h"
#include "backends/vulkan/device/pipeline.h"
#include "backends/vulkan/device/settings.h"
#include "backends/vulkan/device/tables.h"
#include "backends/vulkan/device/transfer.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdlib.h>
#include <unistd.h>

enum ggml_status
gb_vk_check(struct gb_vk_context *context, VkResult result, const char *call)
{
    struct gb_vk_card *card = context->card;

    switch ((int)result) {
    case VK_SUCCESS:
        return GGML_STATUS_SUCCESS;
    case VK_ERROR_OUT_OF_HOST_MEMORY:
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
    case VK_ERROR_OUT_OF_POOL_MEMORY:
    case VK_ERROR_FRAGMENTED_POOL:
    case VK_ERROR_TOO_MANY_OBJECTS:
    case VK_ERROR_MEMORY_MAP_FAILED:
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: %s: %s",
                                card->label, call, gb_vk_result(result));
    }
    atomic_store_explicit(&card->has_failed, true, memory_order_release);
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: %s: %s", card->label, call,
                            gb_vk_result(result));
}

bool
gb_vk_is_own(const struct gb_vk_context *context)
{
    return context->process == getpid() &&
           !atomic_load_explicit(&context->is_stuck, memory_order_acquire);
}

bool
gb_vk_is_usable(const struct gb_vk_context *context)
{
    struct gb_vk_card *card = context->card;

    if (context->process != getpid()) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: it belongs to the process that was forked",
                         card->label);
        return false;
    }
    if (!atomic_load_explicit(&card->has_failed, memory_order_acquire))
        return true;
    ggmlbackend_fail(GGML_STATUS_FAILED,
                     "%s: it has failed, and can be used again when all that "
                     "lies on it was freed", card->label);
    return false;
}

/* ---- making ---- */

static enum ggml_status
make_device(struct gb_vk_context *context)
{
    static const float priorities[] = { 1.0f, 1.0f };
    const struct gb_vk_card *card = context->card;
    const char *extensions[3 + GB_VK_FEATURE_EXTENSIONS];
    const char *missing = NULL;
    const VkDeviceQueueCreateInfo queues[] = {
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = card->family,
            .queueCount = 1 + card->copy_queue,
            .pQueuePriorities = priorities,
        },
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .queueFamilyIndex = card->copy_family,
            .queueCount = 1,
            .pQueuePriorities = priorities,
        },
    };
    struct gb_vk_features features;
    VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = card->copy_family == card->family ? 1 : 2,
        .pQueueCreateInfos = queues,
        .ppEnabledExtensionNames = extensions,
    };
    VkResult result;

    gb_vk_features_want(card, &features);
    info.pNext = features.chain;
    for (uint32_t i = 0; i < features.n_extensions; i++)
        extensions[info.enabledExtensionCount++] = features.extensions[i];
    if (card->has_push)
        extensions[info.enabledExtensionCount++] =
            VK_KHR_PUSH_DESCRIPTOR_EXTENSION_NAME;
    if (card->has_budget)
        extensions[info.enabledExtensionCount++] =
            VK_EXT_MEMORY_BUDGET_EXTENSION_NAME;
    if (card->import_unit > 0)
        extensions[info.enabledExtensionCount++] =
            VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME;
    result = card->instance->calls.CreateDevice(card->physical, &info, NULL,
                                                &context->device);
    if (result != VK_SUCCESS)
        return ggmlbackend_fail(
            result == VK_ERROR_OUT_OF_HOST_MEMORY ||
                    result == VK_ERROR_OUT_OF_DEVICE_MEMORY
                ? GGML_STATUS_ALLOC_FAILED : GGML_STATUS_FAILED,
            "%s: vkCreateDevice: %s", card->label, gb_vk_result(result));
    if (gb_vk_look_up_device(&card->instance->calls, context->device,
                             &context->calls, &missing))
        return GGML_STATUS_SUCCESS;
    return ggmlbackend_fail(GGML_STATUS_FAILED, "%s: the driver has no %s",
                            card->label, missing);
}

static enum ggml_status
make_timeline(struct gb_vk_context *context, VkSemaphore *timeline)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };

    return GB_VK(context, CreateSemaphore,
                 (context->device, &info, NULL, timeline));
}

static enum ggml_status
make_queues(struct gb_vk_context *context)
{
    const struct gb_vk_card *card = context->card;
    const enum ggml_status status = make_timeline(context, &context->timeline);

    context->calls.GetDeviceQueue(context->device, card->family, 0,
                                  &context->queue);
    context->calls.GetDeviceQueue(context->device, card->copy_family,
                                  card->copy_queue, &context->copy_queue);
    return status == GGML_STATUS_SUCCESS
               ? make_timeline(context, &context->copy_timeline) : status;
}

/* For shaders with N storage buffers, all in set 0. */
static enum ggml_status
make_layout(struct gb_vk_context *context, uint32_t n)
{
    const VkPushConstantRange constants = {
        VK_SHADER_STAGE_COMPUTE_BIT, 0, GB_VK_MAX_PARAMS
    };
    VkDescriptorSetLayoutBinding bindings[GB_VK_MAX_BINDINGS];
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .flags = context->card->has_push
                     ? VK_DESCRIPTOR_SET_LAYOUT_CREATE_PUSH_DESCRIPTOR_BIT_KHR
                     : 0,
        .bindingCount = n,
        .pBindings = bindings,
    };
    const VkPipelineLayoutCreateInfo layout = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &context->sets[n],
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &constants,
    };

    for (uint32_t i = 0; i < n; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){
            i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
            VK_SHADER_STAGE_COMPUTE_BIT, NULL
        };
    GB_VK_TRY(context, CreateDescriptorSetLayout,
              (context->device, &set, NULL, &context->sets[n]));
    return GB_VK(context, CreatePipelineLayout,
                 (context->device, &layout, NULL, &context->layouts[n]));
}

static enum ggml_status
make_parts(struct gb_vk_context *context)
{
    enum ggml_status status = make_device(context);

    if (status == GGML_STATUS_SUCCESS)
        status = make_queues(context);
    for (uint32_t n = 1;
         n <= GB_VK_MAX_BINDINGS && status == GGML_STATUS_SUCCESS; n++)
        status = make_layout(context, n);
    return status;
}

/* Nothing of it runs any more, or ever will. */
static void
free_context(struct gb_vk_context *context)
{
    const struct gb_vk_device_calls *calls = &context->calls;
    VkDevice device = context->device;

    if (device != VK_NULL_HANDLE && calls->DestroyDevice != NULL &&
        gb_vk_is_own(context)) {
        if (gb_vk_test_has("count"))
            gb_vk_tell_dispatches(context);
        gb_vk_tables_free(context);
        gb_vk_transfer_free(context);
        gb_vk_pipelines_free(context);
        for (int n = 1; n <= GB_VK_MAX_BINDINGS; n++) {
            calls->DestroyPipelineLayout(device, context->layouts[n], NULL);
            calls->DestroyDescriptorSetLayout(device, context->sets[n], NULL);
        }
        /* All submissions have signaled.  Mesa's thread of a queue may still hold the
         * semaphores. */
        calls->DeviceWaitIdle(device);
        calls->DestroySemaphore(device, context->timeline, NULL);
        calls->DestroySemaphore(device, context->copy_timeline, NULL);
        calls->DestroyDevice(device, NULL);
    } else {
        free(context->transfer); /* of the host; what it names stays */
    }
    pthread_mutex_destroy(&context->queue_lock);
    pthread_mutex_destroy(&context->pipeline_lock);
    pthread_cond_destroy(&context->pipeline_settled);
    pthread_mutex_destroy(&context->transfer_lock);
    pthread_mutex_destroy(&context->tables_lock);
    free(context);
}

static enum ggml_status
make_context(struct gb_vk_card *card)
{
    struct gb_vk_context *context = calloc(1, sizeof(*context));
    enum ggml_status status;

    if (context == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for a device", card->label);
    context->card = card;
    context->process = getpid();
    pthread_mutex_init(&context->queue_lock, NULL);
    pthread_mutex_init(&context->pipeline_lock, NULL);
    pthread_cond_init(&context->pipeline_settled, NULL);
    pthread_mutex_init(&context->transfer_lock, NULL);
    pthread_mutex_init(&context->tables_lock, NULL);
    status = make_parts(context);
    if (status == GGML_STATUS_SUCCESS)
        card->context = context;
    else
        free_context(context);
    return status;
}

/* ---- holds ---- */

static enum ggml_status
hold_locked(struct gb_vk_card *card, struct gb_vk_hold *hold)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (card->context == NULL) {
        atomic_store_explicit(&card->has_failed, false, memory_order_release);
        status = make_context(card);
    } else if (!gb_vk_is_usable(card->context)) {
        status = GGML_STATUS_FAILED;
    }
    if (status != GGML_STATUS_SUCCESS)
        return status;
    card->n_holds++;
    hold->context = card->context;
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_vk_hold(struct gb_vk_card *card, struct gb_vk_hold *hold)
{
    enum ggml_status status;

    pthread_mutex_lock(&card->lock);
    status = hold_locked(card, hold);
    pthread_mutex_unlock(&card->lock);
    return status;
}

void
gb_vk_release(struct gb_vk_hold *hold)
{
    struct gb_vk_context *context = hold->context;
    struct gb_vk_card *card;
    bool is_last;

    if (context == NULL)
        return;
    card = context->card;
    pthread_mutex_lock(&card->lock);
    card->n_holds--;
    is_last = card->n_holds == 0;
    if (is_last)
        card->context = NULL;
    pthread_mutex_unlock(&card->lock);
    if (is_last) {
        gb_vk_drain(context);
        free_context(context);
    }
    hold->context = NULL;
}
