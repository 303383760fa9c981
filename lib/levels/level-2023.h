/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2023.h - backends of 2023 as devices: what the adapter's files
 * share.
 *
 * The structs of that level are written down once more, under names of our own
 * and with today's tensors in them; include/level-2023/ has them for backends.
 * A test compares the two.
 *
 * One backend of the old kind, the resident, is made with the device.  It owns
 * all buffers, and answers for the device.  Other threads may ask at any time,
 * and it knows nothing of threads: who calls it holds the device's lock.
 */
#ifndef GB_LEVELS_LEVEL_2023_H
#define GB_LEVELS_LEVEL_2023_H

#include "ggml-backend-impl.h"
#include "ggml-impl.h"
#include "ggmlbackend-2023.h"

#include <pthread.h>
#include <stdatomic.h>

struct gb_2023_backend;
struct gb_2023_buffer;

struct gb_2023_buffer_i {
    void (*free_buffer)(struct gb_2023_buffer *buffer);
    void *(*get_base)(struct gb_2023_buffer *buffer);
    size_t (*get_alloc_size)(
        struct gb_2023_buffer *buffer, struct ggml_tensor *tensor);
    void (*init_tensor)(
        struct gb_2023_buffer *buffer, struct ggml_tensor *tensor);
    void (*free_tensor)(
        struct gb_2023_buffer *buffer, struct ggml_tensor *tensor);
};

/*
 * A buffer of both levels: the core's struct and, in the room behind it, what a
 * backend of 2023 sees.  So tensor->buffer is right on either side.
 */
struct gb_2023_buffer {
    struct ggml_backend_buffer core;
    struct gb_2023_buffer_i iface;
    struct gb_2023_backend *backend;
    void *context;
    size_t size;
};

struct gb_2023_backend_i {
    const char *(*get_name)(struct gb_2023_backend *backend);
    void (*free)(struct gb_2023_backend *backend);
    struct gb_2023_buffer *(*alloc_buffer)(
        struct gb_2023_backend *backend, size_t size);
    size_t (*get_alignment)(struct gb_2023_backend *backend);
    void (*set_tensor_async)(
        struct gb_2023_backend *backend, struct ggml_tensor *tensor,
        const void *data, size_t offset, size_t size);
    void (*get_tensor_async)(
        struct gb_2023_backend *backend, const struct ggml_tensor *tensor,
        void *data, size_t offset, size_t size);
    void (*synchronize)(struct gb_2023_backend *backend);
    void (*cpy_tensor_from)(
        struct gb_2023_backend *backend, struct ggml_tensor *src,
        struct ggml_tensor *dst);
    void (*cpy_tensor_to)(
        struct gb_2023_backend *backend, struct ggml_tensor *src,
        struct ggml_tensor *dst);
    void *(*graph_plan_create)(
        struct gb_2023_backend *backend, struct ggml_cgraph *cgraph);
    void (*graph_plan_free)(struct gb_2023_backend *backend, void *plan);
    void (*graph_plan_compute)(struct gb_2023_backend *backend, void *plan);
    void (*graph_compute)(
        struct gb_2023_backend *backend, struct ggml_cgraph *cgraph);
    bool (*supports_op)(
        struct gb_2023_backend *backend, const struct ggml_tensor *op);
};

struct gb_2023_backend {
    struct gb_2023_backend_i iface;
    void *context;
};

/* A registration with its one device and one buffer type. */
struct gb_2023_device {
    struct ggml_backend_reg reg;
    struct ggml_backend_device device;
    struct ggml_backend_buffer_type buft;
    struct ggmlbackend_2023 about; /* its strings and list are ours */
    char *name;
    char *description;
    enum ggml_op *ops;
    ggml_guid guid;
    size_t alignment;

    /* Recursive: a backend may call us from its calls. */
    pthread_mutex_t lock;
    atomic_uint n_forks; /* before the process that LOCK is of */
    struct gb_2023_backend *resident;
    struct gb_2023_buffer *probe; /* to ask for sizes; made when first needed */
};

void gb_2023_lock(struct gb_2023_device *dev);

static inline void
gb_2023_unlock(struct gb_2023_device *dev)
{
    pthread_mutex_unlock(&dev->lock);
}

/* The table of the device's buffer type. */
extern const struct ggml_backend_buffer_type_i gb_2023_buffer_type_members;

/* Has BACKEND, just made by NAME's init, all it needs?  Else the reason. */
enum ggml_status gb_2023_check_backend(
    const struct gb_2023_backend *backend, const struct ggmlbackend_2023 *about,
    const char *name);

/* The device's init_backend. */
ggml_backend_t gb_2023_stream_new(ggml_backend_dev_t dev, const char *params);

/* As in include/level-2023/ggml-backend-impl.h. */
GGML_API ggml_backend_buffer_t ggmlbackend_l202311_backend_buffer_init(
    struct gb_2023_backend *backend, struct gb_2023_buffer_i iface,
    void *context, size_t size);

#endif
