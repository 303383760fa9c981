/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/transfer.c - copies between the host and a card.
 */
#include "backends/vulkan/device/transfer.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

enum { STAGE = 8 << 20 }; /* bytes of the staging buffer */

/* A context's own, used by one thread at a time. */
struct gb_vk_transfer {
    VkCommandPool pool;
    VkCommandBuffer commands;
    struct gb_vk_memory stage; /* made on first use */
};

/* ---- commands ---- */

static enum ggml_status
make_transfer(struct gb_vk_context *context)
{
    enum ggml_status status;

    if (context->transfer != NULL)
        return GGML_STATUS_SUCCESS;
    context->transfer = calloc(1, sizeof(*context->transfer));
    if (context->transfer == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for transfers",
                                context->card->label);
    status = gb_vk_commands_new(context, &context->transfer->pool,
                                &context->transfer->commands);
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_transfer_free(context);
    return status;
}

static enum ggml_status
make_stage(struct gb_vk_context *context)
{
    if (context->transfer->stage.size > 0)
        return GGML_STATUS_SUCCESS;
    return gb_vk_memory_new(context, GB_VK_MEMORY_HOST, STAGE,
                            &context->transfer->stage);
}

void
gb_vk_transfer_free(struct gb_vk_context *context)
{
    struct gb_vk_transfer *transfer = context->transfer;

    if (transfer == NULL)
        return;
    if (transfer->stage.size > 0)
        gb_vk_memory_free(context, &transfer->stage);
    context->calls.DestroyCommandPool(context->device, transfer->pool, NULL);
    free(transfer);
    context->transfer = NULL;
}

/* A memory barrier for all that was submitted before, and for the host. */
static void
add_barrier(struct gb_vk_context *context, VkPipelineStageFlags from,
            VkPipelineStageFlags to)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };

    context->calls.CmdPipelineBarrier(context->transfer->commands, from, to, 0,
                                      1, &barrier, 0, NULL, 0, NULL);
}

static enum ggml_status
begin(struct gb_vk_context *context)
{
    static const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };

    GB_VK_TRY(context, ResetCommandPool,
              (context->device, context->transfer->pool, 0));
    GB_VK_TRY(context, BeginCommandBuffer,
              (context->transfer->commands, &info));
    add_barrier(context, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
end_and_wait(struct gb_vk_context *context)
{
    uint64_t number = 0;
    enum ggml_status status;

    add_barrier(context, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                    VK_PIPELINE_STAGE_HOST_BIT);
    GB_VK_TRY(context, EndCommandBuffer, (context->transfer->commands));
    status = gb_vk_submit(context, context->transfer->commands, &number);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    return gb_vk_wait(context, number);
}

static enum ggml_status
copy_buffer(struct gb_vk_context *context, VkBuffer to, size_t to_offset,
            VkBuffer from, size_t from_offset, size_t size)
{
    const VkBufferCopy region = { from_offset, to_offset, size };
    const enum ggml_status status = begin(context);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdCopyBuffer(context->transfer->commands, from, to, 1,
                                 &region);
    return end_and_wait(context);
}

/* ---- through the staging buffer ---- */

static size_t
part_of(size_t size, size_t done)
{
    return size - done < STAGE ? size - done : STAGE;
}

static enum ggml_status
write_staged(struct gb_vk_context *context, const struct gb_vk_memory *memory,
             size_t offset, const char *data, size_t size)
{
    enum ggml_status status = make_stage(context);

    for (size_t done = 0, n; done < size && status == GGML_STATUS_SUCCESS;
         done += n) {
        n = part_of(size, done);
        memcpy(context->transfer->stage.mapped, data + done, n);
        status = copy_buffer(context, memory->buffer, offset + done,
                             context->transfer->stage.buffer, 0, n);
    }
    return status;
}

static enum ggml_status
read_staged(struct gb_vk_context *context, const struct gb_vk_memory *memory,
            size_t offset, char *data, size_t size)
{
    enum ggml_status status = make_stage(context);

    for (size_t done = 0, n; done < size && status == GGML_STATUS_SUCCESS;
         done += n) {
        n = part_of(size, done);
        status = copy_buffer(context, context->transfer->stage.buffer, 0,
                             memory->buffer, offset + done, n);
        if (status == GGML_STATUS_SUCCESS)
            memcpy(data + done, context->transfer->stage.mapped, n);
    }
    return status;
}

/* Whole words by a fill, what stands before and behind them by copies. */
static enum ggml_status
fill_staged(struct gb_vk_context *context, const struct gb_vk_memory *memory,
            size_t offset, uint8_t value, size_t size)
{
    const size_t end = offset + size;
    const size_t first = (offset + 3) & ~(size_t)3;
    const size_t last = end & ~(size_t)3;
    enum ggml_status status = GGML_STATUS_SUCCESS;
    char edge[8];

    memset(edge, value, sizeof(edge));
    if (first >= last)
        return write_staged(context, memory, offset, edge, size);
    if (first > offset)
        status = write_staged(context, memory, offset, edge, first - offset);
    if (end > last && status == GGML_STATUS_SUCCESS)
        status = write_staged(context, memory, last, edge, end - last);
    if (status == GGML_STATUS_SUCCESS)
        status = begin(context);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdFillBuffer(context->transfer->commands, memory->buffer,
                                 first, last - first, value * 0x01010101u);
    return end_and_wait(context);
}

/* ---- one thread at a time ---- */

static enum ggml_status
enter(struct gb_vk_context *context)
{
    pthread_mutex_lock(&context->transfer_lock);
    return make_transfer(context);
}

static enum ggml_status
leave(struct gb_vk_context *context, enum ggml_status status)
{
    pthread_mutex_unlock(&context->transfer_lock);
    return status;
}

enum ggml_status
gb_vk_copy_in(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, const void *data, size_t size)
{
    enum ggml_status status;

    if (memory->mapped != NULL) {
        memcpy(memory->mapped + offset, data, size);
        return GGML_STATUS_SUCCESS;
    }
    status = enter(context);
    if (status == GGML_STATUS_SUCCESS)
        status = write_staged(context, memory, offset, data, size);
    return leave(context, status);
}

enum ggml_status
gb_vk_copy_out(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, void *data, size_t size)
{
    enum ggml_status status;

    if (memory->mapped != NULL) {
        memcpy(data, memory->mapped + offset, size);
        return GGML_STATUS_SUCCESS;
    }
    status = enter(context);
    if (status == GGML_STATUS_SUCCESS)
        status = read_staged(context, memory, offset, data, size);
    return leave(context, status);
}

enum ggml_status
gb_vk_fill(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, uint8_t value, size_t size)
{
    enum ggml_status status;

    if (memory->mapped != NULL) {
        memset(memory->mapped + offset, value, size);
        return GGML_STATUS_SUCCESS;
    }
    status = enter(context);
    if (status == GGML_STATUS_SUCCESS)
        status = fill_staged(context, memory, offset, value, size);
    return leave(context, status);
}

enum ggml_status
gb_vk_copy_within(
    struct gb_vk_context *context, const struct gb_vk_memory *to,
    size_t to_offset, const struct gb_vk_memory *from, size_t from_offset,
    size_t size)
{
    enum ggml_status status = enter(context);

    if (status == GGML_STATUS_SUCCESS && size > 0)
        status = copy_buffer(context, to->buffer, to_offset, from->buffer,
                             from_offset, size);
    return leave(context, status);
}
