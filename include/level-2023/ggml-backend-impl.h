/* SPDX-License-Identifier: MIT */
/*
 * level-2023/ggml-backend-impl.h - what writers of backends implemented in
 * 2023: two tables of functions.
 *
 * A backend is one stream with memory of its own; there are no devices and no
 * buffer types.  Such a backend becomes a device of today with
 * ggmlbackend_register_2023 (ggmlbackend-2023.h).  Its functions get the
 * structs of this header.  Tensors and graphs are those of today: n_dims is
 * ggml_n_dims(tensor), and the visited tensors are in visited_hash_set, which
 * is empty in a slice of a graph.
 *
 * Only members that say so may be NULL.  There are no statuses; alloc_buffer
 * may give NULL.
 */
#ifndef GGML_LEVEL_2023_BACKEND_IMPL_H
#define GGML_LEVEL_2023_BACKEND_IMPL_H

#include "ggml.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_backend;
struct ggml_backend_buffer;

#ifndef GGML_BACKEND_HANDLES
#define GGML_BACKEND_HANDLES
typedef struct ggml_backend_buffer_type *ggml_backend_buffer_type_t;
typedef struct ggml_backend_buffer *ggml_backend_buffer_t;
typedef struct ggml_backend *ggml_backend_t;
#endif

typedef void *ggml_backend_context_t;
typedef void *ggml_backend_graph_plan_t;
typedef void *ggml_backend_buffer_context_t;

/* ---- buffers ---- */

struct ggml_backend_buffer_i {
    /* Free what the context stands for.  May be NULL: nothing to free. */
    void (*free_buffer)(ggml_backend_buffer_t buffer);
    /* Not NULL; it need not be aligned. */
    void *(*get_base)(ggml_backend_buffer_t buffer);
    /* At least ggml_nbytes.  May be NULL: exactly that. */
    size_t (*get_alloc_size)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);
    /* TENSOR, which may be a view, has got its place.  May be NULL. */
    void (*init_tensor)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);
    /*
     * TENSOR, which is no view, has lost its place.  May be NULL.  It is a
     * description from the moment after init_tensor, without its sources, since
     * the tensor itself may be gone.
     */
    void (*free_tensor)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);
};

/* The library's own part of a buffer. */
struct ggmlbackend_2023_private {
    void (*members[9])(void);
    void *pointers[2];
    size_t size;
    int usage;
};

/*
 * Made by ggml_backend_buffer_init only.  tensor->buffer is such a struct too;
 * what lies in no buffer of this level has NULL for the backend there.
 */
struct ggml_backend_buffer {
    struct ggmlbackend_2023_private reserved;
    struct ggml_backend_buffer_i iface;
    ggml_backend_t backend;
    ggml_backend_buffer_context_t context;
    size_t size; /* bytes */
};

/* ---- backends ---- */

struct ggml_backend_i {
    const char *(*get_name)(ggml_backend_t backend);
    /* Free the context and the struct. */
    void (*free)(ggml_backend_t backend);
    /* SIZE is not 0.  NULL when it cannot be had. */
    ggml_backend_buffer_t (*alloc_buffer)(ggml_backend_t backend, size_t size);
    /* A power of two. */
    size_t (*get_alignment)(ggml_backend_t backend);
    /* DATA stays as it is until the backend is synchronised. */
    void (*set_tensor_async)(
        ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
        size_t offset, size_t size);
    void (*get_tensor_async)(
        ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
        size_t offset, size_t size);
    void (*synchronize)(ggml_backend_t backend);
    /* Copy to or from memory of the backend.  Each may be NULL. */
    void (*cpy_tensor_from)(
        ggml_backend_t backend, struct ggml_tensor *src,
        struct ggml_tensor *dst);
    void (*cpy_tensor_to)(
        ggml_backend_t backend, struct ggml_tensor *src,
        struct ggml_tensor *dst);
    /* Called only if the registration says so.  May be NULL otherwise. */
    ggml_backend_graph_plan_t (*graph_plan_create)(
        ggml_backend_t backend, struct ggml_cgraph *cgraph);
    void (*graph_plan_free)(
        ggml_backend_t backend, ggml_backend_graph_plan_t plan);
    void (*graph_plan_compute)(
        ggml_backend_t backend, ggml_backend_graph_plan_t plan);
    /*
     * No node is empty or has the operation NONE; VIEW, RESHAPE, PERMUTE and
     * TRANSPOSE are there to be skipped.
     */
    void (*graph_compute)(ggml_backend_t backend, struct ggml_cgraph *cgraph);
    /* May be NULL: the registration decides. */
    bool (*supports_op)(ggml_backend_t backend, const struct ggml_tensor *op);
};

/* Made and freed by the backend itself. */
struct ggml_backend {
    struct ggml_backend_i iface;
    ggml_backend_context_t context;
};

/*
 * A new buffer of SIZE bytes with these functions.  BACKEND may be NULL.  NULL
 * without memory; CONTEXT is still the caller's then.  Any thread.
 */
GGML_API ggml_backend_buffer_t ggmlbackend_l202311_backend_buffer_init(
    ggml_backend_t backend, struct ggml_backend_buffer_i iface,
    ggml_backend_buffer_context_t context, size_t size);
#undef ggml_backend_buffer_init
#define ggml_backend_buffer_init ggmlbackend_l202311_backend_buffer_init

#ifdef __cplusplus
}
#endif

#endif
