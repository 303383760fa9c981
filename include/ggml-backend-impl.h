/* SPDX-License-Identifier: MIT */
/*
 * ggml-backend-impl.h - what writers of backends implement: tables of
 * functions.
 *
 * Each kind of object is a struct with a table of functions and a context that
 * is the backend's own.  A function whose member says "may be NULL" is
 * optional; what its absence means stands beside it.  An object that lacks
 * another one, or a name, is refused where it comes in.  Functions return
 * statuses, NULL or false for what they cannot do, and never end the process.
 *
 * The core hands on calls as they come: threads are as ggml-backend.h says.
 */
#ifndef GGML_BACKEND_IMPL_H
#define GGML_BACKEND_IMPL_H

#include "ggml-backend.h"

/* Compared, exactly, with that of a registration that a module offers. */
#define GGML_BACKEND_API_VERSION 1

#ifdef __cplusplus
extern "C" {
#endif

/* ---- buffer types ---- */

struct ggml_backend_buffer_type_i {
    /* Static. */
    const char *(*get_name)(ggml_backend_buffer_type_t buft);
    /* SIZE is not 0.  NULL when it cannot be had. */
    ggml_backend_buffer_t (*alloc_buffer)(
        ggml_backend_buffer_type_t buft, size_t size);
    /* A power of two. */
    size_t (*get_alignment)(ggml_backend_buffer_type_t buft);
    /* May be NULL: no limit. */
    size_t (*get_max_size)(ggml_backend_buffer_type_t buft);
    /* At least ggml_nbytes.  May be NULL: exactly that. */
    size_t (*get_alloc_size)(
        ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor);
    /* Ordinary memory with data in the standard layout?  May be NULL: no. */
    bool (*is_host)(ggml_backend_buffer_type_t buft);
};

/*
 * One object for each kind of memory, which lives as long as the process:
 * clients compare addresses.
 */
struct ggml_backend_buffer_type {
    struct ggml_backend_buffer_type_i iface;
    ggml_backend_dev_t device; /* NULL for ordinary memory of the host */
    void *context;
};

/* ---- buffers ---- */

struct ggml_backend_buffer_i {
    /* Free what the context stands for.  May be NULL: nothing to free. */
    void (*free_buffer)(ggml_backend_buffer_t buffer);
    /* Not NULL.  The member may be NULL in a buffer of 0 bytes. */
    void *(*get_base)(ggml_backend_buffer_t buffer);
    /* TENSOR, which may be a view, has got its place.  May be NULL: fine. */
    GGML_LEVEL_INIT_RESULT (*init_tensor)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);
    /*
     * Ranges are checked, and not empty.  All are done when the call returns.
     * memset_tensor and get_tensor may be NULL: they cannot be asked for.
     */
    void (*memset_tensor)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
        uint8_t value, size_t offset, size_t size);
    void (*set_tensor)(
        ggml_backend_buffer_t buffer, struct ggml_tensor *tensor,
        const void *data, size_t offset, size_t size);
    void (*get_tensor)(
        ggml_backend_buffer_t buffer, const struct ggml_tensor *tensor,
        void *data, size_t offset, size_t size);
    /*
     * DST lies here, SRC anywhere.  False: not possible, and nothing was
     * done.  May be NULL: never possible.
     */
    bool (*cpy_tensor)(
        ggml_backend_buffer_t buffer, const struct ggml_tensor *src,
        struct ggml_tensor *dst);
    /* May be NULL in a buffer of 0 bytes. */
    void (*clear)(ggml_backend_buffer_t buffer, uint8_t value);
    /* Forget what init_tensor made.  May be NULL: nothing to forget. */
    void (*reset)(ggml_backend_buffer_t buffer);
};

/*
 * Made by ggml_backend_buffer_init only.  The core owns the struct; a backend
 * may change its fields afterwards.
 */
struct ggml_backend_buffer {
    struct ggml_backend_buffer_i iface;
    ggml_backend_buffer_type_t buft;
    void *context;
    size_t size; /* bytes */
    enum ggml_backend_buffer_usage usage;
};

/* ---- backends ---- */

