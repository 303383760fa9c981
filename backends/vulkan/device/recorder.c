/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/recorder.c - dispatches into a command buffer, with the barriers
 * that they need.
 */
#include "backends/vulkan/device/recorder.h"

#include "backends/vulkan/device/list.h"
#include "backends/vulkan/device/pipeline.h"

#include <string.h>

/* ---- command buffers ---- */

enum ggml_status
gb_vk_recorder_init(
    struct gb_vk_recorder *recorder, struct gb_vk_context *context)
{
    const VkCommandPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = context->card->family,
    };

    recorder->context = context;
    recorder->is_listing = gb_vk_lists();
    return GB_VK(context, CreateCommandPool,
                 (context->device, &info, NULL, &recorder->pool));
}

void
gb_vk_recorder_clear(struct gb_vk_recorder *recorder)
{
    struct gb_vk_context *context = recorder->context;

    if (gb_vk_is_own(context))
        context->calls.DestroyCommandPool(context->device, recorder->pool,
                                          NULL);
    memset(recorder, 0, sizeof(*recorder));
}

static enum ggml_status
make_handle(struct gb_vk_recorder *recorder, struct gb_vk_commands *commands)
{
    struct gb_vk_context *context = recorder->context;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = recorder->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };

    if (commands->handle != VK_NULL_HANDLE)
        return GGML_STATUS_SUCCESS;
    return GB_VK(context, AllocateCommandBuffers,
                 (context->device, &info, &commands->handle));
}

enum ggml_status
gb_vk_commands_make(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands, int n)
{
    struct gb_vk_context *context = recorder->context;
    const VkDescriptorPoolSize size = {
        VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, (uint32_t)n * GB_VK_MAX_BINDINGS
    };
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = (uint32_t)n,
        .poolSizeCount = 1,
        .pPoolSizes = &size,
    };
    const enum ggml_status status = make_handle(recorder, commands);

    if (status != GGML_STATUS_SUCCESS || context->card->has_push ||
        n <= commands->room)
        return status;
    gb_vk_commands_clear(recorder, commands);
    GB_VK_TRY(context, CreateDescriptorPool,
              (context->device, &info, NULL, &commands->sets));
    commands->room = n;
    return GGML_STATUS_SUCCESS;
}

void
gb_vk_commands_clear(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands)
{
    struct gb_vk_context *context = recorder->context;

    if (gb_vk_is_own(context) && commands->sets != VK_NULL_HANDLE)
        context->calls.DestroyDescriptorPool(context->device, commands->sets,
                                             NULL);
    commands->sets = VK_NULL_HANDLE;
    commands->room = 0;
    commands->is_recorded = false;
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
        recorder->commands->handle, from, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
        0, 1, &barrier, 0, NULL, 0, NULL);
    recorder->n_accesses = 0;
    recorder->commands->n_barriers++;
}

static bool
is_conflict(const struct gb_vk_range *a, const struct gb_vk_range *b)
{
    return a->buffer == b->buffer && a->begin < b->end && b->begin < a->end &&
           (a->is_written || b->is_written);
}

/* The last of what came before that RANGE has to wait for; NULL: nothing. */
static const struct gb_vk_access *
find_conflict(const struct gb_vk_recorder *recorder,
              const struct gb_vk_range *range)
{
    for (int k = recorder->n_accesses - 1; k >= 0; k--)
        if (is_conflict(range, recorder->accesses[k].range))
            return &recorder->accesses[k];
    return NULL;
}

static bool
has_to_wait(const struct gb_vk_recorder *recorder,
            const struct gb_vk_plan *plan,
            const struct gb_vk_dispatch *dispatch)
{
    /* What is written comes first; what is read is the better reason. */
    for (int i = dispatch->n_ranges - 1; i >= 0; i--) {
        const struct gb_vk_access *access =
            find_conflict(recorder, &dispatch->ranges[i]);

        if (access == NULL)
            continue;
        if (recorder->is_listing)
            gb_vk_list_barrier(plan, access->dispatch, access->range, dispatch,
                               &dispatch->ranges[i]);
        return true;
    }
    return recorder->n_accesses + dispatch->n_ranges > GB_VK_ACCESSES;
}

static void
order(struct gb_vk_recorder *recorder, const struct gb_vk_plan *plan,
      const struct gb_vk_dispatch *dispatch)
{
    if (has_to_wait(recorder, plan, dispatch))
        add_barrier(recorder, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    for (int i = 0; i < dispatch->n_ranges; i++)
        recorder->accesses[recorder->n_accesses++] =
            (struct gb_vk_access){ &dispatch->ranges[i], dispatch };
}

/* ---- recording ---- */

static enum ggml_status
begin(struct gb_vk_recorder *recorder, bool is_first)
{
    static const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
    };
    struct gb_vk_context *context = recorder->context;
    struct gb_vk_commands *commands = recorder->commands;

    if (!context->card->has_push)
        GB_VK_TRY(context, ResetDescriptorPool,
                  (context->device, commands->sets, 0));
    GB_VK_TRY(context, BeginCommandBuffer, (commands->handle, &info));
    recorder->bound = VK_NULL_HANDLE;
    commands->n_barriers = 0;
    add_barrier(recorder, is_first ? VK_PIPELINE_STAGE_ALL_COMMANDS_BIT
                                   : VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT);
    return GGML_STATUS_SUCCESS;
}

