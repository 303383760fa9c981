/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/transfer.h - copies between the host and a card, which are done
 * when the call returns.
 *
 * Memory that is mapped is copied by the processor, else by the card from and to
 * a staging buffer.  What the card does with the memory is waited for by the
 * caller, but for other copies.
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

/* Ranges may lie in one memory, but not on each other. */
enum ggml_status gb_vk_copy_within(
    struct gb_vk_context *context, const struct gb_vk_memory *to,
    size_t to_offset, const struct gb_vk_memory *from, size_t from_offset,
    size_t size);

/* With the context. */
void gb_vk_transfer_free(struct gb_vk_context *context);

#endif
