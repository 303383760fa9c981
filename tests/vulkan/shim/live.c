/* SPDX-License-Identifier: MIT */
/*
 * vulkan/shim/live.c - objects that are there, and which device a queue has.
 *
 * Counts say what a program forgot to destroy; memory is remembered one by one,
 * for its bytes.
 */
#include "tests/vulkan/shim/live.h"

#include "tests/vulkan/shim/control.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kind_names[SHIM_KINDS] = {
    [SHIM_INSTANCE] = "instance",
    [SHIM_MESSENGER] = "messenger",
    [SHIM_DEVICE] = "device",
    [SHIM_BUFFER] = "buffer",
    [SHIM_COMMAND_POOL] = "command pool",
    [SHIM_DESCRIPTOR_POOL] = "descriptor pool",
    [SHIM_FENCE] = "fence",
    [SHIM_MEMORY] = "memory",
    [SHIM_PIPELINE] = "pipeline",
    [SHIM_PIPELINE_CACHE] = "pipeline cache",
    [SHIM_PIPELINE_LAYOUT] = "pipeline layout",
    [SHIM_QUERY_POOL] = "query pool",
    [SHIM_SEMAPHORE] = "semaphore",
    [SHIM_SET_LAYOUT] = "set layout",
    [SHIM_SHADER_MODULE] = "shader module",
};

enum { MAX_DEVICES = 16, MAX_QUEUES = 8 };

struct device {
    VkDevice handle;
    VkQueue queues[MAX_QUEUES];
    int n_queues;
    bool is_lost;
};

struct memory {
    uint64_t handle, bytes;
    uint32_t type;
    struct memory *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t counts[SHIM_KINDS];
static struct device devices[MAX_DEVICES];
static struct memory *memories;
static uint64_t bytes_there;
static atomic_uint_least64_t n_reports, n_lost;

/* ---- devices ---- */

static struct device *
find_device(const void *owner)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (devices[i].handle != NULL && devices[i].handle == owner)
            return &devices[i];
        for (int q = 0; q < devices[i].n_queues; q++)
            if (devices[i].queues[q] == owner)
                return &devices[i];
    }
    return NULL;
}

/* A driver may give the address of an old device to a new one. */
static void
add_device(uint64_t handle)
{
    for (int i = 0; i < MAX_DEVICES; i++) {
        if (devices[i].handle != NULL)
            continue;
        devices[i] = (struct device){ .handle = (VkDevice)(uintptr_t)handle };
        return;
    }
}

static void
drop_device(uint64_t handle)
{
    struct device *device = find_device((const void *)(uintptr_t)handle);

    if (device == NULL)
        return;
    if (device->is_lost)
        atomic_fetch_sub(&n_lost, 1);
    memset(device, 0, sizeof(*device));
}

void
shim_has_queue(VkDevice handle, VkQueue queue)
{
    struct device *device;

    pthread_mutex_lock(&lock);
    device = find_device(handle);
    if (device != NULL && device->n_queues < MAX_QUEUES)
        device->queues[device->n_queues++] = queue;
    pthread_mutex_unlock(&lock);
}

void
shim_lost(const void *owner)
{
    struct device *device;

    pthread_mutex_lock(&lock);
    device = find_device(owner);
    if (device != NULL && !device->is_lost) {
        device->is_lost = true;
        atomic_fetch_add(&n_lost, 1);
    }
    pthread_mutex_unlock(&lock);
}

bool
shim_is_lost(const void *owner)
{
    const struct device *device;
    bool is_lost;

    if (atomic_load_explicit(&n_lost, memory_order_relaxed) == 0)
        return false;
    pthread_mutex_lock(&lock);
    device = find_device(owner);
    is_lost = device != NULL && device->is_lost;
    pthread_mutex_unlock(&lock);
    return is_lost;
}

/* ---- memory ---- */

void
shim_has_bytes(uint64_t handle, uint64_t bytes, uint32_t type)
{
    struct memory *memory = malloc(sizeof(*memory));

    if (memory == NULL)
        return;
    pthread_mutex_lock(&lock);
    *memory = (struct memory){ handle, bytes, type, memories };
    memories = memory;
    bytes_there += bytes;
    pthread_mutex_unlock(&lock);
}

uint32_t
shim_type_of(uint64_t handle)
{
    const struct memory *memory;
    uint32_t type;

    pthread_mutex_lock(&lock);
    memory = memories;
    while (memory != NULL && memory->handle != handle)
        memory = memory->next;
    type = memory != NULL ? memory->type : UINT32_MAX;
    pthread_mutex_unlock(&lock);
    return type;
}

uint64_t
shim_bytes_of(uint32_t type)
{
    uint64_t bytes = 0;

    pthread_mutex_lock(&lock);
    for (const struct memory *memory = memories; memory != NULL;
         memory = memory->next)
        bytes += memory->type == type ? memory->bytes : 0;
    pthread_mutex_unlock(&lock);
    return bytes;
}

static void
drop_memory(uint64_t handle)
{
    for (struct memory **at = &memories; *at != NULL; at = &(*at)->next) {
        struct memory *memory = *at;

        if (memory->handle != handle)
            continue;
        bytes_there -= memory->bytes;
        *at = memory->next;
        free(memory);
        return;
    }
}

/* ---- objects ---- */

void
shim_made(enum shim_kind kind, uint64_t handle)
{
    if (handle == 0)
        return;
    pthread_mutex_lock(&lock);
    counts[kind]++;
    if (kind == SHIM_DEVICE)
        add_device(handle);
    pthread_mutex_unlock(&lock);
}

void
shim_dropped(enum shim_kind kind, uint64_t handle)
{
    if (handle == 0)
        return;
    pthread_mutex_lock(&lock);
    if (--counts[kind] < 0)
        shim_report("more was destroyed than made");
    if (kind == SHIM_DEVICE)
        drop_device(handle);
    if (kind == SHIM_MEMORY)
        drop_memory(handle);
    pthread_mutex_unlock(&lock);
}

/* ---- what tests ask ---- */

uint64_t
shim_live(void)
{
    uint64_t sum = 0;

    pthread_mutex_lock(&lock);
    for (int i = SHIM_DEVICE; i < SHIM_KINDS; i++)
        sum += (uint64_t)counts[i];
    pthread_mutex_unlock(&lock);
    return sum;
}

uint64_t
shim_bytes(void)
{
    uint64_t bytes;

    pthread_mutex_lock(&lock);
    bytes = bytes_there;
    pthread_mutex_unlock(&lock);
    return bytes;
}

void
shim_describe(char *text, size_t size)
{
    size_t at = 0;

    snprintf(text, size, "nothing");
    pthread_mutex_lock(&lock);
    for (int i = SHIM_DEVICE; i < SHIM_KINDS; i++)
        if (counts[i] != 0 && at < size)
            at += (size_t)snprintf(text + at, size - at, "%s%d %s",
                                   at > 0 ? ", " : "", (int)counts[i],
                                   kind_names[i]);
    pthread_mutex_unlock(&lock);
}

void
shim_report(const char *what)
{
    fprintf(stderr, "vulkan shim: %s\n", what);
    atomic_fetch_add(&n_reports, 1);
}

uint64_t
shim_reports(void)
{
    return atomic_load(&n_reports);
}