struct ggml_backend_i {
    const char *(*get_name)(ggml_backend_t backend);
    /* Free the context and the struct. */
    void (*free)(ggml_backend_t backend);
    /* May be NULL: the core waits, and copies at once. */
    void (*set_tensor_async)(
        ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
        size_t offset, size_t size);
    void (*get_tensor_async)(
        ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
        size_t offset, size_t size);
    /*
     * Asked of backend_dst: after what is queued on backend_src, before what
     * will be queued on either: later work of backend_src may overwrite src.
     * False: not possible, and nothing was done.  May be NULL: never possible.
     */
    bool (*cpy_tensor_async)(
        ggml_backend_t backend_src, ggml_backend_t backend_dst,
        const struct ggml_tensor *src, struct ggml_tensor *dst);
    /* May be NULL: all work is done when a call returns. */
    void (*synchronize)(ggml_backend_t backend);
    /* Plans may be NULL, all together.  graph_plan_update is never called. */
    ggml_backend_graph_plan_t (*graph_plan_create)(
        ggml_backend_t backend, const struct ggml_cgraph *cgraph);
    void (*graph_plan_free)(
        ggml_backend_t backend, ggml_backend_graph_plan_t plan);
    void (*graph_plan_update)(
        ggml_backend_t backend, ggml_backend_graph_plan_t plan,
        const struct ggml_cgraph *cgraph);
    enum ggml_status (*graph_plan_compute)(
        ggml_backend_t backend, ggml_backend_graph_plan_t plan);
    /*
     * Nodes are in an order in which they can be run.  The graph may be a
     * slice of another.  Nodes with operation NONE, VIEW, RESHAPE, PERMUTE or
     * TRANSPOSE, and those without elements, are there to be skipped.  May
     * return before the work is done.
     *
     * A node may have the address of its first or second source, with the same
     * type, counts and strides, and is then written over it: for the operations
     * that ggml-backend-module(7) names, and for any where view_src is that
     * source, as the builders *_inplace make it, CPY and SET.
     */
    enum ggml_status (*graph_compute)(
        ggml_backend_t backend, struct ggml_cgraph *cgraph);
    /* May be NULL, in a backend whose device has no events. */
    void (*event_record)(ggml_backend_t backend, ggml_backend_event_t event);
    void (*event_wait)(ggml_backend_t backend, ggml_backend_event_t event);
};

/* Made and freed by the backend itself. */
struct ggml_backend {
    ggml_guid_t guid; /* 16 bytes, the same for all of one implementation */
    struct ggml_backend_i iface;
    ggml_backend_dev_t device;
    void *context;
};

/* Made by its device's event_new, freed by its event_free. */
struct ggml_backend_event {
    struct ggml_backend_device *device;
    void *context;
};

/* ---- devices ---- */

struct ggml_backend_device_i {
    /* Both live as long as the device. */
    const char *(*get_name)(ggml_backend_dev_t dev);
    const char *(*get_description)(ggml_backend_dev_t dev);
    /* Bytes; 0 for unknown. */
    void (*get_memory)(ggml_backend_dev_t dev, size_t *free, size_t *total);
    enum ggml_backend_dev_type (*get_type)(ggml_backend_dev_t dev);
    /* PROPS is all zero before. */
    void (*get_props)(
        ggml_backend_dev_t dev, struct ggml_backend_dev_props *props);
    /* PARAMS may be NULL.  NULL when it cannot. */
    ggml_backend_t (*init_backend)(ggml_backend_dev_t dev, const char *params);
    ggml_backend_buffer_type_t (*get_buffer_type)(ggml_backend_dev_t dev);
    /* May be NULL: none is better than another. */
    ggml_backend_buffer_type_t (*get_host_buffer_type)(ggml_backend_dev_t dev);
    /* May be NULL, and caps.buffer_from_host_ptr is false then. */
    ggml_backend_buffer_t (*buffer_from_host_ptr)(
        ggml_backend_dev_t dev, void *ptr, size_t size,
        size_t max_tensor_size);
    /* NONE, VIEW, RESHAPE, PERMUTE and TRANSPOSE must be supported. */
    bool (*supports_op)(ggml_backend_dev_t dev, const struct ggml_tensor *op);
    bool (*supports_buft)(
        ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft);
    /* May be NULL: never. */
    bool (*offload_op)(ggml_backend_dev_t dev, const struct ggml_tensor *op);
    /* May be NULL, all together: the device has no events. */
    ggml_backend_event_t (*event_new)(ggml_backend_dev_t dev);
    void (*event_free)(ggml_backend_dev_t dev, ggml_backend_event_t event);
    void (*event_synchronize)(
        ggml_backend_dev_t dev, ggml_backend_event_t event);
};

/* Lives as long as the process. */
struct ggml_backend_device {
    struct ggml_backend_device_i iface;
    ggml_backend_reg_t reg;
    void *context;
};

