/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2023.c - a backend of 2023 as a registration with one device.
 */
#include "config.h"

#include "lib/levels/level-2023.h"

#include "lib/backend/members.h"
#include "lib/base/lock.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/levels/forms.h"
#include "lib/op/op.h"

#include <stdio.h>
#include <string.h>

/* False without memory. */
static bool
init_lock(struct gb_2023_device *dev)
{
    pthread_mutexattr_t attributes;
    bool is_done;

    if (pthread_mutexattr_init(&attributes) != 0)
        return false;
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    is_done = pthread_mutex_init(&dev->lock, &attributes) == 0;
    pthread_mutexattr_destroy(&attributes);
    atomic_store_explicit(&dev->n_forks, gb_fork_count(), memory_order_release);
    return is_done;
}

/*
 * A fork does not wait for what a backend computes.  So in a child the lock may
 * be held by a thread that is not there, and is made anew.
 */
void
gb_2023_lock(struct gb_2023_device *dev)
{
    const unsigned n_forks = gb_fork_count();

    if (atomic_load_explicit(&dev->n_forks, memory_order_acquire) != n_forks) {
        gb_lock(GB_LOCK_LEVELS);
        if (atomic_load_explicit(&dev->n_forks, memory_order_relaxed) !=
            n_forks)
            init_lock(dev);
        gb_unlock(GB_LOCK_LEVELS);
    }
    pthread_mutex_lock(&dev->lock);
}

static struct gb_2023_device *
device_of(ggml_backend_dev_t device)
{
    return device->context;
}

static const char *
device_get_name(ggml_backend_dev_t device)
{
    return device_of(device)->name;
}

static const char *
device_get_description(ggml_backend_dev_t device)
{
    return device_of(device)->description;
}

static void
device_get_memory(ggml_backend_dev_t device, size_t *free, size_t *total)
{
    struct gb_2023_device *dev = device_of(device);

    *free = 0;
    *total = 0;
    if (dev->about.get_memory != NULL) {
        gb_2023_lock(dev);
        dev->about.get_memory(free, total);
        gb_2023_unlock(dev);
    }
}

static enum ggml_backend_dev_type
device_get_type(ggml_backend_dev_t device)
{
    static const enum ggml_backend_dev_type types[] = {
        [GGMLBACKEND_2023_GPU] = GGML_BACKEND_DEVICE_TYPE_GPU,
        [GGMLBACKEND_2023_ACCEL] = GGML_BACKEND_DEVICE_TYPE_ACCEL,
        [GGMLBACKEND_2023_CPU] = GGML_BACKEND_DEVICE_TYPE_CPU,
    };

    return types[device_of(device)->about.kind];
}

static void
device_get_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props)
{
    props->name = device_get_name(device);
    props->description = device_get_description(device);
    props->type = device_get_type(device);
    device_get_memory(device, &props->memory_free, &props->memory_total);
}

static ggml_backend_buffer_type_t
device_get_buffer_type(ggml_backend_dev_t device)
{
    return &device_of(device)->buft;
}

static bool
op_is_listed(const struct gb_2023_device *dev, enum ggml_op op)
{
    for (size_t i = 0; i < dev->about.n_ops; i++)
        if (dev->ops[i] == op)
            return true;
    return false;
}

/* What the backend itself says, of the node as it would get it. */
static bool
backend_supports_op(struct gb_2023_device *dev, const struct ggml_tensor *op)
{
    struct ggml_tensor node = *op;
    bool answer;

    gb_form_to_2023(&node);
    gb_2023_lock(dev);
    answer = dev->resident->iface.supports_op(dev->resident, &node);
    gb_2023_unlock(dev);
    return answer;
}

/* Whoever answers knows names; whether a name means the same is known here. */
static bool
device_supports_op(ggml_backend_dev_t device, const struct ggml_tensor *op)
{
    struct gb_2023_device *dev = device_of(device);

    if (!gb_op_has_work(op->op))
        return true;
    if (!gb_form_is_of_2023(op))
        return false;
    if (dev->resident->iface.supports_op != NULL)
        return backend_supports_op(dev, op);
    return dev->ops == NULL || op_is_listed(dev, op->op);
}

