/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/transfer.c - copies between the host and a card.
 *
 * Slots of a staging buffer take turns: the host fills one, or empties it, while
 * the card copies from and to the others.
 */
#include "backends/vulkan/device/transfer.h"

#include "backends/vulkan/device/pinned.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

enum { N_SLOTS = 8, MOST_SLOT_SIZE = 2 << 20 };

/* All that was submitted before, of either queue. */
#define ALL UINT64_MAX

/* A command buffer, and its part of the staging buffer. */
struct slot {
    VkCommandPool pool;
    VkCommandBuffer commands;
    size_t offset;
    uint64_t number; /* of its last submission */
};

/* A context's own, used by one thread at a time. */
struct gb_vk_transfer {
    struct slot slots[N_SLOTS];
    size_t slot_size; /* as much as an allocation of all of them may have */
    unsigned next;
    struct gb_vk_memory stage; /* made on first use */
};

/* What is copied: to or from the card's MEMORY. */
struct span {
    const struct gb_vk_memory *memory;
    size_t offset, size;
    uint64_t after; /* what it comes behind */
};

/* ---- slots ---- */

static enum ggml_status
make_slot(struct gb_vk_context *context, struct slot *slot)
{
    const VkCommandPoolCreateInfo pool_info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT,
        .queueFamilyIndex = context->card->copy_family,
    };
    VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };

    GB_VK_TRY(context, CreateCommandPool,
              (context->device, &pool_info, NULL, &slot->pool));
    info.commandPool = slot->pool;
    return GB_VK(context, AllocateCommandBuffers,
                 (context->device, &info, &slot->commands));
}

static size_t
slot_size_of(const struct gb_vk_card *card)
{
    const size_t most = card->most_allocation / N_SLOTS & ~(size_t)255;

    return most < MOST_SLOT_SIZE ? most : MOST_SLOT_SIZE;
}

static enum ggml_status
make_transfer(struct gb_vk_context *context)
{
    enum ggml_status status = GGML_STATUS_SUCCESS;

    if (context->transfer != NULL)
        return GGML_STATUS_SUCCESS;
    context->transfer = calloc(1, sizeof(*context->transfer));
    if (context->transfer == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for transfers",
                                context->card->label);
    context->transfer->slot_size = slot_size_of(context->card);
    for (int i = 0; i < N_SLOTS && status == GGML_STATUS_SUCCESS; i++) {
        context->transfer->slots[i].offset =
            (size_t)i * context->transfer->slot_size;
        status = make_slot(context, &context->transfer->slots[i]);
    }
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_transfer_free(context);
    return status;
}

static enum ggml_status
make_stage(struct gb_vk_context *context)
{
    if (context->transfer->stage.size > 0)
        return GGML_STATUS_SUCCESS;
    return gb_vk_memory_new(context, GB_VK_MEMORY_HOST,
                            N_SLOTS * context->transfer->slot_size,
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
    for (int i = 0; i < N_SLOTS; i++)
        context->calls.DestroyCommandPool(context->device,
                                          transfer->slots[i].pool, NULL);
    free(transfer);
    context->transfer = NULL;
}

static char *
stage_of(const struct gb_vk_context *context, const struct slot *slot)
{
    return context->transfer->stage.mapped + slot->offset;
}

/* ---- commands ---- */

/* A memory barrier for all that came before, and for the host. */
static void
add_barrier(struct gb_vk_context *context, const struct slot *slot,
            VkPipelineStageFlags from, VkPipelineStageFlags to)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
        .srcAccessMask = VK_ACCESS_MEMORY_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_MEMORY_READ_BIT | VK_ACCESS_MEMORY_WRITE_BIT,
    };

    context->calls.CmdPipelineBarrier(slot->commands, from, to, 0, 1, &barrier,
                                      0, NULL, 0, NULL);
}

