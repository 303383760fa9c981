/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/live.h - objects that are there, and which device a queue has.
 */
#ifndef GB_VULKAN_SHIM_LIVE_H
#define GB_VULKAN_SHIM_LIVE_H

#include "tests/vulkan/shim/shim.h"

enum shim_kind {
    SHIM_INSTANCE,
    SHIM_MESSENGER,
    SHIM_DEVICE,
    SHIM_BUFFER,
    SHIM_COMMAND_POOL,
    SHIM_DESCRIPTOR_POOL,
    SHIM_FENCE,
    SHIM_MEMORY,
    SHIM_PIPELINE,
    SHIM_PIPELINE_CACHE,
    SHIM_PIPELINE_LAYOUT,
    SHIM_QUERY_POOL,
    SHIM_SEMAPHORE,
    SHIM_SET_LAYOUT,
    SHIM_SHADER_MODULE,
    SHIM_KINDS
};

/* Handles are given as numbers; 0 is none. */
void shim_made(enum shim_kind kind, uint64_t handle);
void shim_dropped(enum shim_kind kind, uint64_t handle);

/* MEMORY, which was made just now, has so many bytes of a TYPE. */
void shim_has_bytes(uint64_t memory, uint64_t bytes, uint32_t type);
uint32_t shim_type_of(uint64_t memory);
uint64_t shim_bytes_of(uint32_t type);

/* OWNER is a device, or one of its queues; it is lost from now on. */
void shim_lost(const void *owner);
bool shim_is_lost(const void *owner);
void shim_has_queue(VkDevice device, VkQueue queue);

/* Something was done that no program may do. */
void shim_report(const char *what);

/* A handle as a number, whatever its type is. */
#define SHIM_NUMBER(handle) ((uint64_t)(uintptr_t)(handle))

#endif