static void
bind_pipeline(struct gb_vk_recorder *recorder, VkPipeline pipeline)
{
    if (recorder->bound == pipeline)
        return;
    recorder->context->calls.CmdBindPipeline(
        recorder->commands->handle, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    recorder->bound = pipeline;
}

static enum ggml_status
bind_ranges(struct gb_vk_recorder *recorder,
            const struct gb_vk_dispatch *dispatch)
{
    struct gb_vk_context *context = recorder->context;
    const struct gb_vk_commands *commands = recorder->commands;
    const uint32_t n = (uint32_t)dispatch->n_ranges;
    VkDescriptorBufferInfo infos[GB_VK_MAX_BINDINGS];
    VkWriteDescriptorSet writes[GB_VK_MAX_BINDINGS];
    VkDescriptorSet set = VK_NULL_HANDLE;
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = commands->sets,
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
            commands->handle, VK_PIPELINE_BIND_POINT_COMPUTE,
            context->layouts[n], 0, n, writes);
        return GGML_STATUS_SUCCESS;
    }
    context->calls.UpdateDescriptorSets(context->device, n, writes, 0, NULL);
    context->calls.CmdBindDescriptorSets(
        commands->handle, VK_PIPELINE_BIND_POINT_COMPUTE, context->layouts[n],
        0, 1, &set, 0, NULL);
    return GGML_STATUS_SUCCESS;
}

/*
 * The grid, folded where one dimension is too short.  One that is cut is folded
 * so that each part is a row of it: gb_group() has the numbers that it would
 * have in the whole.
 */
static void
dispatch_groups(struct gb_vk_recorder *recorder, int64_t n_groups,
                const struct gb_vk_chunk *chunk)
{
    const struct gb_vk_context *context = recorder->context;
    VkCommandBuffer commands = recorder->commands->handle;
    const int64_t most = context->card->most_groups[0];
    const int64_t x = chunk->n_parts > 1
                          ? (n_groups + chunk->n_parts - 1) / chunk->n_parts
                      : n_groups < most ? n_groups : most;
    const int64_t y = (n_groups + x - 1) / x;

    if (chunk->n_parts == 1)
        context->calls.CmdDispatch(commands, (uint32_t)x, (uint32_t)y, 1);
    else
        context->calls.CmdDispatchBase(commands, 0, (uint32_t)chunk->part, 0,
                                       (uint32_t)x, 1, 1);
}

static enum ggml_status
add_dispatch(struct gb_vk_recorder *recorder, const struct gb_vk_plan *plan,
             const struct gb_vk_dispatch *dispatch,
             const struct gb_vk_chunk *chunk)
{
    struct gb_vk_context *context = recorder->context;
    VkPipeline pipeline;
    enum ggml_status status =
        gb_vk_pipeline(context, dispatch->pipeline, &pipeline);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    order(recorder, plan, dispatch);
    bind_pipeline(recorder, pipeline);
    status = bind_ranges(recorder, dispatch);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdPushConstants(
        recorder->commands->handle, context->layouts[dispatch->n_ranges],
        VK_SHADER_STAGE_COMPUTE_BIT, 0, (uint32_t)dispatch->params_size,
        dispatch->params);
    dispatch_groups(recorder, dispatch->n_groups, chunk);
    atomic_fetch_add_explicit(&context->n_dispatches[dispatch->pipeline], 1,
                              memory_order_relaxed);
    return GGML_STATUS_SUCCESS;
}

/* A command buffer that has begun is ended, whatever comes of it: else it could
 * not begin again. */
enum ggml_status
gb_vk_record(
    struct gb_vk_recorder *recorder, struct gb_vk_commands *commands,
    const struct gb_vk_plan *plan, const struct gb_vk_chunk *chunk,
    bool is_first)
{
    struct gb_vk_context *context = recorder->context;
    enum ggml_status status, ended;

    recorder->commands = commands;
    commands->is_recorded = false;
    status = begin(recorder, is_first);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    for (int i = 0; i < chunk->n && status == GGML_STATUS_SUCCESS; i++)
        status = add_dispatch(recorder, plan,
                              &plan->dispatches[chunk->first + (size_t)i],
                              chunk);
    ended = GB_VK(context, EndCommandBuffer, (commands->handle));
    if (status == GGML_STATUS_SUCCESS)
        status = ended;
    commands->is_recorded = status == GGML_STATUS_SUCCESS;
    return status;
}
