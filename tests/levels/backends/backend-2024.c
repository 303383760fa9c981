/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/backend-2024.c - a backend as it was written for 2024-10:
 * init_tensor returns nothing, and the registration begins with its table.
 */
#include "kernels.h"
#include "old.h"

#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml-impl.h"
#include "ggml.h"

#include <stdlib.h>
#include <string.h>

#define ALIGNMENT 64

struct old_2024 old_2024;

/* ---- buffers ---- */

static void
mid_free_buffer(ggml_backend_buffer_t buffer)
{
    old_2024.n_buffers--;
    free(buffer->context);
}

static void *
mid_get_base(ggml_backend_buffer_t buffer)
{
    return (void *)GGML_PAD((uintptr_t)buffer->context, ALIGNMENT);
}

static void
mid_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    (void)buffer;
    old_2024.n_init_tensor++;
    tensor->backend = GGML_BACKEND_TYPE_GPU;
}

static void
mid_memset_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
                  uint8_t value, size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
mid_set_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
               const void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy((char *)tensor->data + offset, data, size);
}

static void
mid_get_tensor(ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
               void *data, size_t offset, size_t size)
{
    (void)buffer;
    memcpy(data, (const char *)tensor->data + offset, size);
}

static void
mid_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static const struct ggml_backend_buffer_i mid_buffer_i = {
    .free_buffer = mid_free_buffer,
    .get_base = mid_get_base,
    .init_tensor = mid_init_tensor,
    .memset_tensor = mid_memset_tensor,
    .set_tensor = mid_set_tensor,
    .get_tensor = mid_get_tensor,
    .cpy_tensor = NULL,
    .clear = mid_clear,
    .reset = NULL,
};

static const char *
mid_buft_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "Mid";
}

static ggml_backend_buffer_t
mid_buft_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    void *data = malloc(size + ALIGNMENT);
    ggml_backend_buffer_t buffer;

    if (data == NULL)
        return NULL;
    buffer = ggml_backend_buffer_init(buft, mid_buffer_i, data, size);
    if (buffer == NULL)
        free(data);
    else
        old_2024.n_buffers++;
    return buffer;
}

static size_t
mid_buft_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return ALIGNMENT;
}

/* ---- the backend ---- */

static const char *
mid_get_name(ggml_backend_t backend)
{
    (void)backend;
    return "Mid";
}

static void
mid_free(ggml_backend_t backend)
{
    free(backend);
}

static enum ggml_status
mid_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    (void)backend;
    old_2024.n_compute++;
    for (int i = 0; i < cgraph->n_nodes; i++)
        if (!ggml_is_empty(cgraph->nodes[i]))
            run_node(cgraph->nodes[i]);
    return GGML_STATUS_SUCCESS;
}

static const struct ggml_backend_i mid_backend_i = {
    .get_name = mid_get_name,
    .free = mid_free,
    .set_tensor_async = NULL,
    .get_tensor_async = NULL,
    .cpy_tensor_async = NULL,
    .synchronize = NULL,
    .graph_plan_create = NULL,
    .graph_plan_free = NULL,
    .graph_plan_update = NULL,
    .graph_plan_compute = NULL,
    .graph_compute = mid_graph_compute,
    .event_record = NULL,
    .event_wait = NULL,
};

/* ---- devices ---- */

static const char *
mid_dev_get_name(ggml_backend_dev_t dev)
{
    return dev->context;
}

static void
mid_dev_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    (void)dev;
    *free = *total = 1 << 20;
}

static enum ggml_backend_dev_type
mid_dev_get_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
mid_dev_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    props->name = mid_dev_get_name(dev);
    props->description = mid_dev_get_name(dev);
    props->type = mid_dev_get_type(dev);
    mid_dev_get_memory(dev, &props->memory_free, &props->memory_total);
}

