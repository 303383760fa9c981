/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/transfer.h - copies between the host and a card.
 *
 * Memory that is mapped is copied by the processor, else by the card, from and to
 * pinned memory of the host or a staging buffer, behind all that was submitted
 * before.  They are done when the call returns, unless they are queued.
 */
#ifndef GB_VULKAN_DEVICE_TRANSFER_H
#define GB_VULKAN_DEVICE_TRANSFER_H

#include "backends/vulkan/device/memory.h"

enum ggml_status gb_vk_copy_in(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, const void *data, size_t size);

enum ggml_status gb_vk_copy_out(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, void *data, size_t size);

enum ggml_status gb_vk_fill(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, uint8_t value, size_t size);

/*
 * The same for memory that is not mapped, behind what was submitted up to the
 * number AFTER.  *NUMBER becomes what copies have reached when it is done; it
 * stays as it is if that is now.  Pinned DATA is read or written until then, other
 * not any more.
 */
enum ggml_status gb_vk_queue_copy_in(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, const void *data, size_t size, uint64_t after,
    uint64_t *number);
enum ggml_status gb_vk_queue_copy_out(
    struct gb_vk_context *context, const struct gb_vk_memory *memory,
    size_t offset, void *data, size_t size, uint64_t after, uint64_t *number);

/* Ranges may lie in one memory, but not on each other. */
enum ggml_status gb_vk_copy_within(
    struct gb_vk_context *context, const struct gb_vk_memory *to,
    size_t to_offset, const struct gb_vk_memory *from, size_t from_offset,
    size_t size);

/* With the context. */
void gb_vk_transfer_free(struct gb_vk_context *context);

#endif