/* ---- registrations ---- */

struct ggml_backend_reg_i {
    const char *(*get_name)(ggml_backend_reg_t reg);
    size_t (*get_device_count)(ggml_backend_reg_t reg);
    ggml_backend_dev_t (*get_device)(ggml_backend_reg_t reg, size_t index);
    /* NULL for a name that is not known.  May be NULL: none is. */
    void *(*get_proc_address)(ggml_backend_reg_t reg, const char *name);
};

/* Lives as long as the process. */
struct ggml_backend_reg {
#if GGML_API_LEVEL >= 202503
    int api_version; /* GGML_BACKEND_API_VERSION */
#endif
    struct ggml_backend_reg_i iface;
    void *context;
};

/* ---- modules ---- */

/*
 * What a module exports: "ggml_backend_init" gives its registration, or NULL,
 * the same again after it was unloaded, and "ggml_backend_score" how well the
 * module suits the machine, 0 for not at all.  Several threads may call them at
 * once.  They may look at the registry, but neither load nor unload modules.
 */
typedef ggml_backend_reg_t (*ggml_backend_init_t)(void);
typedef int (*ggml_backend_score_t)(void);

/* ---- making buffers ---- */

/*
 * A new buffer of SIZE bytes with these functions, for any thread to make.
 * NULL without memory, or without a function that it needs; CONTEXT is still
 * the caller's then.
 */
GGML_API ggml_backend_buffer_t ggml_backend_buffer_init(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size);

/*
 * Ask the buffer that DST lies in to copy SRC there.  False when it has no
 * cpy_tensor, or that cannot.
 */
GGML_API bool ggml_backend_buffer_copy_tensor(
    const struct ggml_tensor *src, struct ggml_tensor *dst);

/*
 * The N_BUFFERS (1 or more) buffers as one, which owns them; the array stays
 * the caller's.  Tensors lie in the parts.  NULL without memory; the buffers
 * are still the caller's then.
 */
GGML_API ggml_backend_buffer_t ggml_backend_multi_buffer_alloc_buffer(
    ggml_backend_buffer_t *buffers, size_t n_buffers);

/* Is BUFFER one that ggml_backend_multi_buffer_alloc_buffer made? */
GGML_API bool ggml_backend_buffer_is_multi_buffer(
    ggml_backend_buffer_t buffer);

/*
 * Say what every part of a multi-buffer is for; ggml_backend_buffer_set_usage
 * does it too, and for the whole.  No effect on another buffer.
 */
GGML_API void ggml_backend_multi_buffer_set_usage(
    ggml_backend_buffer_t buffer, enum ggml_backend_buffer_usage usage);

/* ---- registering ---- */

/*
 * Put REG and its devices into the registry, behind those that are there.  One
 * that is there already, and NULL, are passed over.  Any thread, but none of
 * the registry's own calls into the backend.
 */
GGML_API void ggml_backend_register(ggml_backend_reg_t reg);

/* ---- a module's exports ---- */

/*
 * In a module (built with GGML_BACKEND_DL defined): export what a module
 * exports, by calling REG_FN and SCORE_FN.  Elsewhere they are nothing.
 */
#ifdef GGML_BACKEND_DL
#ifdef __cplusplus
#define GGML_BACKEND_DL_LINKAGE extern "C"
#else
#define GGML_BACKEND_DL_LINKAGE
#endif
#define GGML_BACKEND_DL_IMPL(reg_fn)                                   \
    GGML_BACKEND_DL_LINKAGE GGML_BACKEND_DL_EXPORT ggml_backend_reg_t  \
    ggml_backend_init(void);                                           \
    ggml_backend_reg_t ggml_backend_init(void)                         \
    {                                                                  \
        return reg_fn();                                               \
    }
#define GGML_BACKEND_DL_SCORE_IMPL(score_fn)                           \
    GGML_BACKEND_DL_LINKAGE GGML_BACKEND_DL_EXPORT int                 \
    ggml_backend_score(void);                                          \
    int ggml_backend_score(void)                                       \
    {                                                                  \
        return score_fn();                                             \
    }
#define GGML_BACKEND_DL_EXPORT __attribute__((visibility("default")))
#else
#define GGML_BACKEND_DL_IMPL(reg_fn)
#define GGML_BACKEND_DL_SCORE_IMPL(score_fn)
#endif

#ifdef __cplusplus
}
#endif

#endif