static ggml_backend_t
mid_dev_init_backend(ggml_backend_dev_t dev, const char *params)
{
    static ggml_guid guid = { 'm', 'i', 'd' };
    ggml_backend_t backend = malloc(sizeof(*backend));

    (void)params;
    if (backend != NULL) {
        backend->guid = &guid;
        backend->iface = mid_backend_i;
        backend->device = dev;
        backend->context = NULL;
    }
    return backend;
}

static ggml_backend_buffer_type_t
mid_dev_get_buffer_type(ggml_backend_dev_t dev)
{
    static struct ggml_backend_buffer_type buft = {
        .iface = {
            .get_name = mid_buft_get_name,
            .alloc_buffer = mid_buft_alloc_buffer,
            .get_alignment = mid_buft_get_alignment,
            .get_max_size = NULL,
            .get_alloc_size = NULL,
            .is_host = NULL,
        },
        .device = NULL,
        .context = NULL,
    };

    if (buft.device == NULL)
        buft.device = dev;
    return &buft;
}

static bool
mid_dev_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    return op->op == GGML_OP_NONE || op->op == GGML_OP_VIEW ||
           op->op == GGML_OP_RESHAPE || op->op == GGML_OP_PERMUTE ||
           op->op == GGML_OP_TRANSPOSE || can_run_node(op);
}

static bool
mid_dev_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    return buft == mid_dev_get_buffer_type(dev);
}

static const struct ggml_backend_device_i mid_device_i = {
    .get_name = mid_dev_get_name,
    .get_description = mid_dev_get_name,
    .get_memory = mid_dev_get_memory,
    .get_type = mid_dev_get_type,
    .get_props = mid_dev_get_props,
    .init_backend = mid_dev_init_backend,
    .get_buffer_type = mid_dev_get_buffer_type,
    .get_host_buffer_type = NULL,
    .buffer_from_host_ptr = NULL,
    .supports_op = mid_dev_supports_op,
    .supports_buft = mid_dev_supports_buft,
    .offload_op = NULL,
    .event_new = NULL,
    .event_free = NULL,
    .event_synchronize = NULL,
};

/* ---- the registration ---- */

static const char *
mid_reg_get_name(ggml_backend_reg_t reg)
{
    return reg->context;
}

static size_t
mid_reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static struct ggml_backend_device *
mid_device(int index)
{
    static char names[2][5] = { "Mid0", "Mid1" };
    static struct ggml_backend_device devices[2];
    struct ggml_backend_device *device = &devices[index];

    if (device->context == NULL) {
        device->iface = mid_device_i;
        device->reg = old_2024_reg();
        device->context = names[index];
    }
    return device;
}

static ggml_backend_dev_t
mid_reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    GGML_UNUSED(reg);
    return mid_device((int)index);
}

static void *
mid_reg_get_proc_address(ggml_backend_reg_t reg, const char *name)
{
    static int something;

    GGML_UNUSED(reg);
    return strcmp(name, "something") == 0 ? &something : NULL;
}

ggml_backend_reg_t
old_2024_reg(void)
{
    static char name[] = "Mid";
    static struct ggml_backend_reg reg = {
        .iface = {
            .get_name = mid_reg_get_name,
            .get_device_count = mid_reg_get_device_count,
            .get_device = mid_reg_get_device,
            .get_proc_address = mid_reg_get_proc_address,
        },
        .context = name,
    };

    return &reg;
}

void
old_2024_register(void)
{
    ggml_backend_register(old_2024_reg());
}

void
old_2024_register_second(void)
{
    ggml_backend_device_register(mid_device(1));
}

const char *
old_2024_name_of(ggml_backend_reg_t reg)
{
    return ggml_backend_reg_name(reg);
}

size_t
old_2024_count_of(ggml_backend_reg_t reg)
{
    return ggml_backend_reg_dev_count(reg);
}

void *
old_2024_device_of(ggml_backend_reg_t reg)
{
    return ggml_backend_reg_dev_get(reg, 0);
}

bool
old_2024_has_function(ggml_backend_reg_t reg, const char *name)
{
    return ggml_backend_reg_get_proc_address(reg, name) != NULL;
}
