/* SPDX-License-Identifier: MIT */
/*
 * backend/multi-buffer.c - several buffers that are owned as one.
 *
 * What is larger than a buffer type's largest buffer is spread over several.
 * Tensors point to the part that holds them; the whole only knows how to free,
 * to clear and to mark all parts.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/backend/buffer.h"
#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

struct parts {
    size_t n_parts;
    ggml_backend_buffer_t part[];
};

static void
multi_free_buffer(ggml_backend_buffer_t buffer)
{
    struct parts *parts = buffer->context;

    for (size_t i = 0; i < parts->n_parts; i++)
        ggml_backend_buffer_free(parts->part[i]);
    gb_mem_free(parts);
}

static void
multi_clear(ggml_backend_buffer_t buffer, uint8_t value)
{
    const struct parts *parts = buffer->context;

    for (size_t i = 0; i < parts->n_parts; i++)
        ggml_backend_buffer_clear(parts->part[i], value);
}

static const struct ggml_backend_buffer_i multi_members = {
    .free_buffer = multi_free_buffer,
    .clear = multi_clear,
};

/* The parts in a block of their own; NULL without memory. */
static struct parts *
parts_new(const ggml_backend_buffer_t *buffers, size_t n_buffers)
{
    struct parts *parts;
    size_t bytes;

    if (!gb_mul_size(n_buffers, sizeof(parts->part[0]), &bytes) ||
        !gb_add_size(bytes, sizeof(*parts), &bytes))
        return NULL;
    parts = gb_mem_alloc(bytes);
    if (parts == NULL)
        return NULL;
    parts->n_parts = n_buffers;
    memcpy(parts->part, buffers, n_buffers * sizeof(parts->part[0]));
    return parts;
}

ggml_backend_buffer_t
ggml_backend_multi_buffer_alloc_buffer(
    ggml_backend_buffer_t *buffers, size_t n_buffers)
{
    ggml_backend_buffer_t buffer;
    struct parts *parts;
    size_t size = 0;

    GB_NEED_OR(NULL, buffers != NULL && n_buffers > 0, "multi-buffer: no part");
    for (size_t i = 0; i < n_buffers; i++) {
        GB_NEED_OR(NULL, buffers[i] != NULL, "multi-buffer: part %zu is NULL",
                   i);
        GB_NEED_OR(NULL, gb_add_size(size, buffers[i]->size, &size),
                   "multi-buffer: the parts' sizes overflow");
    }

    parts = parts_new(buffers, n_buffers);
    if (parts == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "multi-buffer: no memory");
        return NULL;
    }
    buffer = gb_buffer_new(buffers[0]->buft, multi_members, parts, size);
    if (buffer == NULL)
        gb_mem_free(parts);
    return buffer;
}

bool
ggml_backend_buffer_is_multi_buffer(ggml_backend_buffer_t buffer)
{
    GB_NEED_OR(false, buffer != NULL, "multi-buffer: no buffer");
    return buffer->iface.free_buffer == multi_free_buffer;
}

void
ggml_backend_multi_buffer_set_usage(
    ggml_backend_buffer_t buffer, enum ggml_backend_buffer_usage usage)
{
    const struct parts *parts;

    GB_NEED_VOID(buffer != NULL && ggml_backend_buffer_is_multi_buffer(buffer),
                 "usage of parts: no multi-buffer");
    parts = buffer->context;
    for (size_t i = 0; i < parts->n_parts; i++)
        ggml_backend_buffer_set_usage(parts->part[i], usage);
}
