/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2023-buffer.c - memory of backends of 2023.
 *
 * Such memory is reached by asynchronous transfers of the backend that owns it,
 * and waiting for them.  It may begin anywhere, so a little more is asked for
 * and the base is rounded up.
 */
#include "config.h"

#include "lib/levels/level-2023.h"

#include "lib/backend/buffer.h"
#include "lib/backend/transfer.h"
#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

_Static_assert(sizeof(struct gb_2023_buffer) <=
                   sizeof(struct ggml_backend_buffer) + GB_BUFFER_ROOM,
               "what a buffer of 2023 has besides fits behind the core's");

/* What the adapter knows of a buffer; its context in the core. */
struct memory {
    struct gb_2023_device *dev;
    void *base; /* aligned */
    /* For free_tensor: descriptions, since the tensors may be gone by then. */
    struct ggml_tensor *tensors;
    size_t n_tensors;
    size_t max_tensors;
};

static struct gb_2023_buffer *
old_face(ggml_backend_buffer_t buffer)
{
    return (struct gb_2023_buffer *)buffer;
}

/* Tell the backend that all tensors have lost their places. */
static void
forget_tensors(struct gb_2023_buffer *buffer, struct memory *memory)
{
    for (size_t i = 0; i < memory->n_tensors; i++)
        buffer->iface.free_tensor(buffer, &memory->tensors[i]);
    memory->n_tensors = 0;
}

/* Also of buffers that a backend made for itself, which have no context. */
static void
free_buffer(ggml_backend_buffer_t core)
{
    struct gb_2023_buffer *buffer = old_face(core);
    struct memory *memory = core->context;

    if (memory == NULL) {
        if (buffer->iface.free_buffer != NULL)
            buffer->iface.free_buffer(buffer);
        return;
    }
    gb_2023_lock(memory->dev);
    forget_tensors(buffer, memory);
    if (buffer->iface.free_buffer != NULL)
        buffer->iface.free_buffer(buffer);
    gb_2023_unlock(memory->dev);
    gb_mem_free(memory->tensors);
    gb_mem_free(memory);
}

static void *
get_base(ggml_backend_buffer_t core)
{
    const struct memory *memory = core->context;

    return memory->base;
}

/* Room for one more tensor to remember. */
static bool
make_room(struct memory *memory)
{
    struct ggml_tensor *tensors;
    size_t max_tensors;

    if (memory->n_tensors < memory->max_tensors)
        return true;
    max_tensors = memory->max_tensors > 0 ? memory->max_tensors : 8;
    if (!gb_mul_size(max_tensors, 2, &max_tensors))
        return false;
    tensors = gb_mem_realloc(memory->tensors, max_tensors, sizeof(*tensors));
    if (tensors == NULL)
        return false;
    memory->tensors = tensors;
    memory->max_tensors = max_tensors;
    return true;
}

static void
remember_tensor(struct memory *memory, const struct ggml_tensor *tensor)
{
    struct ggml_tensor *copy = &memory->tensors[memory->n_tensors++];

    *copy = *tensor;
    memset(copy->src, 0, sizeof(copy->src));
}

static enum ggml_status
init_tensor(ggml_backend_buffer_t core, struct ggml_tensor *tensor)
{
    struct gb_2023_buffer *buffer = old_face(core);
    struct memory *memory = core->context;
    const bool is_remembered =
        buffer->iface.free_tensor != NULL && tensor->view_src == NULL;
    const uint64_t n_failures = gb_failure_count();

    if (is_remembered && !make_room(memory))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "%s: no memory to remember tensor %s", memory->dev->name,
                       tensor->name);
    if (buffer->iface.init_tensor != NULL) {
        gb_2023_lock(memory->dev);
        buffer->iface.init_tensor(buffer, tensor);
        gb_2023_unlock(memory->dev);
    }
    if (is_remembered)
        remember_tensor(memory, tensor);
    return gb_status_since(n_failures);
}

static void
set_tensor(ggml_backend_buffer_t core, struct ggml_tensor *tensor,
           const void *data, size_t offset, size_t size)
{
    struct gb_2023_backend *backend = old_face(core)->backend;
    struct memory *memory = core->context;

    gb_2023_lock(memory->dev);
    backend->iface.set_tensor_async(backend, tensor, data, offset, size);
    backend->iface.synchronize(backend);
    gb_2023_unlock(memory->dev);
}