static bool
device_supports_buft(
    ggml_backend_dev_t device, ggml_backend_buffer_type_t buft)
{
    const struct gb_2023_device *dev = device_of(device);

    return buft == &dev->buft ||
           (dev->about.is_host && ggml_backend_buft_is_host(buft));
}

static const struct ggml_backend_device_i device_members = {
    .get_name = device_get_name,
    .get_description = device_get_description,
    .get_memory = device_get_memory,
    .get_type = device_get_type,
    .get_props = device_get_props,
    .init_backend = gb_2023_stream_new,
    .get_buffer_type = device_get_buffer_type,
    .supports_op = device_supports_op,
    .supports_buft = device_supports_buft,
};

static const char *
reg_get_name(ggml_backend_reg_t reg)
{
    const struct gb_2023_device *dev = reg->context;

    return dev->name;
}

static size_t
reg_get_device_count(ggml_backend_reg_t reg)
{
    (void)reg;
    return 1;
}

static ggml_backend_dev_t
reg_get_device(ggml_backend_reg_t reg, size_t index)
{
    struct gb_2023_device *dev = reg->context;

    (void)index;
    return &dev->device;
}

static const struct ggml_backend_reg_i reg_members = {
    .get_name = reg_get_name,
    .get_device_count = reg_get_device_count,
    .get_device = reg_get_device,
};

static const struct gb_member backend_list[] = {
    GB_MEMBER(gb_2023_backend_i, get_name),
    GB_MEMBER(gb_2023_backend_i, free),
    GB_MEMBER(gb_2023_backend_i, alloc_buffer),
    GB_MEMBER(gb_2023_backend_i, get_alignment),
    GB_MEMBER(gb_2023_backend_i, set_tensor_async),
    GB_MEMBER(gb_2023_backend_i, get_tensor_async),
    GB_MEMBER(gb_2023_backend_i, synchronize),
    GB_MEMBER(gb_2023_backend_i, graph_compute),
    /* Of a backend that has plans. */
    GB_MEMBER(gb_2023_backend_i, graph_plan_create),
    GB_MEMBER(gb_2023_backend_i, graph_plan_free),
    GB_MEMBER(gb_2023_backend_i, graph_plan_compute),
};

enum {
    N_MEMBERS = sizeof(backend_list) / sizeof(backend_list[0]),
    N_PLAN_MEMBERS = 3
};

enum ggml_status
gb_2023_check_backend(
    const struct gb_2023_backend *backend, const struct ggmlbackend_2023 *about,
    const char *name)
{
    const struct gb_members members = {
        backend_list, about->has_plans ? N_MEMBERS : N_MEMBERS - N_PLAN_MEMBERS
    };
    const char *missing;

    if (backend == NULL)
        return gb_fail(GGML_STATUS_FAILED, "%s: its init gave no backend",
                       name);
    missing = gb_missing_member(&members, &backend->iface);
    if (missing != NULL)
        return gb_fail(GGML_STATUS_FAILED, "%s: its backend has no %s", name,
                       missing);
    return GGML_STATUS_SUCCESS;
}

/* Two sums over the name, by the rule of Fowler, Noll and Vo (FNV-1a). */
static void
make_guid(ggml_guid guid, const char *name)
{
    for (int half = 0; half < 2; half++) {
        uint64_t sum = 0xcbf29ce484222325u + (uint64_t)half;

        for (const char *c = name; *c != '\0'; c++)
            sum = (sum ^ (unsigned char)*c) * 0x100000001b3u;
        memcpy(guid + 8 * half, &sum, sizeof(sum));
    }
}

static bool
name_is_taken(const char *name)
{
    return ggml_backend_dev_by_name(name) != NULL ||
           ggml_backend_reg_by_name(name) != NULL;
}

/* NAME, with the smallest number behind it that makes it one of its own. */
static char *
unique_name(const char *name)
{
    const size_t size = strlen(name) + 12;
    char *unique = gb_mem_alloc(size);

    if (unique == NULL)
        return NULL;
    snprintf(unique, size, "%s", name);
    for (unsigned i = 1; name_is_taken(unique); i++)
        snprintf(unique, size, "%s%u", name, i);
    return unique;
}

