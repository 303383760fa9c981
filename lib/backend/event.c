/* SPDX-License-Identifier: MIT */
/*
 * backend/event.c - points in a backend's queue that others can wait for.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/status.h"

ggml_backend_event_t
ggml_backend_event_new(ggml_backend_dev_t device)
{
    if (device == NULL || device->iface.event_new == NULL)
        return NULL;
    return device->iface.event_new(device);
}

void
ggml_backend_event_free(ggml_backend_event_t event)
{
    if (event == NULL)
        return;
    GB_NEED_VOID(event->device->iface.event_free != NULL,
                 "%s cannot free its events",
                 ggml_backend_dev_name(event->device));
    event->device->iface.event_free(event->device, event);
}

void
ggml_backend_event_record(ggml_backend_event_t event, ggml_backend_t backend)
{
    GB_NEED_VOID(event != NULL && backend != NULL,
                 "record event: no event or no backend");
    GB_NEED_VOID(backend->iface.event_record != NULL, "%s records no events",
                 ggml_backend_name(backend));
    backend->iface.event_record(backend, event);
}

void
ggml_backend_event_synchronize(ggml_backend_event_t event)
{
    GB_NEED_VOID(event != NULL, "wait for event: no event");
    GB_NEED_VOID(event->device->iface.event_synchronize != NULL,
                 "%s cannot wait for its events",
                 ggml_backend_dev_name(event->device));
    event->device->iface.event_synchronize(event->device, event);
}

void
ggml_backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    GB_NEED_VOID(event != NULL && backend != NULL,
                 "wait for event: no event or no backend");
    GB_NEED_VOID(backend->iface.event_wait != NULL, "%s waits for no events",
                 ggml_backend_name(backend));
    backend->iface.event_wait(backend, event);
}
