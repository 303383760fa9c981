/* SPDX-License-Identifier: MIT */
/*
 * sim/device.c - what a device says of itself.
 */
#include "backends/sim/graph.h"
#include "backends/sim/state.h"

#include "ggml-cpu.h"

#include <string.h>

static const char *
dev_get_name(ggml_backend_dev_t dev)
{
    return gb_sim_device_of(dev)->name;
}

static const char *
dev_get_description(ggml_backend_dev_t dev)
{
    return gb_sim_device_of(dev)->description;
}

static void
dev_get_memory(ggml_backend_dev_t dev, size_t *free, size_t *total)
{
    const struct gb_sim_device *device = gb_sim_device_of(dev);

    gb_sim_lock();
    *total = device->config.memory;
    *free = *total > device->counters.bytes
                ? *total - (size_t)device->counters.bytes : 0;
    gb_sim_unlock();
}

static enum ggml_backend_dev_type
dev_get_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return GGML_BACKEND_DEVICE_TYPE_GPU;
}

static void
dev_get_props(ggml_backend_dev_t dev, struct ggml_backend_dev_props *props)
{
    const struct gb_sim_device *device = gb_sim_device_of(dev);

    props->name = dev_get_name(dev);
    props->description = dev_get_description(dev);
    props->type = dev_get_type(dev);
    dev_get_memory(dev, &props->memory_free, &props->memory_total);
    props->caps = (struct ggml_backend_dev_caps){
        .async = !gb_sim_lacks(device, GB_SIM_SYNCHRONIZE),
        .host_buffer = !gb_sim_lacks(device, GB_SIM_HOST_BUFFER),
        .buffer_from_host_ptr = !gb_sim_lacks(device, GB_SIM_FROM_HOST_PTR),
        .events = !gb_sim_lacks(device, GB_SIM_EVENTS),
    };
}

static ggml_backend_t
dev_init_backend(ggml_backend_dev_t dev, const char *params)
{
    (void)params;
    return gb_sim_backend_new(gb_sim_device_of(dev));
}

static ggml_backend_buffer_type_t
dev_get_buffer_type(ggml_backend_dev_t dev)
{
    return &gb_sim_device_of(dev)->buft;
}

static ggml_backend_buffer_type_t
dev_get_host_buffer_type(ggml_backend_dev_t dev)
{
    return &gb_sim_device_of(dev)->host_buft;
}

/* ---- operations ---- */

/* A function of the client's runs where the client runs. */
static bool
is_host_op(enum ggml_op op)
{
    return op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
}

/* What lies in memory of the host can be copied here first, as a weight is. */
static bool
is_within_reach(
    struct gb_sim_device *device, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_sim_home(tensor);

    return home == NULL || home->buft == &device->buft ||
           ggml_backend_buft_is_host(home->buft);
}

static bool
has_type(const struct gb_sim_device *device, enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT &&
           !device->config.without_type[type];
}

static bool
has_types(const struct gb_sim_device *device, const struct ggml_tensor *op)
{
    if (!has_type(device, op->type))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] != NULL && !has_type(device, op->src[i]->type))
            return false;
    }
    return true;
}

/* What lies in the device's memory lies in the shadow then. */
static struct ggml_tensor
as_the_cpu_sees(const struct ggml_tensor *tensor)
{
    char *const shadow = gb_sim_shadow(NULL, tensor);
    struct ggml_tensor copy = *tensor;

    copy.buffer = NULL;
    copy.view_src = NULL;
    if (shadow != NULL) {
        copy.buffer = gb_sim_inside(tensor);
        copy.data = shadow;
    }
    return copy;
}

/* As the CPU can, if everything lay in memory of the host. */
static bool
has_kernel(const struct ggml_tensor *op)
{
    ggml_backend_dev_t cpu =
        ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
    struct ggml_tensor sources[GGML_MAX_SRC];
    struct ggml_tensor copy = as_the_cpu_sees(op);

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] == NULL)
            continue;
        sources[i] = as_the_cpu_sees(op->src[i]);
        copy.src[i] = &sources[i];
    }
    return ggml_backend_dev_supports_op(cpu, &copy);
}

static bool
dev_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    struct gb_sim_device *device = gb_sim_device_of(dev);

    if (!gb_sim_computes(op->op))
        return true;
    if ((unsigned)op->op >= GGML_OP_COUNT || is_host_op(op->op) ||
        device->config.without_op[op->op] ||
        !has_types(device, op))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        if (op->src[i] != NULL && !is_within_reach(device, op->src[i]))
            return false;
    }
    return has_kernel(op);
}

static bool
dev_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    return buft == &gb_sim_device_of(dev)->buft;
}

/* Rows that the operation works on with the same weights. */
static int64_t
batch_of(const struct ggml_tensor *op)
{
    switch ((int)op->op) {
    case GGML_OP_GET_ROWS:
        return 0;
    case GGML_OP_MUL_MAT:
        return op->ne[1];
    case GGML_OP_MUL_MAT_ID:
    case GGML_OP_ROPE:
    case GGML_OP_ROPE_BACK:
        return op->ne[2];
    }
    return ggml_nrows(op);
}

static bool
dev_offload_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    const int64_t least = gb_sim_device_of(dev)->config.offload_min;

    return least > 0 && batch_of(op) >= least;
}

void
gb_sim_device_init(struct gb_sim_device *device)
{
    struct ggml_backend_device_i *iface = &device->handle.iface;

    *iface = (struct ggml_backend_device_i){
        .get_name = dev_get_name,
        .get_description = dev_get_description,
        .get_memory = dev_get_memory,
        .get_type = dev_get_type,
        .get_props = dev_get_props,
        .init_backend = dev_init_backend,
        .get_buffer_type = dev_get_buffer_type,
        .supports_op = dev_supports_op,
        .supports_buft = dev_supports_buft,
    };
    if (!gb_sim_lacks(device, GB_SIM_HOST_BUFFER))
        iface->get_host_buffer_type = dev_get_host_buffer_type;
    if (!gb_sim_lacks(device, GB_SIM_FROM_HOST_PTR))
        iface->buffer_from_host_ptr = gb_sim_buffer_from_host_ptr;
    if (!gb_sim_lacks(device, GB_SIM_OFFLOAD_OP))
        iface->offload_op = dev_offload_op;
    if (!gb_sim_lacks(device, GB_SIM_EVENTS)) {
        iface->event_new = gb_sim_event_new;
        iface->event_free = gb_sim_event_free;
        iface->event_synchronize = gb_sim_event_synchronize;
    }
    gb_sim_buffer_types_init(device);
}
