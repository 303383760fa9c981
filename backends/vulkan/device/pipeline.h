/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/pipeline.h - pipelines, made on first use.
 */
#ifndef GB_VULKAN_DEVICE_PIPELINE_H
#define GB_VULKAN_DEVICE_PIPELINE_H

#include "backends/vulkan/device/context.h"

/*
 * The pipeline, which is made where it is not there yet.  A failure is told; one
 * that the driver cannot make is the card's broken one from then on.  Any thread.
 */
enum ggml_status gb_vk_pipeline(
    struct gb_vk_context *context, enum gb_vk_pipeline pipeline,
    VkPipeline *handle);

/* Make it, where nobody has begun to: who wants it later is told how that went.
 * Any thread. */
void gb_vk_pipeline_make(
    struct gb_vk_context *context, enum gb_vk_pipeline pipeline);

/* Any thread. */
bool gb_vk_pipeline_is_made(
    struct gb_vk_context *context, enum gb_vk_pipeline pipeline);

const char *gb_vk_pipeline_name(enum gb_vk_pipeline pipeline);

/* With the context, and the cache. */
void gb_vk_pipelines_free(struct gb_vk_context *context);

/* Say how often each pipeline was dispatched, for tests: as warnings, which
 * programs show. */
void gb_vk_tell_dispatches(const struct gb_vk_context *context);

#endif
