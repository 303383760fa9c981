/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/event.c - points in a backend's work, to be waited for.
 */
#include "backends/cuda/device/event.h"

#include "backends/cuda/device/check.h"
#include "backends/cuda/device/stream.h"

#include <stdlib.h>

ggml_backend_event_t
gb_cuda_event_new(ggml_backend_dev_t dev)
{
    struct gb_cuda_device *device = gb_cuda_device_of(dev);
    struct gb_cuda_event_of_device *own = calloc(1, sizeof(*own));
    enum ggml_status status;

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for an event",
                         device->name);
        return NULL;
    }
    own->event.device = dev;
    own->event.context = own;
    if (gb_cuda_hold(device->card, false, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    if (!gb_cuda_enter(&own->hold))
        goto release;
    status = gb_cuda_event_make(device->card, &own->handle);
    gb_cuda_leave(&own->hold);
    if (status == GGML_STATUS_SUCCESS)
        return &own->event;

release:
    gb_cuda_release(&own->hold);
free_own:
    free(own);
    return NULL;
}

void
gb_cuda_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    struct gb_cuda_event_of_device *own = event->context;

    (void)dev;
    if (gb_cuda_enter_cleanup(&own->hold)) {
        GB_CUDA_CLEANUP(own->hold.card, event_destroy, (own->handle));
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_release(&own->hold);
    free(own);
}

void
gb_cuda_event_synchronize(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    struct gb_cuda_event_of_device *own = event->context;

    (void)dev;
    if (!gb_cuda_enter(&own->hold))
        return;
    gb_cuda_event_await(own->hold.card, own->handle);
    gb_cuda_leave(&own->hold);
}

struct gb_cuda_event_of_device *
gb_cuda_event_of(ggml_backend_event_t event)
{
    return gb_cuda_device_of(event->device) != NULL ? event->context : NULL;
}
