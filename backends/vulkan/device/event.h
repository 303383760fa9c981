/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/event.h - points in a card's work, to be waited for: numbers of
 * its timelines.
 */
#ifndef GB_VULKAN_DEVICE_EVENT_H
#define GB_VULKAN_DEVICE_EVENT_H

#include "backends/vulkan/device/context.h"
#include "backends/vulkan/device/device.h"

ggml_backend_event_t gb_vk_event_new(ggml_backend_dev_t dev);
void gb_vk_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event);
void gb_vk_event_synchronize(
    ggml_backend_dev_t dev, ggml_backend_event_t event);

/* Is EVENT one of ours, on the card that CONTEXT is for? */
bool gb_vk_event_is_of(
    ggml_backend_event_t event, const struct gb_vk_context *context);

/* Let EVENT be when the timelines reach NUMBER and COPIES; false where it is not of
 * theirs. */
bool gb_vk_event_set(
    ggml_backend_event_t event, const struct gb_vk_context *context,
    uint64_t number, uint64_t copies);

/* Where the timelines are when EVENT, which is one of ours, has happened. */
void gb_vk_event_get(
    ggml_backend_event_t event, uint64_t *number, uint64_t *copies);

#endif
