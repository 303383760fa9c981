/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/host-buffer.c - buffers of memory of the host that cards copy
 * from and to by themselves.
 */
#include "backends/cuda/device/device.h"
#include "backends/cuda/device/pinned.h"
#include "backends/cuda/device/settings.h"
#include "backends/cuda/driver/platform.h"

#include "ggml-impl.h"

#include <stdio.h>

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    gb_cuda_pinned_free(buffer->context);
}

/* For all but its type and its end it is a buffer over memory of the host,
 * whose context is that memory. */
static ggml_backend_buffer_t
alloc_pinned(ggml_backend_buffer_type_t buft, size_t size)
{
    void *memory = gb_cuda_pinned_new(size);
    ggml_backend_buffer_t buffer;

    if (memory == NULL)
        return NULL;
    buffer = ggml_backend_cpu_buffer_from_ptr(memory, size);
    if (buffer == NULL) {
        gb_cuda_pinned_free(memory);
        return NULL;
    }
    buffer->buft = buft;
    buffer->iface.free_buffer = buffer_free;
    return buffer;
}

static void
tell_once(struct gb_cuda_host_type *type, size_t size)
{
    if (!atomic_flag_test_and_set_explicit(&type->is_told,
                                           memory_order_relaxed))
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
            tell_once(buft->context, size);
    }
    return buffer != NULL
               ? buffer
               : ggml_backend_buft_alloc_buffer(ggml_backend_cpu_buffer_type(),
                                                size);
}

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct gb_cuda_host_type *type = buft->context;

    return type->name;
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

void
gb_cuda_host_type_init(
    struct gb_cuda_host_type *type, struct gb_cuda_device *first)
{
    snprintf(type->name, sizeof(type->name), "%s_Host", gb_cuda_platform.name);
    atomic_flag_clear_explicit(&type->is_told, memory_order_relaxed);
    type->buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .is_host = type_is_host,
        },
        .device = &first->handle,
        .context = type,
    };
}
