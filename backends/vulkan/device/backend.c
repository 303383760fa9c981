/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/backend.c - backends: each records graphs, and submits them to
 * the card's queue in the order of the calls.
 */
#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/device/event.h"
#include "backends/vulkan/device/recording.h"
#include "backends/vulkan/device/span.h"
#include "backends/vulkan/device/transfer.h"

#include "ggmlbackend.h"

#include <stdlib.h>

struct vulkan_backend {
    struct ggml_backend base;
    struct gb_vk_device *device;
    struct gb_vk_hold hold;
    struct gb_vk_recordings recordings;
    struct gb_vk_abort abort;
    /* Numbers that later work comes behind: its own, or those of an event that was
     * waited for. */
    uint64_t copies;
    uint64_t after;
};

/* The interface tells backends apart by this: clients compare it. */
static const uint8_t guid[16] = {
    0xb8, 0xf7, 0x4f, 0x86, 0x40, 0x3c, 0xe1, 0x02,
    0x91, 0xc8, 0xdd, 0xe9, 0x02, 0x3f, 0xc0, 0x2b
};

static const char *
backend_get_name(ggml_backend_t backend)
{
    const struct vulkan_backend *own = backend->context;

    return own->device->name;
}

/* The number of the last graph that later work comes behind. */
static uint64_t
number_before(const struct vulkan_backend *own)
{
    return own->after > own->recordings.number ? own->after
                                               : own->recordings.number;
}

/* Memory that the card uses may go when this is done, whatever it says. */
static enum ggml_status
wait_for_all(struct vulkan_backend *own)
{
    enum ggml_status status;

    if (!gb_vk_is_usable(own->hold.context))
        return GGML_STATUS_FAILED;
    status = gb_vk_wait(own->hold.context, number_before(own));
    if (status == GGML_STATUS_SUCCESS)
        status = gb_vk_wait_for_copies(own->hold.context, own->copies);
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_drain(own->hold.context);
    return status;
}

static void
backend_free(ggml_backend_t backend)
{
    struct vulkan_backend *own = backend->context;

    gb_vk_drain(own->hold.context);
    gb_vk_recordings_clear(&own->recordings);
    gb_vk_release(&own->hold);
    free(own);
}

static void
backend_synchronize(ggml_backend_t backend)
{
    struct vulkan_backend *own = backend->context;
    const struct gb_vk_span span = gb_vk_span_begin(own->device->name);

    wait_for_all(own);
    gb_vk_span_end(&span, "wait");
    if (span.track != 0)
        ggmlbackend_trace_flush();
}

/* Where OFFSET of TENSOR is; NULL where it is not on the backend's card, the host
 * copies, or it is there more than once. */
static const struct gb_vk_memory *
find_unmapped(const struct vulkan_backend *own,
              const struct ggml_tensor *tensor, size_t *offset, size_t size)
{
    const struct gb_vk_buffer *buffer = gb_vk_buffer_of(tensor);
    const struct gb_vk_memory *memory;

    if (buffer == NULL || buffer->hold.context != own->hold.context ||
        gb_vk_has_copies(buffer))
        return NULL;
    *offset += (size_t)((char *)tensor->data - buffer->base);
    memory = gb_vk_find_memory(buffer, offset, size);
    return memory != NULL && memory->mapped == NULL ? memory : NULL;
}

/* A copy comes after what was asked for before it. */
static void
backend_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct vulkan_backend *own = backend->context;
    size_t at = offset;
    const struct gb_vk_memory *memory = find_unmapped(own, tensor, &at, size);

    if (memory != NULL && gb_vk_is_usable(own->hold.context))
        gb_vk_queue_copy_in(own->hold.context, memory, at, data, size,
                            number_before(own), &own->copies);
    else if (wait_for_all(own) == GGML_STATUS_SUCCESS)
        ggml_backend_tensor_set(tensor, data, offset, size);
}

static void
backend_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct vulkan_backend *own = backend->context;
    size_t at = offset;
    const struct gb_vk_memory *memory = find_unmapped(own, tensor, &at, size);

    if (memory != NULL && gb_vk_is_usable(own->hold.context))
        gb_vk_queue_copy_out(own->hold.context, memory, at, data, size,
                             number_before(own), &own->copies);
    else if (wait_for_all(own) == GGML_STATUS_SUCCESS)
        ggml_backend_tensor_get(tensor, data, offset, size);
}

static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    struct vulkan_backend *own = backend->context;
    const struct gb_vk_span span = gb_vk_span_begin(own->device->name);
    enum ggml_status status;

    if (!gb_vk_is_usable(own->hold.context))
        return GGML_STATUS_FAILED;
    status = gb_vk_graph_run(&own->recordings, cgraph, &own->abort);
    gb_vk_span_end(&span, "queue graph");
    if (status != GGML_STATUS_SUCCESS)
        gb_vk_drain(own->hold.context);
    return status;
}

/* ---- events ---- */

static void
backend_event_record(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct vulkan_backend *own = backend->context;

    if (!gb_vk_event_set(event, own->hold.context, number_before(own),
                         own->copies))
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: an event of %s cannot be recorded",
                         own->device->name,
                         ggml_backend_dev_name(event->device));
}

/* Graphs run in the order of their submissions anyway; copies and the host wait for
 * these numbers. */
static void
backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct vulkan_backend *own = backend->context;
    uint64_t number, copies;

    if (!gb_vk_event_is_of(event, own->hold.context)) {
        ggml_backend_event_synchronize(event);
        return;
    }
    gb_vk_event_get(event, &number, &copies);
    if (number > own->after)
        own->after = number;
    if (copies > own->copies)
        own->copies = copies;
}

static const struct ggml_backend_i backend_members = {
    .get_name = backend_get_name,
    .free = backend_free,
    .set_tensor_async = backend_set_tensor_async,
    .get_tensor_async = backend_get_tensor_async,
    .synchronize = backend_synchronize,
    .graph_compute = backend_graph_compute,
    .event_record = backend_event_record,
    .event_wait = backend_event_wait,
};

ggml_backend_t
gb_vk_backend_new(struct gb_vk_device *device)
{
    struct vulkan_backend *own = calloc(1, sizeof(*own));

    if (own == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a backend", device->name);
        return NULL;
    }
    own->device = device;
    own->base = (struct ggml_backend){
        .guid = (ggml_guid_t)guid,
        .iface = backend_members,
        .device = &device->handle,
        .context = own,
    };
    if (gb_vk_hold(&device->card, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    if (gb_vk_recordings_init(&own->recordings, own->hold.context) ==
        GGML_STATUS_SUCCESS)
        return &own->base;
    gb_vk_recordings_clear(&own->recordings);
    gb_vk_release(&own->hold);
free_own:
    free(own);
    return NULL;
}

bool
gb_vk_is_backend(ggml_backend_t backend)
{
    return backend != NULL && backend->iface.free == backend_free;
}

void
gb_vk_set_abort_callback(
    ggml_backend_t backend, ggml_abort_callback callback, void *data)
{
    struct vulkan_backend *own;

    if (!gb_vk_is_backend(backend))
        return;
    own = backend->context;
    own->abort = (struct gb_vk_abort){ callback, data };
}
