/* SPDX-License-Identifier: MIT */
/*
 * sim/buffer.c - memory of the device, and pinned memory of the host.
 *
 * A buffer's addresses come from a range that is reserved and cannot be
 * touched.  The data lies in a second range, the shadow, which ends where its
 * page ends, with a page that cannot be touched behind it; both are as far
 * from the beginning of a page.  Memory that was never written reads as NaN.
 */
#include "backends/sim/state.h"

#include "backends/sim/queue.h"

#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct sim_buffer {
    struct gb_sim_device *device;
    char *base;      /* what the host knows */
    char *shadow;    /* where the data is */
    size_t size;
    char *reserved;  /* pages of the base; NULL for memory of the host */
    char *mapped;    /* pages of the shadow */
    size_t n_mapped; /* bytes of either */
    struct ggml_backend_buffer inside; /* the shadow as memory of the CPU */
};

/* ---- pages ---- */

/* Pages for SIZE bytes, with one behind them that cannot be touched. */
static bool
map_pages(struct sim_buffer *sim, size_t size, size_t alignment)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t in_use = (size + page - 1) / page * page;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    size_t start;

    sim->n_mapped = in_use + page;
    sim->reserved = mmap(NULL, sim->n_mapped, PROT_NONE, flags, -1, 0);
    if (sim->reserved == MAP_FAILED)
        return false;
    sim->mapped = mmap(NULL, sim->n_mapped, PROT_NONE, flags, -1, 0);
    if (sim->mapped == MAP_FAILED)
        goto unmap_reserved;
    if (mprotect(sim->mapped, in_use, PROT_READ | PROT_WRITE) != 0)
        goto unmap_shadow;

    /* As near to the end as the alignment lets it be. */
    start = (in_use - size) / alignment * alignment;
    sim->base = sim->reserved + start;
    sim->shadow = sim->mapped + start;
    memset(sim->shadow, 0xff, size);
    return true;

unmap_shadow:
    munmap(sim->mapped, sim->n_mapped);
unmap_reserved:
    munmap(sim->reserved, sim->n_mapped);
    return false;
}

static void
unmap_pages(const struct sim_buffer *sim)
{
    munmap(sim->mapped, sim->n_mapped);
    munmap(sim->reserved, sim->n_mapped);
}

static bool
page_fits(size_t size, size_t alignment)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    return alignment <= page && size <= SIZE_MAX / 2 - 2 * page;
}

/* ---- members of buffers ---- */

static void
buffer_free_buffer(ggml_backend_buffer_t buffer)
{
    struct sim_buffer *sim = buffer->context;
    struct gb_sim_counters *counters = &sim->device->counters;

    /* As device memory is freed: when nobody can use it any more. */
    if (gb_sim_drain())
        gb_sim_add(&counters->freed_busy, 1);
    gb_sim_add(&counters->buffers, -1);
    if (sim->reserved != NULL) {
        gb_sim_add(&counters->bytes, -(int64_t)sim->size);
        unmap_pages(sim);
    }
    free(sim);
}

static void *
buffer_get_base(ggml_backend_buffer_t buffer)
{
    const struct sim_buffer *sim = buffer->context;

    return sim->base;
}

static enum ggml_status
buffer_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    const struct sim_buffer *sim = buffer->context;
    const size_t offset = (size_t)((char *)tensor->data - sim->base);

    gb_sim_add(&sim->device->counters.init_tensor, 1);
    if (offset > sim->size || ggml_nbytes(tensor) > sim->size - offset)
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: tensor %s lies beside its buffer",
                                sim->device->name, tensor->name);
    return GGML_STATUS_SUCCESS;
}

/* Count a copy, and say that TENSOR could not be reached if it fails. */
static bool
begin_copy(const struct sim_buffer *sim, uint64_t *counter,
           const struct ggml_tensor *tensor)
{
    if (gb_sim_begin(sim->device, GB_SIM_FAULT_COPY, counter))
        return true;
    ggmlbackend_fail(GGML_STATUS_FAILED, "%s: tensor %s cannot be reached",
                     sim->device->name, tensor->name);
    return false;
}

static void
buffer_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    struct sim_buffer *sim = buffer->context;

    if (begin_copy(sim, &sim->device->counters.fill, tensor))
        memset(gb_sim_shadow(NULL, tensor) + offset, value, size);
}

