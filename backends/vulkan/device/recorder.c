/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recorder.c - dispatches into command buffers, with the barriers
 * that they need, submitted as they become many.
 */
#include "backends/vulkan/device/recorder.h"

#include "backends/vulkan/device/pipeline.h"

#include "ggmlbackend.h"

#include <string.h>

/*
 * Bytes that a submission's bindings show at most.  A driver resets a device
 * that is busy with one for seconds: this is far below that for the slowest
 * memory, 10 GB/s, and for products, which bring their own limit.
 */
#define MOST_WORK ((uint64_t)1 << 30)

/* ---- chunks ---- */

static enum ggml_status
make_sets(struct gb_vk_context *context, struct gb_vk_chunk *chunk)
{
    const VkDescriptorPoolSize size = {
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, GB_VK_CHUNK * GB_VK_MAX_BINDINGS
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = GB_VK_CHUNK,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };

    if (context->card->has_push)
        return GGML_STATUS_SUCCESS;
    return GB_VK(context, CreateDescriptorPool,
                 (context->device, &info, NULL, &chunk->sets));
}

static enum ggml_status
make_chunk(struct gb_vk_context *context, struct gb_vk_chunk *chunk)
{
    const enum ggml_status status =
        gb_vk_commands_new(context, &chunk->pool, &chunk->commands);

    return status == GGML_STATUS_SUCCESS ? make_sets(context, chunk) : status;
}

enum ggml_status
gb_vk_recorder_init(
    struct gb_vk_recorder *recorder, struct gb_vk_context *context)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    recorder->context = context;
    for (int i = 0; i < GB_VK_CHUNKS && status == GGML_STATUS_SUCCESS; i++)
        status = make_chunk(context, &recorder->chunks[i]);
    return status;
}

void
gb_vk_recorder_clear(struct gb_vk_recorder *recorder)
{
    struct gb_vk_context *context = recorder->context;

    for (int i = 0; i < GB_VK_CHUNKS && gb_vk_is_own(context); i++) {
        context->calls.DestroyDescriptorPool(
            context->device, recorder->chunks[i].sets, NULL);
        context->calls.DestroyCommandPool(context->device,
                                          recorder->chunks[i].pool, NULL);
    }
    memset(recorder, 0, sizeof(*recorder));
}

/* ---- barriers ---- */

static void
add_barrier(struct gb_vk_recorder *recorder, VkPipelineStageFlags from)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = from == VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT
                             ? VK_ACCESS_SHADER_WRITE_BIT
                             : VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask =
            VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT,
    };

    recorder->context->calls.CmdPipelineBarrier(
        recorder->chunks[recorder->next].commands, from,
        VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, 0, 1, &barrier, 0, NULL, 0,
        NULL);
    recorder->n_spans = 0;
}

static bool
is_conflict(const struct gb_vk_range *a, const struct gb_vk_range *b)
{
    return a->buffer == b->buffer && a->begin < b->end && b->begin < a->end &&
           (a->is_written || b->is_written);
}

static bool
has_to_wait(const struct gb_vk_recorder *recorder,
            const struct gb_vk_dispatch *dispatch)
{
    if (recorder->n_spans + dispatch->n_ranges > GB_VK_SPANS)
        return true;
    for (int i = 0; i < dispatch->n_ranges; i++)
        for (int k = 0; k < recorder->n_spans; k++)
            if (is_conflict(&dispatch->ranges[i], &recorder->spans[k]))
                return true;
    return false;
}