/* The next slot, when the card is done with what it had. */
static enum ggml_status
begin(struct gb_vk_context *context, struct slot **slot)
{
    static const VkCommandBufferBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    struct gb_vk_transfer *transfer = context->transfer;
    struct slot *next = &transfer->slots[transfer->next % N_SLOTS];
    const enum ggml_status status =
        gb_vk_wait_for_copies(context, next->number);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    GB_VK_TRY(context, ResetCommandPool, (context->device, next->pool, 0));
    GB_VK_TRY(context, BeginCommandBuffer, (next->commands, &info));
    add_barrier(context, next, VK_PIPELINE_STAGE_ALL_COMMANDS_BIT,
                VK_PIPELINE_STAGE_TRANSFER_BIT);
    *slot = next;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
end(struct gb_vk_context *context, struct slot *slot, uint64_t after)
{
    enum ggml_status status;

    add_barrier(context, slot, VK_PIPELINE_STAGE_TRANSFER_BIT,
                VK_PIPELINE_STAGE_ALL_COMMANDS_BIT |
                    VK_PIPELINE_STAGE_HOST_BIT);
    GB_VK_TRY(context, EndCommandBuffer, (slot->commands));
    status =
        gb_vk_submit_copies(context, slot->commands, after, &slot->number);
    if (status == GGML_STATUS_SUCCESS)
        context->transfer->next++;
    return status;
}

/* Of the last submission; 0: there was none. */
static uint64_t
last_number(const struct gb_vk_context *context)
{
    const struct gb_vk_transfer *transfer = context->transfer;

    return transfer->slots[(transfer->next - 1) % N_SLOTS].number;
}

static enum ggml_status
copy_buffer(struct gb_vk_context *context, VkBuffer to, size_t to_offset,
            VkBuffer from, size_t from_offset, size_t size, uint64_t after)
{
    const VkBufferCopy region = { from_offset, to_offset, size };
    struct slot *slot;
    const enum ggml_status status = begin(context, &slot);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdCopyBuffer(slot->commands, from, to, 1, &region);
    return end(context, slot, after);
}

/* ---- through the staging buffer ---- */

static size_t
piece_of(const struct gb_vk_context *context, size_t size, size_t done)
{
    const size_t most = context->transfer->slot_size;

    return size - done < most ? size - done : most;
}

static enum ggml_status
write_piece(struct gb_vk_context *context, const struct span *to, size_t done,
            const char *data)
{
    const size_t n = piece_of(context, to->size, done);
    struct slot *slot;
    const enum ggml_status status = begin(context, &slot);
    const VkBufferCopy region = {
        status == GGML_STATUS_SUCCESS ? slot->offset : 0, to->offset + done, n
    };

    if (status != GGML_STATUS_SUCCESS)
        return status;
    memcpy(stage_of(context, slot), data + done, n);
    context->calls.CmdCopyBuffer(slot->commands,
                                 context->transfer->stage.buffer,
                                 to->memory->buffer, 1, &region);
    return end(context, slot, to->after);
}

/* All of DATA is read when this returns. */
static enum ggml_status
write_staged(struct gb_vk_context *context, const struct span *to,
             const char *data)
{
    enum ggml_status status = make_stage(context);

    for (size_t done = 0; done < to->size && status == GGML_STATUS_SUCCESS;
         done += context->transfer->slot_size)
        status = write_piece(context, to, done, data);
    return status;
}

static enum ggml_status
ask_for_piece(struct gb_vk_context *context, const struct span *from,
              size_t done)
{
    struct slot *slot;
    const enum ggml_status status = begin(context, &slot);
    const VkBufferCopy region = {
        from->offset + done, status == GGML_STATUS_SUCCESS ? slot->offset : 0,
        piece_of(context, from->size, done)
    };

    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdCopyBuffer(slot->commands, from->memory->buffer,
                                 context->transfer->stage.buffer, 1, &region);
    return end(context, slot, from->after);
}

/* The piece that the slot NUMBER, counted on and on, has been asked for. */
static enum ggml_status
take_piece(struct gb_vk_context *context, unsigned number, char *to, size_t n)
{
    const struct slot *slot = &context->transfer->slots[number % N_SLOTS];
    const enum ggml_status status =
        gb_vk_wait_for_copies(context, slot->number);

    if (status == GGML_STATUS_SUCCESS)
        memcpy(to, stage_of(context, slot), n);
    return status;
}

/* Pieces are asked for as long as there are slots, and then as they are taken. */
static enum ggml_status
read_staged(struct gb_vk_context *context, const struct span *from, char *data)
{
    const size_t step = context->transfer->slot_size;
    enum ggml_status status = make_stage(context);
    unsigned first = context->transfer->next;
    size_t asked = 0;

    for (size_t done = 0; done < from->size && status == GGML_STATUS_SUCCESS;
         done += step) {
        while (asked < from->size && asked < done + N_SLOTS * step &&
               status == GGML_STATUS_SUCCESS) {
            status = ask_for_piece(context, from, asked);
            asked += step;
        }
        if (status == GGML_STATUS_SUCCESS)
            status = take_piece(context, first++, data + done,
                                piece_of(context, from->size, done));
    }
    return status;
}

/* ---- in one go, where the host's memory is pinned ---- */

static enum ggml_status
write_any(struct gb_vk_context *context, const struct span *to,
          const void *data)
{
    size_t offset;
    const VkBuffer buffer =
        gb_vk_find_pinned(context, data, to->size, &offset);

    if (to->size == 0)
        return GGML_STATUS_SUCCESS;
    if (buffer == VK_NULL_HANDLE)
        return write_staged(context, to, data);
    return copy_buffer(context, to->memory->buffer, to->offset, buffer, offset,
                       to->size, to->after);
}

/* *IS_DONE: all of DATA is written already. */
static enum ggml_status
read_any(struct gb_vk_context *context, const struct span *from, void *data,
         bool *is_done)
{
    size_t offset;
    const VkBuffer buffer =
        gb_vk_find_pinned(context, data, from->size, &offset);

    *is_done = buffer == VK_NULL_HANDLE || from->size == 0;
    if (from->size == 0)
        return GGML_STATUS_SUCCESS;
    if (buffer == VK_NULL_HANDLE)
        return read_staged(context, from, data);
    return copy_buffer(context, buffer, offset, from->memory->buffer,
                       from->offset, from->size, from->after);
}

/* ---- fills ---- */

static enum ggml_status
fill_words(struct gb_vk_context *context, const struct gb_vk_memory *memory,
           size_t first, size_t last, uint8_t value)
{
    struct slot *slot;
    const enum ggml_status status = begin(context, &slot);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    context->calls.CmdFillBuffer(slot->commands, memory->buffer, first,
                                 last - first, value * 0x01010101u);
    return end(context, slot, ALL);
}

/* Whole words by a fill, what stands before and behind them by copies. */
static enum ggml_status
fill_staged(struct gb_vk_context *context, const struct gb_vk_memory *memory,
            size_t offset, uint8_t value, size_t size)
{
    const size_t end_at = offset + size;
    const size_t first = (offset + 3) & ~(size_t)3;
    const size_t last = end_at & ~(size_t)3;
    const struct span all = { memory, offset, size, ALL };
    const struct span before = { memory, offset, first - offset, ALL };
    const struct span behind = { memory, last, end_at - last, ALL };
    enum ggml_status status;
    char edge[8];

    memset(edge, value, sizeof(edge));
    if (first >= last)
        return write_staged(context, &all, edge);
    status = write_staged(context, &before, edge);
    if (status == GGML_STATUS_SUCCESS)
        status = write_staged(context, &behind, edge);
    return status == GGML_STATUS_SUCCESS
               ? fill_words(context, memory, first, last, value) : status;
}

/* ---- one thread at a time ---- */

static enum ggml_status
enter(struct gb_vk_context *context)
{
    pthread_mutex_lock(&context->transfer_lock);
    return make_transfer(context);
}

/* Where a copy failed some of it may still be on its way. */
static enum ggml_status
leave(struct gb_vk_context *context, enum ggml_status status)
{
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_drain(context);
    pthread_mutex_unlock(&context->transfer_lock);
    return status;
}

static enum ggml_status
wait_and_leave(struct gb_vk_context *context, enum ggml_status status)
{
    if (status == GGML_STATUS_SUCCESS)
        status = gb_vk_wait_for_copies(context, last_number(context));
    return leave(context, status);
}

enum ggml_status
gb_vk_copy_in(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, const void *data, size_t size)
{
    const struct span to = { memory, offset, size, ALL };
    enum ggml_status status;

    if (memory->mapped != NULL) {
        memcpy(memory->mapped + offset, data, size);
        return GGML_STATUS_SUCCESS;
    }
    status = enter(context);
    if (status == GGML_STATUS_SUCCESS)
        status = write_any(context, &to, data);
    return wait_and_leave(context, status);
}

enum ggml_status
gb_vk_copy_out(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, void *data, size_t size)
{
    const struct span from = { memory, offset, size, ALL };
    enum ggml_status status;
    bool is_done;

    if (memory->mapped != NULL) {
        memcpy(data, memory->mapped + offset, size);
        return GGML_STATUS_SUCCESS;
    }
    status = enter(context);
    if (status == GGML_STATUS_SUCCESS)
        status = read_any(context, &from, data, &is_done);
    return wait_and_leave(context, status);
}

enum ggml_status
gb_vk_queue_copy_in(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, const void *data, size_t size, uint64_t after,
    uint64_t *number)
{
    const struct span to = { memory, offset, size, after };
    enum ggml_status status = enter(context);

    if (status == GGML_STATUS_SUCCESS)
        status = write_any(context, &to, data);
    if (status == GGML_STATUS_SUCCESS)
        *number = last_number(context);
    return leave(context, status);
}

enum ggml_status
gb_vk_queue_copy_out(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, void *data, size_t size, uint64_t after, uint64_t *number)
{
    const struct span from = { memory, offset, size, after };
    enum ggml_status status = enter(context);
    bool is_done;

    if (status == GGML_STATUS_SUCCESS)
        status = read_any(context, &from, data, &is_done);
    if (status == GGML_STATUS_SUCCESS && !is_done)
        *number = last_number(context);
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
    return wait_and_leave(context, status);
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
                             from_offset, size, ALL);
    return wait_and_leave(context, status);
}
