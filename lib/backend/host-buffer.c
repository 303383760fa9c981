/* SPDX-License-Identifier: MIT */
/*
 * backend/host-buffer.c - ordinary memory as buffers; there without any
 * backend.
 *
 * Two kinds that differ in name and address only: memory that the buffer
 * allocates and owns, and memory of the caller, such as a mapped file.  Large
 * memory of its own comes straight from the system, which gives zeros: clients
 * clear a cache for thousands of positions and use a few of them.
 *
 * A buffer's context is the start of its memory.  Backends rely on it: their
 * pinned memory is a buffer of the second kind whose type and free_buffer they
 * replace.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/backend/transfer.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

/*
 * What tensors may rely on, and where we start: a cache line of most machines.
 */
static const size_t tensor_alignment = 32;
static const size_t block_alignment = 64;

/*
 * Bytes from which on a buffer is mapped: where common C libraries give up
 * keeping freed memory for the next one who asks.  Below it a buffer that is
 * allocated again and again would pay for its pages each time, which is twenty
 * times as much as filling it.
 */
static const size_t large_size = (size_t)32 << 20;

static void
host_free_buffer(ggml_backend_buffer_t buffer)
{
    gb_mem_free_aligned(buffer->context);
}

/* The context may be memory of a backend that knows less about alignment. */
static void *
host_get_base(ggml_backend_buffer_t buffer)
{
    const uintptr_t start = (uintptr_t)buffer->context;
    const size_t past = start % tensor_alignment;

    return (char *)buffer->context + (past > 0 ? tensor_alignment - past : 0);
}

static void
host_memset_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, uint8_t value,
    size_t offset, size_t size)
{
    (void)buffer;
    memset((char *)tensor->data + offset, value, size);
}

static void
host_set_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    /* A tensor may be set from its own data, or from a view of it. */
    memmove((char *)tensor->data + offset, data, size);
}

static void
host_get_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)buffer;
    memmove(data, (const char *)tensor->data + offset, size);
}

static bool
host_cpy_tensor(
    ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
    struct ggml_tensor *dst)
{
    (void)buffer;
    if (!ggml_backend_buffer_is_host(gb_transfer_home(src)))
        return false;
    memmove(dst->data, src->data, ggml_nbytes(src));
    return true;
}

static void
host_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    memset(buffer->context, value, buffer->size);
}

static void
mapped_free_buffer(ggml_backend_buffer_t buffer)
{
    gb_mem_unmap(buffer->context, buffer->size);
}

static void
mapped_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    if (value == 0)
        gb_mem_clear_map(buffer->context, buffer->size);
    else
        host_clear(buffer, value);
}

static const struct ggml_backend_buffer_i owned_members = {
    .free_buffer = host_free_buffer,
    .get_base = host_get_base,
    .memset_tensor = host_memset_tensor,
    .set_tensor = host_set_tensor,
    .get_tensor = host_get_tensor,
    .cpy_tensor = host_cpy_tensor,
    .clear = host_clear,
};

static const struct ggml_backend_buffer_i mapped_members = {
    .free_buffer = mapped_free_buffer,
    .get_base = host_get_base,
    .memset_tensor = host_memset_tensor,
    .set_tensor = host_set_tensor,
    .get_tensor = host_get_tensor,
    .cpy_tensor = host_cpy_tensor,
    .clear = mapped_clear,
};

static const struct ggml_backend_buffer_i foreign_members = {
    .get_base = host_get_base,
    .memset_tensor = host_memset_tensor,
    .set_tensor = host_set_tensor,
    .get_tensor = host_get_tensor,
    .cpy_tensor = host_cpy_tensor,
    .clear = host_clear,
};

static ggml_backend_buffer_t
mapped_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;
    void *data = gb_mem_map(size);

    if (data == NULL)
        return NULL;
    buffer = ggml_backend_buffer_init(buft, mapped_members, data, size);
    if (buffer == NULL)
        gb_mem_unmap(data, size);
    return buffer;
}

static ggml_backend_buffer_t
host_alloc_buffer(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer;
    void *data;

    if (size >= large_size)
        return mapped_alloc_buffer(buft, size);
    data = gb_mem_alloc_aligned(size, block_alignment);
    if (data == NULL)
        return NULL;
    buffer = ggml_backend_buffer_init(buft, owned_members, data, size);
    if (buffer == NULL)
        gb_mem_free_aligned(data);
    return buffer;
}

static size_t
host_get_alignment(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return tensor_alignment;
}

static bool
host_is_host(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return true;
}

static const char *
owned_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "CPU";
}

static const char *
foreign_get_name(ggml_backend_buffer_type_t buft)
{
    (void)buft;
    return "CPU_Mapped";
}

static const struct ggml_backend_buffer_type owned_type = {
    .iface = {
        .get_name = owned_get_name,
        .alloc_buffer = host_alloc_buffer,
        .get_alignment = host_get_alignment,
        .is_host = host_is_host,
    },
};

static const struct ggml_backend_buffer_type foreign_type = {
    .iface = {
        .get_name = foreign_get_name,
        .alloc_buffer = host_alloc_buffer,
        .get_alignment = host_get_alignment,
        .is_host = host_is_host,
    },
};

/*
 * The interface's handles point to what may be written, though nobody does.
 * The casts below keep the types themselves out of writable memory.
 */
ggml_backend_buffer_type_t
ggml_backend_cpu_buffer_type(void)
{
    return (ggml_backend_buffer_type_t)&owned_type;
}

ggml_backend_buffer_t
ggml_backend_cpu_buffer_from_ptr(void *ptr, size_t size)
{
    GB_NEED_OR(NULL, ptr != NULL, "buffer over host memory: no memory");
    GB_NEED_OR(NULL, (uintptr_t)ptr % tensor_alignment == 0,
               "buffer over host memory: %p is no multiple of %zu", ptr,
               tensor_alignment);
    return ggml_backend_buffer_init((ggml_backend_buffer_type_t)&foreign_type,
                                    foreign_members, ptr, size);
}