static void
buffer_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct sim_buffer *sim = buffer->context;

    if (begin_copy(sim, &sim->device->counters.set, tensor))
        memcpy(gb_sim_shadow(NULL, tensor) + offset, data, size);
}

static void
buffer_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct sim_buffer *sim = buffer->context;

    if (begin_copy(sim, &sim->device->counters.get, tensor))
        memcpy(data, gb_sim_shadow(NULL, tensor) + offset, size);
}

/* From device to device.  The core knows another way where that fails. */
static bool
buffer_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    struct sim_buffer *sim = buffer->context;
    const char *from = gb_sim_shadow(NULL, src);

    if (from == NULL || gb_sim_is_lost(gb_sim_home(src)->buft->context) ||
        !gb_sim_begin(sim->device, GB_SIM_FAULT_COPY,
                      &sim->device->counters.copy))
        return false;
    memmove(gb_sim_shadow(NULL, dst), from, ggml_nbytes(src));
    return true;
}

static void
buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    struct sim_buffer *sim = buffer->context;

    if (gb_sim_begin(sim->device, GB_SIM_FAULT_COPY,
                     &sim->device->counters.clear))
        memset(sim->shadow, value, sim->size);
    else
        ggmlbackend_fail(GGML_STATUS_FAILED, "%s: a buffer cannot be reached",
                         sim->device->name);
}

static void
buffer_reset(ggml_backend_buffer_t buffer)
{
    struct sim_buffer *sim = buffer->context;

    gb_sim_add(&sim->device->counters.reset, 1);
}

static struct ggml_backend_buffer_i
buffer_members(const struct gb_sim_device *device)
{
    struct ggml_backend_buffer_i members = {
        .free_buffer = buffer_free_buffer,
        .get_base = buffer_get_base,
        .init_tensor = buffer_init_tensor,
        .memset_tensor = buffer_memset_tensor,
        .set_tensor = buffer_set_tensor,
        .get_tensor = buffer_get_tensor,
        .cpy_tensor = buffer_cpy_tensor,
        .clear = buffer_clear,
        .reset = buffer_reset,
    };

    if (gb_sim_lacks(device, GB_SIM_INIT_TENSOR))
        members.init_tensor = NULL;
    if (gb_sim_lacks(device, GB_SIM_MEMSET_TENSOR))
        members.memset_tensor = NULL;
    if (gb_sim_lacks(device, GB_SIM_CPY_TENSOR))
        members.cpy_tensor = NULL;
    if (gb_sim_lacks(device, GB_SIM_RESET))
        members.reset = NULL;
    return members;
}

char *
gb_sim_shadow(
    const struct gb_sim_device *device, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t buffer = gb_sim_home(tensor);
    const struct sim_buffer *sim;

    if (buffer == NULL || buffer->iface.free_buffer != buffer_free_buffer)
        return NULL;
    sim = buffer->context;
    if ((device != NULL && sim->device != device) || tensor->data == NULL)
        return NULL;
    return sim->shadow + ((char *)tensor->data - sim->base);
}

static void *
inside_get_base(ggml_backend_buffer_t buffer)
{
    const struct sim_buffer *sim = buffer->context;

    return sim->shadow;
}

ggml_backend_buffer_t
gb_sim_inside(const struct ggml_tensor *tensor)
{
    struct sim_buffer *sim = gb_sim_home(tensor)->context;

    return &sim->inside;
}

/* ---- buffers ---- */

/* A buffer over what SIM describes, which it owns then. */
static ggml_backend_buffer_t
buffer_over(struct sim_buffer *sim, ggml_backend_buffer_type_t buft)
{
    ggml_backend_buffer_t buffer = ggml_backend_buffer_init(
        buft, buffer_members(sim->device), sim, sim->size);

    sim->inside = (struct ggml_backend_buffer){
        .iface.get_base = inside_get_base,
        .buft = ggml_backend_cpu_buffer_type(),
        .context = sim,
        .size = sim->size,
    };
    if (buffer != NULL)
        gb_sim_add(&sim->device->counters.buffers, 1);
    return buffer;
}

/* Is there so much left?  It is taken then. */
static bool
take_bytes(struct gb_sim_device *device, size_t size)
{
    const struct gb_sim_config *config = &device->config;
    bool is_there;

    gb_sim_lock();
    is_there = size <= config->max_buffer &&
               device->counters.bytes <= config->memory &&
               size <= config->memory - device->counters.bytes;
    if (is_there)
        device->counters.bytes += size;
    gb_sim_unlock();
    return is_there;
}

