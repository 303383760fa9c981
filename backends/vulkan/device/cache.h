/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/cache.h - compiled pipelines, kept for later processes where the
 * driver keeps none.
 */
#ifndef GB_VULKAN_DEVICE_CACHE_H
#define GB_VULKAN_DEVICE_CACHE_H

#include "backends/vulkan/device/context.h"

/*
 * Fill CONTEXT's cache from its file; none, and VK_NULL_HANDLE, for a driver that
 * keeps one itself.  GGMLBACKEND_VULKAN_CACHE asks for a folder, or for none.
 * What is wrong is told, and no failure.
 */
void gb_vk_cache_open(struct gb_vk_context *context);

/* Write the file, where something was added, and give the cache back. */
void gb_vk_cache_close(struct gb_vk_context *context);

#endif
