/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/tables.h - codebooks of data types in a card's memory.
 */
#ifndef GB_VULKAN_DEVICE_TABLES_H
#define GB_VULKAN_DEVICE_TABLES_H

#include "backends/vulkan/device/context.h"

/*
 * Where the TABLE, a number of ops/tables.h, lies; it is brought to the card by
 * whoever asks first.  False, with the reason told, where it has no memory.  Any
 * thread.
 */
bool gb_vk_table(struct gb_vk_context *context, int table, VkBuffer *buffer,
                 size_t *offset, size_t *size);

/* With the context. */
void gb_vk_tables_free(struct gb_vk_context *context);

#endif
