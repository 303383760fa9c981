/* SPDX-License-Identifier: MIT */
/*
 * bench/device.c - a device that takes every operation and computes none.
 */
#include "device.h"

#include "ggml-backend-impl.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static struct ggml_backend_reg reg;
static struct ggml_backend_device device;
static struct ggml_backend_buffer_type buffer_type;

/* ---- buffers ---- */

static void
buffer_free(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
}

static void *
buffer_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
buffer_set(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
buffer_get(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static const char *
type_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "bench";
}

static ggml_backend_buffer_t
type_alloc(ggml_backend_buffer_type_t buft, size_t size)
{
    static const struct ggml_backend_buffer_i functions = {
        .free_buffer = buffer_free,
        .get_base = buffer_base,
        .set_tensor = buffer_set,
        .get_tensor = buffer_get,
        .clear = buffer_clear,
    };
    const size_t whole = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    void *data = aligned_alloc(ALIGNMENT, whole);

    return data == NULL ? NULL
                        : ggml_backend_buffer_init(buft, functions, data, size);
}

static size_t
type_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

static struct ggml_backend_buffer_type buffer_type = {
    .iface = { .get_name = type_name,
               .alloc_buffer = type_alloc,
               .get_alignment = type_alignment },
    .device = &device,
};

/* ---- backends ---- */

static const char *
backend_name(ggml_backend_t backend)
{
    (void)backend;
    return "bench";
}

static void
backend_free(ggml_backend_t backend)
{
    free(backend);
}

static enum ggml_status
backend_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    (void)backend;
    (void)graph;
    return GGML_STATUS_SUCCESS;
}

ggml_backend_t
bench_device_init(void)
{
    static ggml_guid guid = "bench device    ";
    ggml_backend_t backend = calloc(1, sizeof(*backend));

    if (backend == NULL)
        return NULL;
    backend->guid = &guid;
    backend->device = &device;
    backend->iface.get_name = backend_name;
    backend->iface.free = backend_free;
    backend->iface.graph_compute = backend_compute;
    return backend;
}

/* ---- the device ---- */

static const char *
device_name(ggml_backend_dev_t dev)
{
    (void)dev;
    return "bench";
}

static void
device_memory(ggml_backend_dev_t dev, size_t *available, size_t *total)
{
    (void)dev;
    *available = *total = 0;
}

static enum ggml_backend_dev_type
device_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
device_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    (void)dev;
    props->name = props->description = "bench";
    props->type = GGML_BACKEND_DEVICE_TYPE_GPU;
}

static ggml_backend_t
device_init(ggml_backend_dev_t dev, const char *params)
{
    (void)dev;
    (void)params;
    return bench_device_init();
}

static ggml_backend_buffer_type_t
device_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return &buffer_type;
}

static bool
device_has_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    (void)op;
    return true;
}

static bool
device_has_type(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    (void)dev;
    return buft == &buffer_type;
}

static struct ggml_backend_device device = {
    .iface = { .get_name = device_name,
               .get_description = device_name,
               .get_memory = device_memory,
               .get_type = device_type,
               .get_props = device_props,
               .init_backend = device_init,
               .get_buffer_type = device_buffer_type,
               .supports_op = device_has_op,
               .supports_buft = device_has_type },
    .reg = &reg,
};

/* ---- its registration ---- */

static const char *
reg_name(ggml_backend_reg_t r)
{
    (void)r;
    return "bench";
}

static size_t
reg_count(ggml_backend_reg_t r)
{
    (void)r;
    return 1;
}

static ggml_backend_dev_t
reg_device(ggml_backend_reg_t r, size_t i)
{
    (void)r;
    return i == 0 ? &device : NULL;
}

static struct ggml_backend_reg reg = {
    .api_version = GGML_BACKEND_API_VERSION,
    .iface = { .get_name = reg_name,
               .get_device_count = reg_count,
               .get_device = reg_device },
};
