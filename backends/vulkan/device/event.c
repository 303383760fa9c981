/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/event.c - points in a card's work, to be waited for.
 */
#include "backends/vulkan/device/event.h"

#include "ggmlbackend.h"

#include <stdlib.h>

struct vulkan_event {
    struct ggml_backend_event event;
    struct gb_vk_hold hold;
    uint64_t number, copies; /* 0: it was never recorded, and has happened */
};

ggml_backend_event_t
gb_vk_event_new(ggml_backend_dev_t dev)
{
    struct gb_vk_device *device = gb_vk_device_of(dev);
    struct vulkan_event *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for an event",
                         device->name);
        return NULL;
    }
    own->event.device = dev;
    own->event.context = own;
    if (gb_vk_hold(&device->card, &own->hold) == GGML_STATUS_SUCCESS)
        return &own->event;
    free(own);
    return NULL;
}

void
gb_vk_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    struct vulkan_event *own = event->context;

    (void)dev;
    gb_vk_release(&own->hold);
    free(own);
}

void
gb_vk_event_synchronize(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    struct vulkan_event *own = event->context;

    (void)dev;
    if (gb_vk_is_usable(own->hold.context) &&
        gb_vk_wait(own->hold.context, own->number) == GGML_STATUS_SUCCESS)
        gb_vk_wait_for_copies(own->hold.context, own->copies);
}

bool
gb_vk_event_is_of(
    ggml_backend_event_t event, const struct gb_vk_context *context)
{
    const struct vulkan_event *own = event->context;

    return gb_vk_device_of(event->device) != NULL &&
           own->hold.context == context;
}

bool
gb_vk_event_set(
    ggml_backend_event_t event, const struct gb_vk_context *context,
    uint64_t number, uint64_t copies)
{
    struct vulkan_event *own = event->context;

    if (!gb_vk_event_is_of(event, context))
        return false;
    own->number = number;
    own->copies = copies;
    return true;
}

void
gb_vk_event_get(
    ggml_backend_event_t event, uint64_t *number, uint64_t *copies)
{
    const struct vulkan_event *own = event->context;

    *number = own->number;
    *copies = own->copies;
}
