/* SPDX-License-Identifier: MIT */
/*
 * backend/buffer.c - buffers, and giving tensors a place in them.
 */
#include "config.h"

#include "lib/backend/buffer.h"

#include "lib/backend/members.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/tensor/view.h"

ggml_backend_buffer_t
gb_buffer_new(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size)
{
    ggml_backend_buffer_t buffer =
        gb_mem_zalloc(1, sizeof(*buffer) + GB_BUFFER_ROOM);

    if (buffer == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "buffer: no memory to describe it");
        return NULL;
    }
    buffer->iface = iface;
    buffer->buft = buft;
    buffer->context = context;
    buffer->size = size;
    buffer->usage = GGML_BACKEND_BUFFER_USAGE_ANY;
    return buffer;
}

ggml_backend_buffer_t
ggml_backend_buffer_init(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size)
{
    const char *missing =
        size > 0 ? gb_missing_member(&gb_buffer_members, &iface) : NULL;

    if (missing == NULL)
        return gb_buffer_new(buft, iface, context, size);
    gb_fail(GGML_STATUS_FAILED, "buffer of %zu bytes: it has no %s", size,
            missing);
    return NULL;
}

void
ggml_backend_buffer_free(ggml_backend_buffer_t buffer)
{
    if (buffer == NULL)
        return;
    if (buffer->iface.free_buffer != NULL)
        buffer->iface.free_buffer(buffer);
    gb_mem_free(buffer);
}

const char *
ggml_backend_buffer_name(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(NULL, buffer != NULL, "buffer name: no buffer");
    return ggml_backend_buft_name(buffer->buft);
}

void *
ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer)
{
    void *base;

    GB_NEED_OR(NULL, buffer != NULL, "buffer base: no buffer");
    if (buffer->size == 0)
        return NULL;
    GB_NEED_OR(NULL, buffer->iface.get_base != NULL,
               "buffer of %s has no single base address",
               ggml_backend_buffer_name(buffer));

    base = buffer->iface.get_base(buffer);
    if (base == NULL)
        gb_fail(GGML_STATUS_FAILED, "buffer of %s: no base address",
                ggml_backend_buffer_name(buffer));
    return base;
}

size_t
ggml_backend_buffer_get_size(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(0, buffer != NULL, "buffer size: no buffer");
    return buffer->size;
}

enum ggml_status
ggml_backend_buffer_init_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    GB_NEED_OR(GGML_STATUS_FAILED, buffer != NULL, "init tensor: no buffer");
    GB_NEED_OR(GGML_STATUS_FAILED, tensor != NULL, "init tensor: no tensor");
    if (buffer->iface.init_tensor == NULL)
        return GGML_STATUS_SUCCESS;
    return buffer->iface.init_tensor(buffer, tensor);
}

size_t
ggml_backend_buffer_get_alignment(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(0, buffer != NULL, "alignment: no buffer");
    return ggml_backend_buft_get_alignment(buffer->buft);
}

size_t
ggml_backend_buffer_get_max_size(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(0, buffer != NULL, "largest buffer: no buffer");
    return ggml_backend_buft_get_max_size(buffer->buft);
}

size_t
ggml_backend_buffer_get_alloc_size(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    GB_NEED_OR(0, buffer != NULL, "room of a tensor: no buffer");
    return ggml_backend_buft_get_alloc_size(buffer->buft, tensor);
}

void
ggml_backend_buffer_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    GB_NEED_VOID(buffer != NULL, "clear: no buffer");
    if (buffer->size == 0)
        return;
    GB_NEED_VOID(buffer->iface.clear != NULL, "buffer of %s cannot be cleared",
                 ggml_backend_buffer_name(buffer));
    buffer->iface.clear(buffer, value);
}

bool
ggml_backend_buffer_is_host(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(false, buffer != NULL, "host memory: no buffer");
    return ggml_backend_buft_is_host(buffer->buft);
}

void
ggml_backend_buffer_set_usage(
    ggml_backend_buffer_t buffer, enum ggml_backend_buffer_usage usage)
{
    GB_NEED_VOID(buffer != NULL, "usage: no buffer");
    buffer->usage = usage;
    if (ggml_backend_buffer_is_multi_buffer(buffer))
        ggml_backend_multi_buffer_set_usage(buffer, usage);
}

enum ggml_backend_buffer_usage
ggml_backend_buffer_get_usage(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(GGML_BACKEND_BUFFER_USAGE_ANY, buffer != NULL,
               "usage: no buffer");
    return buffer->usage;
}

ggml_backend_buffer_type_t
ggml_backend_buffer_get_type(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(NULL, buffer != NULL, "type of memory: no buffer");
    return buffer->buft;
}

void
ggml_backend_buffer_reset(ggml_backend_buffer_t buffer)
{
    GB_NEED_VOID(buffer != NULL, "reset: no buffer");
    if (buffer->iface.reset != NULL)
        buffer->iface.reset(buffer);
}

/* Does [addr, addr + bytes) lie in the buffer?  No sum here can wrap. */
static bool
lies_inside(ggml_backend_buffer_t buffer, const void *addr, size_t bytes)
{
    const uintptr_t base = (uintptr_t)ggml_backend_buffer_get_base(buffer);
    const uintptr_t first = (uintptr_t)addr;

    if (base == 0 && buffer->size > 0)
        return false;
    return first >= base && first - base <= buffer->size &&
           bytes <= buffer->size - (first - base);
}

enum ggml_status
ggml_backend_tensor_alloc(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, void *addr)
{
    GB_NEED_OR(GGML_STATUS_FAILED, buffer != NULL, "tensor place: no buffer");
    GB_NEED_OR(GGML_STATUS_FAILED, tensor != NULL, "tensor place: no tensor");
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->buffer == NULL,
               "tensor %s already lies in a buffer", tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->data == NULL,
               "tensor %s already has data", tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->view_src == NULL,
               "tensor %s is a view, and lies where its source lies",
               tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED,
               lies_inside(buffer, addr,
                           ggml_backend_buffer_get_alloc_size(buffer, tensor)),
               "tensor %s does not lie inside its buffer of %zu bytes",
               tensor->name, buffer->size);

    tensor->buffer = buffer;
    tensor->data = addr;
    return ggml_backend_buffer_init_tensor(buffer, tensor);
}

enum ggml_status
ggml_backend_view_init(struct ggml_tensor *tensor)
{
    GB_NEED_OR(GGML_STATUS_FAILED, tensor != NULL, "view place: no tensor");
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->view_src != NULL,
               "tensor %s is not a view", tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->buffer == NULL,
               "view %s already lies in a buffer", tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->view_src->buffer != NULL,
               "view %s: its source %s has no buffer", tensor->name,
               tensor->view_src->name);
    GB_NEED_OR(GGML_STATUS_FAILED, tensor->view_src->data != NULL,
               "view %s: its source %s has no data", tensor->name,
               tensor->view_src->name);

    tensor->buffer = tensor->view_src->buffer;
    tensor->data =
        gb_tensor_view_data(tensor->view_src, tensor->view_offs);
    return ggml_backend_buffer_init_tensor(tensor->buffer, tensor);
}
