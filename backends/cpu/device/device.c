/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/device.c - the CPU as a device: what it can run, and on which
 * memory.
 *
 * There is one CPU device, whatever the number of sockets, and it is constant.
 * It computes on any buffer that the host can address, so that other devices'
 * pinned memory needs no copy, and can wrap memory of the client's.  Weights of
 * a product may lie in a buffer of its own kind (repack-buffer.c).
 */
#include "config.h"

#include "backends/cpu/device/device.h"

#include "backends/cpu/isa/machine.h"
#include "backends/cpu/ops/check.h"

#include "ggml-cpu.h"

#include "lib/op/op.h"

static const char *
dev_get_name(ggml_backend_dev_t dev)
{
    (void)dev;
    return "CPU";
}

static const char *
dev_get_description(ggml_backend_dev_t dev)
{
    (void)dev;
    return gb_cpu_machine()->name;
}

/* The interface's clients take the CPU's memory for unlimited. */
static void
dev_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    (void)dev;
    *free = 0;
    *total = 0;
}

static enum ggml_backend_dev_type
dev_get_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_CPU;
}

static void
dev_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    props->name = dev_get_name(dev);
    props->description = dev_get_description(dev);
    props->type = dev_get_type(dev);
    dev_get_memory(dev, &props->memory_free, &props->memory_total);
    props->caps = (struct ggml_backend_dev_caps){
        .buffer_from_host_ptr = true,
    };
}

static ggml_backend_t
dev_init_backend(ggml_backend_dev_t dev, const char *params)
{
    (void)dev;
    (void)params;
    return ggml_backend_cpu_init();
}

static ggml_backend_buffer_type_t
dev_get_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return ggml_backend_cpu_buffer_type();
}

static ggml_backend_buffer_t
dev_buffer_from_host_ptr(ggml_backend_dev_t dev, void *ptr, size_t size,
                         size_t max_tensor_size)
{
    (void)dev;
    (void)max_tensor_size;
    return ggml_backend_cpu_buffer_from_ptr(ptr, size);
}

/* Views need no work and are always fine; empty tensors ask only whether the
 * operation is known. */
static bool
dev_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    const struct gb_cpu_op *row = gb_cpu_op_find(op);

    (void)dev;
    if (!gb_op_has_work(op->op))
        return true;
    if (row == NULL || ggml_is_empty(op))
        return row != NULL;
    return gb_cpu_can_compute_alone(op, row);
}

static bool
dev_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    (void)dev;
    return ggml_backend_buft_is_host(buft) || buft == GB_CPU_REPACK_BUFFER_TYPE;
}

const struct ggml_backend_device gb_cpu_device = {
    .iface = {
        .get_name = dev_get_name,
        .get_description = dev_get_description,
        .get_memory = dev_get_memory,
        .get_type = dev_get_type,
        .get_props = dev_get_props,
        .init_backend = dev_init_backend,
        .get_buffer_type = dev_get_buffer_type,
        .buffer_from_host_ptr = dev_buffer_from_host_ptr,
        .supports_op = dev_supports_op,
        .supports_buft = dev_supports_buft,
    },
    .reg = GB_CPU_REG,
};