static void
get_tensor(ggml_backend_buffer_t core, const struct ggml_tensor *tensor,
           void *data, size_t offset, size_t size)
{
    struct gb_2023_backend *backend = old_face(core)->backend;
    struct memory *memory = core->context;

    gb_2023_lock(memory->dev);
    backend->iface.get_tensor_async(backend, tensor, data, offset, size);
    backend->iface.synchronize(backend);
    gb_2023_unlock(memory->dev);
}

/* No member fills, so the same block is sent as often as it takes. */
static void
memset_tensor(ggml_backend_buffer_t core, struct ggml_tensor *tensor,
              uint8_t value, size_t offset, size_t size)
{
    struct gb_2023_backend *backend = old_face(core)->backend;
    struct memory *memory = core->context;
    uint8_t block[16384];

    memset(block, value, sizeof(block));
    gb_2023_lock(memory->dev);
    for (size_t done = 0, n; done < size; done += n) {
        n = size - done < sizeof(block) ? size - done : sizeof(block);
        backend->iface.set_tensor_async(backend, tensor, block, offset + done,
                                        n);
    }
    backend->iface.synchronize(backend);
    gb_2023_unlock(memory->dev);
}

/* There is no access but to tensors, so one over the whole buffer is filled. */
static void
clear(ggml_backend_buffer_t core, uint8_t value)
{
    struct gb_2023_buffer *buffer = old_face(core);
    struct memory *memory = core->context;
    struct ggml_tensor all = {
        .type = GGML_TYPE_I8,
        .buffer = core,
        .ne = { (int64_t)core->size, 1, 1, 1 },
        .nb = { 1, core->size, core->size, core->size },
        .data = memory->base,
        .name = "all",
    };

    gb_2023_lock(memory->dev);
    if (buffer->iface.init_tensor != NULL)
        buffer->iface.init_tensor(buffer, &all);
    memset_tensor(core, &all, value, 0, core->size);
    if (buffer->iface.free_tensor != NULL)
        buffer->iface.free_tensor(buffer, &all);
    gb_2023_unlock(memory->dev);
}

static void
reset(ggml_backend_buffer_t core)
{
    struct memory *memory = core->context;

    gb_2023_lock(memory->dev);
    forget_tensors(old_face(core), memory);
    gb_2023_unlock(memory->dev);
}

/* A tensor in whose buffer the adapter knows what lies; NULL for another. */
static struct gb_2023_buffer *
old_home(const struct ggml_tensor *tensor)
{
    ggml_backend_buffer_t home = gb_transfer_home(tensor);

    return home->iface.free_buffer == free_buffer ? old_face(home) : NULL;
}

/*
 * The destination's backend is asked first, and then the source's.  The members
 * take a source that is not const, though they only read it.
 */
static bool
cpy_tensor(ggml_backend_buffer_t core, const struct ggml_tensor *src,
           struct ggml_tensor *dst)
{
    struct gb_2023_buffer *from = old_home(src);
    struct gb_2023_buffer *asked = old_face(core);
    void (*copy)(struct gb_2023_backend *, struct ggml_tensor *,
                 struct ggml_tensor *);
    struct memory *memory;

    if (from == NULL && !ggml_backend_buffer_is_host(gb_transfer_home(src)))
        return false;
    copy = asked->backend->iface.cpy_tensor_from;
    if (copy == NULL && from != NULL) {
        asked = from;
        copy = asked->backend->iface.cpy_tensor_to;
    }
    if (copy == NULL)
        return false;

    memory = asked->core.context;
    gb_2023_lock(memory->dev);
    copy(asked->backend, (struct ggml_tensor *)src, dst);
    asked->backend->iface.synchronize(asked->backend);
    gb_2023_unlock(memory->dev);
    return true;
}

static const struct ggml_backend_buffer_i buffer_members = {
    .free_buffer = free_buffer,
    .get_base = get_base,
    .init_tensor = init_tensor,
    .memset_tensor = memset_tensor,
    .set_tensor = set_tensor,
    .get_tensor = get_tensor,
    .cpy_tensor = cpy_tensor,
    .clear = clear,
    .reset = reset,
};