static void
order(struct gb_vk_recorder *recorder, const struct gb_vk_dispatch *dispatch)
{
    if (has_to_wait(recorder, dispatch))
        add_barrier(recorder, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    for (int i = 0; i < dispatch->n_ranges; i++) {
        const struct gb_vk_range *range = &dispatch->ranges[i];

        recorder->spans[recorder->n_spans++] = *range;
        recorder->work += range->end - range->begin;
    }
}

/* ---- recording ---- */

/* The next chunk, when its last submission is done.  What was submitted before
 * it, of this recorder and of others, is waited for by a barrier at its begin,
 * copies among it. */
static enum ggml_status
begin(struct gb_vk_recorder *recorder)
{
    static const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    struct gb_vk_context *context = recorder->context;
    struct gb_vk_chunk *chunk = &recorder->chunks[recorder->next];
    const enum ggml_status status = gb_vk_wait(context, chunk->number);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_VK_TRY(context, ResetCommandPool, (context->device, chunk->pool, 0));
    if (!context->card->has_push)
        GB_VK_TRY(context, ResetDescriptorPool,
                  (context->device, chunk->sets, 0));
    GB_VK_TRY(context, BeginCommandBuffer, (chunk->commands, &info));
    recorder->is_recording = true;
    recorder->n_dispatches = 0;
    recorder->work = 0;
    recorder->bound = VK_NULL_HANDLE;
    add_barrier(recorder, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT);
    return GGML_STATUS_SUCCESS;
}

static void
bind_pipeline(struct gb_vk_recorder *recorder, VkCommandBuffer commands,
              VkPipeline pipeline)
{
    if (recorder->bound == pipeline)
        return;
    recorder->context->calls.CmdBindPipeline(
        commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    recorder->bound = pipeline;
}

static enum ggml_status
bind_ranges(struct gb_vk_recorder *recorder,
            const struct gb_vk_dispatch *dispatch)
{
    struct gb_vk_context *context = recorder->context;
    struct gb_vk_chunk *chunk = &recorder->chunks[recorder->next];
    const uint32_t n = (uint32_t)dispatch->n_ranges;
    VkDescriptorBufferInfo infos[GB_VK_MAX_BINDINGS];
    VkWriteDescriptorSet writes[GB_VK_MAX_BINDINGS];
    VkDescriptorSet set = VK_NULL_HANDLE;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = chunk->sets,
        .descriptorSetCount = 1,
        .pSetLayouts = &context->sets[n],
    };

    if (!context->card->has_push)
        GB_VK_TRY(context, AllocateDescriptorSets,
                  (context->device, &allocate, &set));
    for (uint32_t i = 0; i < n; i++) {
        const struct gb_vk_range *range = &dispatch->ranges[i];

        infos[i] = (VkDescriptorBufferInfo){
            range->buffer, range->begin, range->end - range->begin
        };
        writes[i] = (VkWriteDescriptorSet){
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = set,
            .dstBinding = i,
            .descriptorCount = 1,
            .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
            .pBufferInfo = &infos[i],
        };
    }
    if (context->card->has_push) {
        context->calls.CmdPushDescriptorSetKHR(
            chunk->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
            context->layouts[n], 0, n, writes);
        return GGML_STATUS_SUCCESS;
    }
    context->calls.UpdateDescriptorSets(context->device, n, writes, 0, NULL);
    context->calls.CmdBindDescriptorSets(
        chunk->commands, VK_PIPELINE_BIND_POINT_COMPUTE, context->layouts[n],
        0, 1, &set, 0, NULL);
    return GGML_STATUS_SUCCESS;
}

/* The grid, folded where one dimension is too short. */
static void
dispatch_groups(struct gb_vk_recorder *recorder, VkCommandBuffer commands,
                int64_t n_groups)
{
    const struct gb_vk_card *card = recorder->context->card;
    const int64_t most = card->most_groups[0];
    const int64_t x = n_groups < most ? n_groups : most;
    const int64_t y = (n_groups + x - 1) / x;

    recorder->context->calls.CmdDispatch(commands, (uint32_t)x, (uint32_t)y, 1);
}

static enum ggml_status
add_dispatch(struct gb_vk_recorder *recorder, VkPipeline pipeline,
             const struct gb_vk_dispatch *dispatch)
{
    struct gb_vk_context *context = recorder->context;
    VkCommandBuffer commands = recorder->chunks[recorder->next].commands;
    enum ggml_status status;

    order(recorder, dispatch);
    bind_pipeline(recorder, commands, pipeline);
    status = bind_ranges(recorder, dispatch);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdPushConstants(
        commands, context->layouts[dispatch->n_ranges],
        VK_SHADER_STAGE_COMPUTE_BIT, 0, (uint32_t)dispatch->params_size,
        dispatch->params);
    dispatch_groups(recorder, commands, dispatch->n_groups);
    recorder->n_dispatches++;
    atomic_fetch_add_explicit(&context->n_dispatches[dispatch->pipeline], 1,
                              memory_order_relaxed);
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_vk_record(
    struct gb_vk_recorder *recorder, const struct gb_vk_dispatch *dispatch)
{
    VkPipeline pipeline;
    enum ggml_status status =
        gb_vk_pipeline(recorder->context, dispatch->pipeline, &pipeline);

    if (status == GGML_STATUS_SUCCESS && !recorder->is_recording)
        status = begin(recorder);
    if (status == GGML_STATUS_SUCCESS)
        status = add_dispatch(recorder, pipeline, dispatch);
    if (status == GGML_STATUS_SUCCESS &&
        (recorder->n_dispatches == GB_VK_CHUNK || recorder->work > MOST_WORK))
        status = gb_vk_flush(recorder);
    return status;
}

enum ggml_status
gb_vk_flush(struct gb_vk_recorder *recorder)
{
    struct gb_vk_context *context = recorder->context;
    struct gb_vk_chunk *chunk = &recorder->chunks[recorder->next];
    enum ggml_status status;

    if (!recorder->is_recording)
        return GGML_STATUS_SUCCESS;
    recorder->is_recording = false;
    GB_VK_TRY(context, EndCommandBuffer, (chunk->commands));
    status = gb_vk_submit(context, chunk->commands, &chunk->number);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    recorder->number = chunk->number;
    recorder->next = (recorder->next + 1) % GB_VK_CHUNKS;
    return GGML_STATUS_SUCCESS;
}

/* The pool is reset when the chunk is begun again. */
void
gb_vk_recorder_drop(struct gb_vk_recorder *recorder)
{
    recorder->is_recording = false;
}