static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_sim_device *device = buft->context;
    const size_t alignment = device->config.alignment;
    ggml_backend_buffer_t buffer;
    struct sim_buffer *sim;

    if (!gb_sim_begin(device, GB_SIM_FAULT_ALLOC, &device->counters.alloc) ||
        !page_fits(size, alignment) || !take_bytes(device, size))
        return NULL;
    sim = gb_sim_alloc(device, sizeof(*sim));
    if (sim == NULL)
        goto give_bytes;
    sim->device = device;
    sim->size = size;
    if (!map_pages(sim, size, alignment))
        goto free_sim;
    buffer = buffer_over(sim, buft);
    if (buffer != NULL)
        return buffer;

    unmap_pages(sim);
free_sim:
    free(sim);
give_bytes:
    gb_sim_add(&device->counters.bytes, -(int64_t)size);
    return NULL;
}

ggml_backend_buffer_t
gb_sim_buffer_from_host_ptr(
    ggml_backend_dev_t dev, void *ptr, size_t size, size_t max_tensor_size)
{
    struct gb_sim_device *device = gb_sim_device_of(dev);
    ggml_backend_buffer_t buffer;
    struct sim_buffer *sim;

    (void)max_tensor_size;
    sim = gb_sim_alloc(device, sizeof(*sim));
    if (sim == NULL)
        return NULL;
    sim->device = device;
    sim->size = size;
    sim->base = ptr;
    sim->shadow = ptr;
    buffer = buffer_over(sim, &device->buft);
    if (buffer == NULL)
        free(sim);
    return buffer;
}

/* ---- types of memory ---- */

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct gb_sim_device *device = buft->context;

    return device->name;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    const struct gb_sim_device *device = buft->context;

    return device->config.alignment;
}

static size_t
type_get_max_size(ggml_backend_buffer_type_t buft)
{
    const struct gb_sim_device *device = buft->context;

    return device->config.max_buffer;
}

static size_t
type_get_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    const struct gb_sim_device *device = buft->context;

    return ggml_nbytes(tensor) + device->config.padding;
}

static bool
type_is_host(ggml_backend_buffer_type_t buft)
{
    const struct gb_sim_device *device = buft->context;

    return buft == &device->host_buft;
}

/* ---- pinned memory ---- */

static const char *
host_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "Sim_Host";
}

static void
host_free_buffer(ggml_backend_buffer_t buffer)
{
    struct gb_sim_device *device = buffer->buft->context;

    if (gb_sim_drain())
        gb_sim_add(&device->counters.freed_busy, 1);
    gb_sim_add(&device->counters.buffers, -1);
    free(buffer->context);
}

/* The core's buffer over memory of ours, which we free. */
static ggml_backend_buffer_t
host_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_sim_device *device = buft->context;
    const size_t alignment = ggml_backend_buft_get_alignment(buft);
    ggml_backend_buffer_t buffer;
    void *data;

    if (!gb_sim_begin(device, GB_SIM_FAULT_ALLOC, &device->counters.alloc) ||
        posix_memalign(&data, alignment, size) != 0)
        return NULL;
    buffer = ggml_backend_cpu_buffer_from_ptr(data, size);
    if (buffer == NULL) {
        free(data);
        return NULL;
    }
    buffer->buft = buft;
    buffer->iface.free_buffer = host_free_buffer;
    gb_sim_add(&device->counters.buffers, 1);
    return buffer;
}

static size_t
host_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return 64;
}

void
gb_sim_buffer_types_init(struct gb_sim_device *device)
{
    device->buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = type_get_name,
            .alloc_buffer = type_alloc_buffer,
            .get_alignment = type_get_alignment,
            .get_max_size = gb_sim_lacks(device, GB_SIM_MAX_SIZE)
                                ? NULL : type_get_max_size,
            .get_alloc_size = gb_sim_lacks(device, GB_SIM_ALLOC_SIZE)
                                  ? NULL : type_get_alloc_size,
            .is_host = gb_sim_lacks(device, GB_SIM_IS_HOST)
                           ? NULL : type_is_host,
        },
        .device = &device->handle,
        .context = device,
    };
    device->host_buft = (struct ggml_backend_buffer_type){
        .iface = {
            .get_name = host_get_name,
            .alloc_buffer = host_alloc_buffer,
            .get_alignment = host_get_alignment,
            .is_host = type_is_host,
        },
        .device = &device->handle,
        .context = device,
    };
}