/* A backend may make buffers for itself: those can be freed, and no more. */
static const struct ggml_backend_buffer_i private_members = {
    .free_buffer = free_buffer,
};

ggml_backend_buffer_t
ggmlbackend_l202311_backend_buffer_init(
    struct gb_2023_backend *backend, struct gb_2023_buffer_i iface,
    void *context, size_t size)
{
    ggml_backend_buffer_t core =
        gb_buffer_new(NULL, private_members, NULL, size);

    if (core != NULL) {
        struct gb_2023_buffer *buffer = old_face(core);

        buffer->iface = iface;
        buffer->backend = backend;
        buffer->context = context;
        buffer->size = size;
    }
    return core;
}

/* The first aligned address with SIZE bytes behind it; NULL for none. */
static void *
find_base(struct gb_2023_buffer *buffer, size_t alignment, size_t size)
{
    char *base = buffer->iface.get_base != NULL ? buffer->iface.get_base(buffer)
                                                : NULL;
    const size_t past = (uintptr_t)base & (alignment - 1);
    const size_t gap = past > 0 ? alignment - past : 0;

    if (base == NULL || gap > buffer->size || buffer->size - gap < size)
        return NULL;
    return base + gap;
}

/* A buffer of the resident; the lock is held. */
static struct gb_2023_buffer *
buffer_new(struct gb_2023_device *dev, size_t size)
{
    struct gb_2023_buffer *buffer;
    struct memory *memory;
    size_t bytes;

    if (!gb_add_size(size, dev->alignment, &bytes))
        return NULL;
    memory = gb_mem_zalloc(1, sizeof(*memory));
    if (memory == NULL)
        return NULL;
    buffer = dev->resident->iface.alloc_buffer(dev->resident, bytes);
    if (buffer == NULL)
        goto free_memory;
    memory->dev = dev;
    memory->base = find_base(buffer, dev->alignment, size);
    if (memory->base == NULL) {
        gb_fail(GGML_STATUS_FAILED,
                "%s: its buffer of %zu bytes has no place for %zu", dev->name,
                buffer->size, size);
        goto free_buffer;
    }

    if (buffer->backend == NULL)
        buffer->backend = dev->resident;
    buffer->core.iface = buffer_members;
    buffer->core.buft = &dev->buft;
    buffer->core.context = memory;
    buffer->core.size = size;
    return buffer;

free_buffer:
    ggml_backend_buffer_free(&buffer->core);
free_memory:
    gb_mem_free(memory);
    return NULL;
}

static const char *
type_get_name(ggml_backend_buffer_type_t buft)
{
    const struct gb_2023_device *dev = buft->context;

    return dev->name;
}

static ggml_backend_buffer_t
type_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    struct gb_2023_device *dev = buft->context;
    struct gb_2023_buffer *buffer;

    gb_2023_lock(dev);
    buffer = buffer_new(dev, size);
    gb_2023_unlock(dev);
    return buffer != NULL ? &buffer->core : NULL;
}

static size_t
type_get_alignment(ggml_backend_buffer_type_t buft)
{
    const struct gb_2023_device *dev = buft->context;

    return dev->alignment;
}

/*
 * Only a buffer can be asked, so there is one of a byte for that.  Without it
 * nobody knows, and no tensor fits anywhere.
 */
static size_t
type_get_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    struct gb_2023_device *dev = buft->context;
    struct gb_2023_buffer *probe;
    size_t size = SIZE_MAX;

    gb_2023_lock(dev);
    if (dev->probe == NULL)
        dev->probe = buffer_new(dev, 1);
    probe = dev->probe;
    if (probe != NULL && probe->iface.get_alloc_size != NULL)
        size = probe->iface.get_alloc_size(probe, (struct ggml_tensor *)tensor);
    else if (probe != NULL)
        size = ggml_nbytes(tensor);
    gb_2023_unlock(dev);
    return size;
}

static bool
type_is_host(ggml_backend_buffer_type_t buft)
{
    const struct gb_2023_device *dev = buft->context;

    return dev->about.is_host;
}

const struct ggml_backend_buffer_type_i gb_2023_buffer_type_members = {
    .get_name = type_get_name,
    .alloc_buffer = type_alloc_buffer,
    .get_alignment = type_get_alignment,
    .get_alloc_size = type_get_alloc_size,
    .is_host = type_is_host,
};