/* What the registration says is kept, and what it leaves open is asked for. */
static enum ggml_status
describe(struct gb_2023_device *dev, const struct ggmlbackend_2023 *about,
         const char *name)
{
    const size_t alignment = dev->resident->iface.get_alignment(dev->resident);

    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return gb_fail(GGML_STATUS_FAILED,
                       "%s: its alignment, %zu, is no power of two", name,
                       alignment);
    dev->alignment = alignment;
    if (about->guid != NULL)
        memcpy(dev->guid, about->guid, sizeof(dev->guid));
    else
        make_guid(dev->guid, name);

    dev->name = unique_name(name);
    dev->description =
        gb_mem_strdup(about->description != NULL ? about->description : name);
    if (about->ops != NULL) {
        dev->ops = gb_mem_zalloc(about->n_ops + 1, sizeof(*dev->ops));
        if (dev->ops != NULL && about->n_ops > 0)
            memcpy(dev->ops, about->ops, about->n_ops * sizeof(*dev->ops));
    }
    if (dev->name == NULL || dev->description == NULL ||
        (about->ops != NULL && dev->ops == NULL))
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a device",
                       name);
    return GGML_STATUS_SUCCESS;
}

/* NULL without memory. */
static struct gb_2023_device *
device_new(const struct ggmlbackend_2023 *about,
           struct gb_2023_backend *resident)
{
    struct gb_2023_device *dev = gb_mem_zalloc(1, sizeof(*dev));

    if (dev == NULL)
        return NULL;
    if (!init_lock(dev)) {
        gb_mem_free(dev);
        return NULL;
    }
    dev->about = *about;
    dev->resident = resident;
    dev->reg.api_version = GGML_BACKEND_API_VERSION;
    dev->reg.iface = reg_members;
    dev->reg.context = dev;
    dev->device.iface = device_members;
    dev->device.reg = &dev->reg;
    dev->device.context = dev;
    dev->buft.iface = gb_2023_buffer_type_members;
    dev->buft.device = &dev->device;
    dev->buft.context = dev;
    return dev;
}

/* The resident is not the device's to free. */
static void
device_free(struct gb_2023_device *dev)
{
    pthread_mutex_destroy(&dev->lock);
    gb_mem_free(dev->name);
    gb_mem_free(dev->description);
    gb_mem_free(dev->ops);
    gb_mem_free(dev);
}

/* A device over RESIDENT, in the registry; NULL with the reason. */
static struct gb_2023_device *
device_register(const struct ggmlbackend_2023 *about, const char *name,
                struct gb_2023_backend *resident)
{
    struct gb_2023_device *dev = device_new(about, resident);

    if (dev == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a device", name);
        return NULL;
    }
    if (describe(dev, about, name) != GGML_STATUS_SUCCESS) {
        device_free(dev);
        return NULL;
    }
    ggml_backend_register(&dev->reg);
    if (ggml_backend_reg_by_name(dev->name) != &dev->reg) {
        device_free(dev);
        return NULL;
    }
    return dev;
}

struct ggml_backend_reg *
ggmlbackend_register_2023(const struct ggmlbackend_2023 *backend)
{
    struct gb_2023_device *dev = NULL;
    struct gb_2023_backend *resident;
    const char *name;

    GB_NEED_OR(NULL, backend != NULL, "backend of 2023: none given");
    name = backend->name != NULL ? backend->name : "backend of 2023";
    GB_NEED_OR(NULL, backend->init != NULL, "%s: no init", name);
    GB_NEED_OR(NULL, (unsigned)backend->kind <= GGMLBACKEND_2023_CPU,
               "%s: no such kind of device: %d", name, (int)backend->kind);
    GB_NEED_OR(NULL, backend->kind != GGMLBACKEND_2023_CPU || backend->is_host,
               "%s: a CPU's memory is the host's", name);

    resident = (struct gb_2023_backend *)backend->init();
    if (gb_2023_check_backend(resident, backend, name) == GGML_STATUS_SUCCESS) {
        if (backend->name == NULL)
            name = resident->iface.get_name(resident);
        if (name != NULL)
            dev = device_register(backend, name, resident);
        else
            gb_fail(GGML_STATUS_FAILED, "backend of 2023: it has no name");
    }
    if (dev == NULL && resident != NULL && resident->iface.free != NULL)
        resident->iface.free(resident);
    return dev != NULL ? &dev->reg : NULL;
}
