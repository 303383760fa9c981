/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml-backend.h - the calls of 2023 that backends make on backends
 * and buffers of that level.
 *
 * The structs are here too, as they were at first.  Handles of this level mean
 * nothing to the functions of today's ggml-backend.h, and the other way round;
 * tensors are the same.
 */
#ifndef GGML_BACKEND_H
#define GGML_BACKEND_H

#include "ggml.h"

#include "ggml-backend-impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- buffers ---- */

/* Free the buffer and its memory.  NULL is allowed. */
GGML_API void ggml_backend_buffer_free(ggml_backend_buffer_t buffer);

static inline size_t
ggml_backend_buffer_get_alignment(ggml_backend_buffer_t buffer)
{
    return buffer->backend->iface.get_alignment(buffer->backend);
}

static inline void *
ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer)
{
    return buffer->iface.get_base(buffer);
}

static inline size_t
ggml_backend_buffer_get_size(ggml_backend_buffer_t buffer)
{
    return buffer->size;
}

static inline size_t
ggml_backend_buffer_get_alloc_size(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    return buffer->iface.get_alloc_size != NULL
        ? buffer->iface.get_alloc_size(buffer, tensor) : ggml_nbytes(tensor);
}

static inline void
ggml_backend_buffer_init_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    if (buffer->iface.init_tensor != NULL)
        buffer->iface.init_tensor(buffer, tensor);
}

static inline void
ggml_backend_buffer_free_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    if (buffer->iface.free_tensor != NULL)
        buffer->iface.free_tensor(buffer, tensor);
}

/* ---- backends ---- */

/* In whose memory TENSOR lies; NULL for memory of no backend of this level. */
static inline ggml_backend_t
ggml_get_backend(const struct ggml_tensor *tensor)
{
    return tensor->buffer != NULL ? tensor->buffer->backend : NULL;
}

static inline const char *
ggml_backend_name(ggml_backend_t backend)
{
    return backend != NULL ? backend->iface.get_name(backend) : "NULL";
}

/* NULL is allowed. */
static inline void
ggml_backend_free(ggml_backend_t backend)
{
    if (backend != NULL)
        backend->iface.free(backend);
}

static inline ggml_backend_buffer_t
ggml_backend_alloc_buffer(ggml_backend_t backend, size_t size)
{
    return backend->iface.alloc_buffer(backend, size);
}

static inline size_t
ggml_backend_get_alignment(ggml_backend_t backend)
{
    return backend->iface.get_alignment(backend);
}

/* These two are for tensors in memory of a backend of this level. */
static inline void
ggml_backend_tensor_set_async(
    struct ggml_tensor *tensor, const void *data, size_t offset, size_t size)
{
    ggml_backend_t backend = ggml_get_backend(tensor);

    backend->iface.set_tensor_async(backend, tensor, data, offset, size);
}

static inline void
ggml_backend_tensor_get_async(
    const struct ggml_tensor *tensor, void *data, size_t offset, size_t size)
{
    ggml_backend_t backend = ggml_get_backend(tensor);

    backend->iface.get_tensor_async(backend, tensor, data, offset, size);
}

/* As they are today, and for tensors in any memory. */
GGML_API void ggml_backend_tensor_set(
    struct ggml_tensor *tensor, const void *data, size_t offset, size_t size);
GGML_API void ggml_backend_tensor_get(
    const struct ggml_tensor *tensor, void *data, size_t offset, size_t size);
GGML_API void ggml_backend_tensor_copy(
    struct ggml_tensor *src, struct ggml_tensor *dst);

static inline void
ggml_backend_synchronize(ggml_backend_t backend)
{
    backend->iface.synchronize(backend);
}

static inline ggml_backend_graph_plan_t
ggml_backend_graph_plan_create(
    ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    return backend->iface.graph_plan_create(backend, cgraph);
}

static inline void
ggml_backend_graph_plan_free(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    backend->iface.graph_plan_free(backend, plan);
}

static inline void
ggml_backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    backend->iface.graph_plan_compute(backend, plan);
}

static inline void
ggml_backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    backend->iface.graph_compute(backend, cgraph);
}

static inline bool
ggml_backend_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    return backend->iface.supports_op == NULL ||
           backend->iface.supports_op(backend, op);
}

#ifdef __cplusplus
}
#endif

#endif
