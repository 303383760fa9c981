/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/host-buffer.c - buffers of memory of the host that cards copy
 * from and to by themselves.
 */
#include "backends/cuda/device/check.h"
#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/driver/platform.h"

#include "ggml-impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct host_buffer {
    struct gb_cuda_hold hold;
    void *memory;
    size_t size;
};

/* ---- members of buffers: plain memory ---- */

static void
host_free(ggml_backend_buffer_t buffer)
{
    struct host_buffer *own = buffer->context;

    gb_cuda_pinned_remove(own->memory);
    if (gb_cuda_enter_cleanup(&own->hold)) {
        GB_CUDA_CLEANUP(own->hold.card, host_free, (own->memory));
        gb_cuda_leave(&own->hold);
    }
    gb_cuda_release(&own->hold);
    free(own);
}

static void *
host_get_base(ggml_backend_buffer_t buffer)
{
    const struct host_buffer *own = buffer->context;

    return own->memory;
}

static void
host_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
host_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
host_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
host_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    const struct host_buffer *own = buffer->context;

    memset(own->memory, value, own->size);
}

static const struct ggml_backend_buffer_i host_members = {
    .free_buffer = host_free,
    .get_base = host_get_base,
    .memset_tensor = host_memset_tensor,
    .set_tensor = host_set_tensor,
    .get_tensor = host_get_tensor,
    .clear = host_clear,
};

/* ---- pinned memory ---- */

/* The memory; NULL where the driver does not give it. */
static void *
pin(const struct gb_cuda_hold *hold, size_t size)
{
    void *memory = NULL;

    if (!gb_cuda_enter(hold))
        return NULL;
    if (hold->card->driver->host_alloc(&memory, size, GB_CUDA_HOST_PORTABLE) !=
        GB_CUDA_SUCCESS)
        memory = NULL;
    gb_cuda_leave(hold);
    return memory;
}

static void
unpin(const struct gb_cuda_hold *hold, void *memory)
{
    gb_cuda_pinned_remove(memory);
    if (!gb_cuda_enter_cleanup(hold))
        return;
    GB_CUDA_CLEANUP(hold->card, host_free, (memory));
    gb_cuda_leave(hold);
}

static ggml_backend_buffer_t
alloc_pinned(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_cuda_card *card = gb_cuda_card_for_host();
    struct host_buffer *own = calloc(1, sizeof(*own));
    ggml_backend_buffer_t buffer;

    if (own == NULL || card == NULL ||
        gb_cuda_hold(card, false, &own->hold) != GGML_STATUS_SUCCESS)
        goto free_own;
    own->size = size;
    own->memory = pin(&own->hold, size);
    if (own->memory == NULL)
        goto release;
    gb_cuda_pinned_add(own->memory, size);
    buffer = ggml_backend_buffer_init(buft, host_members, own, size);
    if (buffer != NULL)
        return buffer;

    unpin(&own->hold, own->memory);
release:
    gb_cuda_release(&own->hold);
free_own:
    free(own);
    return NULL;
}

static void
tell_once(size_t size)
{
    static atomic_flag is_told = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set_explicit(&is_told, memory_order_relaxed))
        GGML_LOG_WARN("%s: %zu bytes of pinned memory cannot be had: ordinary "
                      "memory instead\n", gb_cuda_platform.log_name, size);
}

/* Ordinary memory does the same, but slower; it says itself what it is. */
static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer = NULL;

    if (!gb_cuda_setting_is_on("GGML_CUDA_NO_PINNED")) {
        buffer = alloc_pinned(buft, size);
        if (buffer == NULL)
            tell_once(size);
    }
    return buffer != NULL
               ? buffer
               : ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(),
                                                size);
}

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    return buft->context;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ggml_backend_buft_get_alignment(ggml_backend_cpu_buffer_type());
}

static bool
type_is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static struct ggml_backend_buffer_type type;
static char type_name[16];

static void
make_type(void)
{
    struct gb_cuda_device *first = gb_cuda_device_at(0);

    snprintf(type_name, sizeof(type_name), "%s_Host", gb_cuda_platform.name);
    type = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .is_host = type_is_host,
        },
        .device = first != NULL ? &first->handle : NULL,
        .context = type_name,
    };
}

ggml_backend_buffer_type_t
gb_cuda_host_buffer_type(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_type);
    return &type;
}
