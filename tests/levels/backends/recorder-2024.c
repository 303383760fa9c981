/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/recorder-2024.c - devices of 2024-10 that say yes to every
 * node; each is of another type.
 */
#include "recorder.h"

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

static const enum ggml_backend_dev_type types[] = {
    GGML_BACKEND_DEVICE_TYPE_CPU, GGML_BACKEND_DEVICE_TYPE_GPU,
    GGML_BACKEND_DEVICE_TYPE_ACCEL, GGML_BACKEND_DEVICE_TYPE_CPU_FULL,
    GGML_BACKEND_DEVICE_TYPE_GPU_FULL
};

#define N_DEVICES (sizeof(types) / sizeof(types[0]))

static char names[N_DEVICES][4] = { "R0", "R1", "R2", "R3", "R4" };
static struct ggml_backend_device devices[N_DEVICES];

static const char *
recorder_get_name(ggml_backend_dev_t dev)
{
    return dev->context;
}

static void
recorder_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    (void)dev;
    *free = *total = 1;
}

static enum ggml_backend_dev_type
recorder_get_type(ggml_backend_dev_t dev)
{
    return types[dev - devices];
}

static void
recorder_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    props->name = recorder_get_name(dev);
    props->description = recorder_get_name(dev);
    props->type = recorder_get_type(dev);
    recorder_get_memory(dev, &props->memory_free, &props->memory_total);
}

static ggml_backend_t
recorder_init_backend(ggml_backend_dev_t dev, const char *params)
{
    (void)dev, (void)params;
    return NULL;
}

static ggml_backend_buffer_type_t
recorder_get_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return ggml_backend_cpu_buffer_type();
}

static bool
recorder_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    recorded.n_asked++;
    recorded.op = (int)op->op;
    recorded.node = op;
    for (int i = 0; i < 3; i++)
        recorded.src[i] = op->src[i];
    return true;
}

static bool
recorder_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    (void)dev;
    return ggml_backend_buft_is_host(buft);
}

static const char *
recorder_reg_get_name(ggml_backend_reg_t reg)
{
    (void)reg;
    return "Recorders";
}

static size_t
recorder_reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return N_DEVICES;
}

static ggml_backend_dev_t
recorder_reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    static const struct ggml_backend_device_i members = {
        .get_name = recorder_get_name,
        .get_description = recorder_get_name,
        .get_memory = recorder_get_memory,
        .get_type = recorder_get_type,
        .get_props = recorder_get_props,
        .init_backend = recorder_init_backend,
        .get_buffer_type = recorder_get_buffer_type,
        .supports_op = recorder_supports_op,
        .supports_buft = recorder_supports_buft,
    };
    struct ggml_backend_device *device = &devices[index];

    if (device->context == NULL) {
        device->iface = members;
        device->reg = reg;
        device->context = names[index];
    }
    return device;
}

ggml_backend_reg_t
recorder_2024_reg(void)
{
    static struct ggml_backend_reg reg = {
        .iface = {
            .get_name = recorder_reg_get_name,
            .get_device_count = recorder_reg_get_device_count,
            .get_device = recorder_reg_get_device,
            .get_proc_address = NULL,
        },
        .context = NULL,
    };

    return &reg;
}

void
recorder_2024_register(void)
{
    ggml_backend_register(recorder_2024_reg());
}
