/* SPDX-License-Identifier: MIT */
/*
 * ggml-backend.h - buffers, devices, backends, events, their registry, and the
 * scheduler.
 *
 * A device is a processor with its memory.  Its buffer types are kinds of
 * memory; a buffer is a piece of one, in which tensors have their places.  A
 * backend is one stream of work on a device: it runs graphs over tensors that
 * lie in buffers which the device can use.  The registry knows all devices.
 *
 * Buffer types, devices and registrations belong to their backend and live as
 * long as the process.  Buffers, backends, events and plans are freed by whom
 * they were made for; a buffer does not know its tensors, which must not be
 * used after it.
 *
 * Unless a declaration says otherwise, an object is used by one thread at a
 * time, and different objects by any threads.  Functions that answer questions
 * about buffer types, devices and registrations, and the registry, may be
 * called from any thread.  Given NULL where an object is needed, a function
 * logs the reason and answers NULL, 0 or false, or does nothing.
 */
#ifndef GGML_BACKEND_H
#define GGML_BACKEND_H

#include "ggml.h"

#include "ggml-alloc.h"

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GGML_BACKEND_HANDLES
#define GGML_BACKEND_HANDLES
typedef struct ggml_backend_buffer_type *ggml_backend_buffer_type_t;
typedef struct ggml_backend_buffer *ggml_backend_buffer_t;
typedef struct ggml_backend *ggml_backend_t;
#endif

/* A point in a backend's queue; a device; a backend's devices and functions. */
struct ggml_backend_event;
struct ggml_backend_reg;
struct ggml_backend_device;

typedef struct ggml_backend_event *ggml_backend_event_t;
typedef struct ggml_backend_reg *ggml_backend_reg_t;
typedef struct ggml_backend_device *ggml_backend_dev_t;

/* One graph on several backends. */
struct ggml_backend_sched;
typedef struct ggml_backend_sched *ggml_backend_sched_t;

/* ---- buffer types: any thread ---- */

/* The name, such as "CPU"; static. */
GGML_API const char *ggml_backend_buft_name(ggml_backend_buffer_type_t buft);

/*
 * A buffer of SIZE bytes, freed with ggml_backend_buffer_free; its contents are
 * not defined.  NULL when it cannot be had.  With SIZE 0 the backend is not
 * asked: such a buffer has no memory and tells no more than its type, for
 * asking a device about a tensor that would lie there.
 */
GGML_API ggml_backend_buffer_t ggml_backend_buft_alloc_buffer(
    ggml_backend_buffer_type_t buft, size_t size);

/* A power of two that tensors' addresses in such buffers are multiples of. */
GGML_API size_t ggml_backend_buft_get_alignment(
    ggml_backend_buffer_type_t buft);

/* The largest buffer in bytes; SIZE_MAX for no limit. */
GGML_API size_t ggml_backend_buft_get_max_size(
    ggml_backend_buffer_type_t buft);

/* Bytes that TENSOR takes in such a buffer; not less than ggml_nbytes says. */
GGML_API size_t ggml_backend_buft_get_alloc_size(
    ggml_backend_buffer_type_t buft, struct ggml_tensor *tensor);

/* Is it memory of the host, with all data in the standard layout? */
GGML_API bool ggml_backend_buft_is_host(ggml_backend_buffer_type_t buft);

/* The device that it belongs to; NULL for ordinary host memory. */
GGML_API ggml_backend_dev_t ggml_backend_buft_get_device(
    ggml_backend_buffer_type_t buft);

/* ---- buffers ---- */

/* What a buffer is for.  A hint that backends and schedulers look at. */
enum ggml_backend_buffer_usage {
    GGML_BACKEND_BUFFER_USAGE_ANY     = 0,
    GGML_BACKEND_BUFFER_USAGE_WEIGHTS = 1, /* operations go where these lie */
    GGML_BACKEND_BUFFER_USAGE_COMPUTE = 2  /* results, soon overwritten */
};

/* The name of the buffer's type. */
GGML_API const char *ggml_backend_buffer_name(ggml_backend_buffer_t buffer);

/*
 * Free the buffer and its memory; tensors that lie there must not be used any
 * more.  NULL is allowed.
 */
GGML_API void ggml_backend_buffer_free(ggml_backend_buffer_t buffer);

/*
 * Where its memory begins; an address of the device unless the buffer is a
 * host's.  NULL for a buffer of 0 bytes and for a multi-buffer.
 */
GGML_API void *ggml_backend_buffer_get_base(ggml_backend_buffer_t buffer);

/* Its bytes; those of all parts for a multi-buffer. */
GGML_API size_t ggml_backend_buffer_get_size(ggml_backend_buffer_t buffer);

/*
 * What ggml_backend_buft_get_alignment, _get_max_size, _get_alloc_size and
 * _is_host give for the buffer's type.
 */
GGML_API size_t ggml_backend_buffer_get_alignment(
    ggml_backend_buffer_t buffer);
GGML_API size_t ggml_backend_buffer_get_max_size(ggml_backend_buffer_t buffer);
GGML_API size_t ggml_backend_buffer_get_alloc_size(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);
GGML_API bool ggml_backend_buffer_is_host(ggml_backend_buffer_t buffer);

/* The buffer's type; of a multi-buffer that of its first part. */
GGML_API ggml_backend_buffer_type_t ggml_backend_buffer_get_type(
    ggml_backend_buffer_t buffer);

/*
 * Set all bytes of the buffer to VALUE, for a multi-buffer those of every part;
 * done when the call returns.
 */
GGML_API void ggml_backend_buffer_clear(
    ggml_backend_buffer_t buffer, uint8_t value);

/*
 * Say what the buffer is for, and each part of a multi-buffer.  A new one is
 * for anything.
 */
GGML_API void ggml_backend_buffer_set_usage(
    ggml_backend_buffer_t buffer, enum ggml_backend_buffer_usage usage);
GGML_API enum ggml_backend_buffer_usage ggml_backend_buffer_get_usage(
    ggml_backend_buffer_t buffer);

/*
 * Forget what the backend keeps about the buffer's tensors.  Allocators do it
 * before they use the buffer for other tensors.
 */
GGML_API void ggml_backend_buffer_reset(ggml_backend_buffer_t buffer);

/* ---- places ---- */

/*
 * Give TENSOR, which must be no view and have no data, its place at ADDR in
 * BUFFER, where there is room for ggml_backend_buffer_get_alloc_size bytes.
 * That ADDR is a multiple of the buffer's alignment is the caller's duty and
 * not checked.
 *
 * Returns the backend's answer, after which the tensor has its place in any
 * case; GGML_STATUS_FAILED with nothing changed when the tensor does not lie
 * inside BUFFER.
 */
GGML_API enum ggml_status ggml_backend_tensor_alloc(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor, void *addr);

/*
 * Give a view its place in its source, which has one.  Returns what
 * ggml_backend_tensor_alloc does.
 */
GGML_API enum ggml_status ggml_backend_view_init(struct ggml_tensor *tensor);

/*
 * Tell the backend that TENSOR has its place in BUFFER now; gives the backend's
 * answer.  The two functions above do it themselves.
 */
GGML_API enum ggml_status ggml_backend_buffer_init_tensor(
    ggml_backend_buffer_t buffer, struct ggml_tensor *tensor);

/* ---- memory of the host: there without any backend ---- */

/*
 * A buffer over SIZE bytes of the caller's memory at PTR, a multiple of 32.
 * The memory stays the caller's and outlives the buffer.  NULL without memory,
 * or off the alignment.
 */
GGML_API ggml_backend_buffer_t ggml_backend_cpu_buffer_from_ptr(
    void *ptr, size_t size);

/* Ordinary memory; also what the CPU device works in.  Static; any thread. */
GGML_API ggml_backend_buffer_type_t ggml_backend_cpu_buffer_type(void);

/* ---- transfers ---- */

/*
 * Copy SIZE bytes from DATA into TENSOR from OFFSET on, or out of TENSOR into
 * DATA, or set them to VALUE; done when the call returns.  OFFSET and SIZE are
 * bytes of the tensor's own data, also of a view's.  What does not fit into the
 * tensor, or has no place yet, is not copied at all, and the reason is the
 * thread's last failure.  With SIZE 0 nothing is looked at.
 *
 * What is queued on a backend is not waited for: synchronise it before.
 */
GGML_API void ggml_backend_tensor_set(
    struct ggml_tensor *tensor, const void *data, size_t offset, size_t size);
GGML_API void ggml_backend_tensor_get(
    const struct ggml_tensor *tensor, void *data, size_t offset, size_t size);
GGML_API void ggml_backend_tensor_memset(
    struct ggml_tensor *tensor, uint8_t value, size_t offset, size_t size);

/*
 * Copy all data of SRC to DST, which has the same type, counts and strides,
 * wherever both lie; done when the call returns.  Nothing is copied when the
 * layouts differ or one has no place, nor when there is no memory to pass the
 * data through.
 */
GGML_API void ggml_backend_tensor_copy(
    struct ggml_tensor *src, struct ggml_tensor *dst);

/*
 * Queue a copy of SIZE bytes into TENSOR from OFFSET on, or out of it.  DATA
 * must stay as it is (for get: must not be looked at) until the backend is
 * synchronised.  TENSOR lies in memory of the backend's device.  A backend that
 * cannot queue copies waits for its work and copies at once.  Nothing happens
 * when the range does not fit.
 */
GGML_API void ggml_backend_tensor_set_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size);
GGML_API void ggml_backend_tensor_get_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size);

/*
 * Copy SRC to DST as ggml_backend_tensor_copy does, after all work queued on
 * BACKEND_SRC so far and before any queued later on BACKEND_DST.  Where the two
 * cannot arrange that, both are waited for and the copy is done at once.
 */
GGML_API void ggml_backend_tensor_copy_async(
    ggml_backend_t backend_src, ggml_backend_t backend_dst,
    struct ggml_tensor *src, struct ggml_tensor *dst);

/* ---- devices: any thread ---- */

/* What a device is for. */
enum ggml_backend_dev_type {
    GGML_BACKEND_DEVICE_TYPE_CPU   = 0,
    GGML_BACKEND_DEVICE_TYPE_GPU   = 1, /* has memory of its own */
    /* Helps the CPU with some operations. */
    GGML_BACKEND_DEVICE_TYPE_ACCEL = 2 GGML_LEVEL_DEVICE_TYPES
};

/* What a device can do; all false is a device with the least. */
struct ggml_backend_dev_caps {
    bool async;                /* work is queued until synchronised */
    bool host_buffer;          /* has a host buffer type */
    bool buffer_from_host_ptr; /* makes buffers over the caller's memory */
    bool events;
};

/* All about a device at once; the strings are the device's. */
struct ggml_backend_dev_props {
    const char *name;
    const char *description;
    size_t memory_free;  /* bytes */
    size_t memory_total; /* bytes */
    enum ggml_backend_dev_type type;
    struct ggml_backend_dev_caps caps;
};

/*
 * The name, unique and short ("CPU", "CUDA0"), and one for people; both the
 * device's, and valid as long as the process.
 */
GGML_API const char *ggml_backend_dev_name(ggml_backend_dev_t device);
GGML_API const char *ggml_backend_dev_description(ggml_backend_dev_t device);

/*
 * Bytes of memory, free and in all; 0 where the device does not know, as the
 * CPU.  Neither pointer may be NULL.
 */
GGML_API void ggml_backend_dev_memory(
    ggml_backend_dev_t device, size_t *free, size_t *total);

/* What the device is for; GGML_BACKEND_DEVICE_TYPE_CPU for NULL. */
GGML_API enum ggml_backend_dev_type ggml_backend_dev_type(
    ggml_backend_dev_t device);

/* Everything about the device; fields that it does not know are 0. */
GGML_API void ggml_backend_dev_get_props(
    ggml_backend_dev_t device, struct ggml_backend_dev_props *props);

/* The registration that it came with; NULL for a device without one. */
GGML_API ggml_backend_reg_t ggml_backend_dev_backend_reg(
    ggml_backend_dev_t device);

/*
 * ---- finding devices: any thread ----
 *
 * The backends that are part of the library are there from the first call on,
 * the CPU among them.  What comes later is added at the end; where something is
 * unloaded, what is behind it moves up.
 */

/*
 * All devices in the order in which they came, and one by its index, by its
 * name, or the first of a type.  By name, capitals and small letters of ASCII
 * are the same.  NULL when there is no such one.
 */
GGML_API size_t ggml_backend_dev_count(void);
GGML_API ggml_backend_dev_t ggml_backend_dev_get(size_t index);
GGML_API ggml_backend_dev_t ggml_backend_dev_by_name(const char *name);
GGML_API ggml_backend_dev_t ggml_backend_dev_by_type(
    enum ggml_backend_dev_type type);

/* ---- a device's memory: any thread ---- */

/* The kind of memory that the device works best in. */
GGML_API ggml_backend_buffer_type_t ggml_backend_dev_buffer_type(
    ggml_backend_dev_t device);

/*
 * Memory of the host that the device copies from and to fastest; NULL when no
 * kind is better than another.
 */
GGML_API ggml_backend_buffer_type_t ggml_backend_dev_host_buffer_type(
    ggml_backend_dev_t device);

/*
 * A buffer over SIZE bytes of the caller's memory at PTR, a mapped file for
 * example, which stays the caller's and outlives the buffer.
 *
 *   max_tensor_size   bytes of the largest tensor that will lie there
 *
 * NULL when the device cannot use such memory (caps.buffer_from_host_ptr
 * tells), or not at that address.
 */
GGML_API ggml_backend_buffer_t ggml_backend_dev_buffer_from_host_ptr(
    ggml_backend_dev_t device, void *ptr, size_t size,
    size_t max_tensor_size);

/*
 * What ggml_backend_dev_buffer_type gives for the backend's device; a buffer of
 * SIZE bytes of it, as ggml_backend_buft_alloc_buffer makes one; its alignment
 * and its largest buffer.
 */
GGML_API ggml_backend_buffer_type_t ggml_backend_get_default_buffer_type(
    ggml_backend_t backend);
GGML_API ggml_backend_buffer_t ggml_backend_alloc_buffer(
    ggml_backend_t backend, size_t size);
GGML_API size_t ggml_backend_get_alignment(ggml_backend_t backend);
GGML_API size_t ggml_backend_get_max_size(ggml_backend_t backend);

/* ---- what a device supports: any thread ---- */

/*
 * Can the device compute the node OP?  Only the node and its sources'
 * descriptions are looked at; they may lie in buffers of 0 bytes, or in none.
 */
GGML_API bool ggml_backend_dev_supports_op(
    ggml_backend_dev_t device, const struct ggml_tensor *op);

/* Can the device compute with tensors in such buffers? */
GGML_API bool ggml_backend_dev_supports_buft(
    ggml_backend_dev_t device, ggml_backend_buffer_type_t buft);

/*
 * Is the node OP worth copying weights of the host to the device for, each
 * time?
 */
GGML_API bool ggml_backend_dev_offload_op(
    ggml_backend_dev_t device, const struct ggml_tensor *op);

/* The same three questions to the backend's device. */
GGML_API bool ggml_backend_supports_op(
    ggml_backend_t backend, const struct ggml_tensor *op);
GGML_API bool ggml_backend_supports_buft(
    ggml_backend_t backend, ggml_backend_buffer_type_t buft);
GGML_API bool ggml_backend_offload_op(
    ggml_backend_t backend, const struct ggml_tensor *op);

/* ---- backends ---- */

/*
 * A new backend on the device, freed with ggml_backend_free; NULL when it
 * cannot be had.  PARAMS is for the backend to read, or NULL: the backends of
 * this library take none.  Any thread.
 */
GGML_API ggml_backend_t ggml_backend_dev_init(
    ggml_backend_dev_t device, const char *params);

/*
 * Find a device, as ggml_backend_dev_by_name and ggml_backend_dev_by_type do,
 * and make a backend on it; NULL when there is none or it cannot.  The best is
 * the first GPU, or else the first CPU.  Freed with ggml_backend_free.  Any
 * thread.
 */
GGML_API ggml_backend_t ggml_backend_init_by_name(
    const char *name, const char *params);
GGML_API ggml_backend_t ggml_backend_init_by_type(
    enum ggml_backend_dev_type type, const char *params);
GGML_API ggml_backend_t ggml_backend_init_best(void);

/*
 * Free the backend, after its last work and before the device's registration is
 * unloaded.  Buffers stay.  NULL is allowed.
 */
GGML_API void ggml_backend_free(ggml_backend_t backend);

/* The identity of the backend's implementation, 16 bytes; NULL for NULL. */
GGML_API ggml_guid_t ggml_backend_guid(ggml_backend_t backend);

/* Its name, which it owns; "NULL" for NULL. */
GGML_API const char *ggml_backend_name(ggml_backend_t backend);

/* The device that the backend works on. */
GGML_API ggml_backend_dev_t ggml_backend_get_device(ggml_backend_t backend);

/* ---- computing ---- */

/*
 * Run all nodes of a graph whose tensors have their places, in memory that the
 * backend's device supports.  The first form waits for the results; the second
 * may return before they are there, and inputs and results are not to be
 * touched until the backend is synchronised.
 *
 * Returns GGML_STATUS_SUCCESS; GGML_STATUS_ABORTED when the client's abort
 * callback ended it, which is no failure; GGML_STATUS_ALLOC_FAILED without
 * memory; GGML_STATUS_FAILED for a failed graph, with its reason, and for
 * anything else.
 */
GGML_API enum ggml_status ggml_backend_graph_compute(
    ggml_backend_t backend, struct ggml_cgraph *cgraph);
GGML_API enum ggml_status ggml_backend_graph_compute_async(
    ggml_backend_t backend, struct ggml_cgraph *cgraph);

/*
 * Wait until all work of the backend is done.  What failed after it was queued
 * becomes the thread's last failure here.
 */
GGML_API void ggml_backend_synchronize(ggml_backend_t backend);

/* ---- graph plans ---- */

/* A graph that a backend has prepared to run often. */
typedef void *ggml_backend_graph_plan_t;

/*
 * Prepare a graph to be run often.  The graph, its tensors and their places
 * must stay as they are as long as the plan is used; the caller frees the plan.
 * NULL from a backend that makes no plans, for a failed graph and without
 * memory.
 */
GGML_API ggml_backend_graph_plan_t ggml_backend_graph_plan_create(
    ggml_backend_t backend, struct ggml_cgraph *cgraph);

/* Free a plan that BACKEND made.  A plan of NULL is allowed. */
GGML_API void ggml_backend_graph_plan_free(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan);

/*
 * Run the graph of a plan that BACKEND made.  As with
 * ggml_backend_graph_compute_async, results may be there only after the backend
 * is synchronised.  Returns what that does; GGML_STATUS_FAILED for a plan of
 * NULL.
 */
GGML_API enum ggml_status ggml_backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan);

/* ---- events ---- */

/*
 * An event of DEVICE; NULL when it has none (caps.events tells).  Freed with
 * ggml_backend_event_free.
 */
GGML_API ggml_backend_event_t ggml_backend_event_new(
    ggml_backend_dev_t device);

/* NULL is allowed. */
GGML_API void ggml_backend_event_free(ggml_backend_event_t event);

/*
 * Let EVENT stand for all work queued on BACKEND so far, instead of what it
 * stood for.  No effect on a backend that records no events.
 */
GGML_API void ggml_backend_event_record(
    ggml_backend_event_t event, ggml_backend_t backend);

/*
 * Wait until the work that EVENT stands for is done; at once if it was never
 * recorded.
 */
GGML_API void ggml_backend_event_synchronize(ggml_backend_event_t event);

/*
 * Work queued on BACKEND from now on waits for EVENT; the caller does not.  No
 * effect on a backend that waits for no events.
 */
GGML_API void ggml_backend_event_wait(
    ggml_backend_t backend, ggml_backend_event_t event);

/* ---- registrations: any thread ---- */

/* One feature of a backend, by name; a list ends with a NULL name. */
struct ggml_backend_feature {
    const char *name;
    const char *value;
};

/*
 * Types of functions that ggml_backend_reg_get_proc_address finds under these
 * names without the "_t", each in the registrations that have it.
 */
typedef ggml_backend_buffer_type_t (*ggml_backend_split_buffer_type_t)(
    int main_device, const float *tensor_split);
typedef void (*ggml_backend_set_n_threads_t)(
    ggml_backend_t backend, int n_threads);
typedef ggml_backend_buffer_type_t *(*ggml_backend_dev_get_extra_bufts_t)(
    ggml_backend_dev_t device);
typedef void (*ggml_backend_set_abort_callback_t)(
    ggml_backend_t backend, ggml_abort_callback abort_callback,
    void *abort_callback_data);
typedef struct ggml_backend_feature *(*ggml_backend_get_features_t)(
    ggml_backend_reg_t reg);

/*
 * The backend's name, its devices, and functions that it offers by name (NULL
 * for a name that it does not know).  An index beyond the last gives NULL.
 */
GGML_API const char *ggml_backend_reg_name(ggml_backend_reg_t reg);
GGML_API size_t ggml_backend_reg_dev_count(ggml_backend_reg_t reg);
GGML_API ggml_backend_dev_t ggml_backend_reg_dev_get(
    ggml_backend_reg_t reg, size_t index);
GGML_API void *ggml_backend_reg_get_proc_address(
    ggml_backend_reg_t reg, const char *name);

/*
 * All registrations in the order in which they came, and one by its index or
 * its name, in which capitals and small letters of ASCII are the same.  NULL
 * when there is no such one.
 */
GGML_API size_t ggml_backend_reg_count(void);
GGML_API ggml_backend_reg_t ggml_backend_reg_get(size_t index);
GGML_API ggml_backend_reg_t ggml_backend_reg_by_name(const char *name);

/* ---- registering devices: any thread ---- */

/*
 * Add a device of the client's, which must live as long as the process.  One
 * that is there already is not added again, one that lacks a function not at
 * all.
 */
GGML_API void ggml_backend_device_register(ggml_backend_dev_t device);

/* ---- modules: any thread ---- */

/*
 * Load the module at PATH, which has a folder in it ("./libggml-x.so"), and
 * register its backend and devices.
 *
 * Returns the registration, the same again for a module that is loaded already,
 * or NULL when the module is refused: it cannot be opened, is not for this
 * machine, has another interface version, or a backend of that name is there.
 * ggmlbackend_refused_get tells why.  The file stays mapped as long as the
 * process, refused or not.
 *
 * Several threads may load at once, also the same module.  What is being loaded
 * may ask for devices; when it, or the client's log function meanwhile, wants
 * to load a module in the same thread, that is refused.
 */
GGML_API ggml_backend_reg_t ggml_backend_load(const char *path);

/*
 * Take REG and its devices out of the registry.  Nothing else changes: pointers
 * to them stay valid, backends and buffers that live go on working, and the
 * module may be loaded again.  NULL, and what is not registered, are passed
 * over.
 */
GGML_API void ggml_backend_unload(ggml_backend_reg_t reg);

/*
 * Load all modules, files libggml-NAME.so and libggml-NAME-VARIANT.so, in the
 * order of their names: those of the folders in GGMLBACKEND_MODULE_PATH and of
 * the library's own (ggmlbackend_module_folder), or those of the one folder
 * DIR_PATH, if that is not NULL.  Of the variants of one name the one with the
 * highest score is taken, and the file without a variant where none can be had.
 * At the end comes the file that GGML_BACKEND_PATH names.
 *
 * What is refused is passed over, as are backends that are there already, so
 * that a second call adds nothing.  A folder that cannot be read is passed over
 * with a warning.
 */
GGML_API void ggml_backend_load_all(void);
GGML_API void ggml_backend_load_all_from_path(const char *dir_path);

/* ---- two backends ---- */

/*
 * A graph with all its tensors on another backend; all NULL if it could not be
 * copied.
 */
struct ggml_backend_graph_copy {
    ggml_backend_buffer_t buffer;         /* of all data */
    struct ggml_context *ctx_allocated;   /* tensors with data, and the graph */
    struct ggml_context *ctx_unallocated; /* views */
    struct ggml_cgraph *graph;
};

/*
 * Asked by ggml_backend_compare_graph_backend after each node; T1 and T2 are
 * the node's results on the two backends.  False ends the comparison.
 */
typedef bool (*ggml_backend_eval_callback)(
    int node_index, struct ggml_tensor *t1, struct ggml_tensor *t2,
    void *user_data);

#if defined(__GNUC__) && defined(__cplusplus)
/* The interface gives a struct and a function one name; -Wshadow has doubts. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/*
 * Copy GRAPH, all that its nodes are made of, and their data into a new buffer
 * on BACKEND.  Every tensor must have data.  Flags and extra are not copied.
 * All fields of the result are NULL when something failed, and for slices of
 * graphs.
 */
GGML_API struct ggml_backend_graph_copy ggml_backend_graph_copy(
    ggml_backend_t backend, struct ggml_cgraph *graph);
#if defined(__GNUC__) && defined(__cplusplus)
#pragma GCC diagnostic pop
#endif

/* Free all of a copy; one that failed is allowed. */
GGML_API void ggml_backend_graph_copy_free(
    struct ggml_backend_graph_copy copy);

/*
 * Run GRAPH node by node on BACKEND1, and a copy of it on BACKEND2, and show
 * CALLBACK both results of each node that is no mere view.  Each side goes on
 * with its own results, and those of GRAPH are overwritten.
 *
 * False when the graph could not be copied; true otherwise, also after CALLBACK
 * ended it.  What the nodes' computation returned does not count.
 */
GGML_API bool ggml_backend_compare_graph_backend(
    ggml_backend_t backend1, ggml_backend_t backend2,
    struct ggml_cgraph *graph, ggml_backend_eval_callback callback,
    void *user_data);

/*
 * ---- scheduler ----
 *
 * A scheduler computes one graph on several backends.  It chooses a backend for
 * each node, cuts the graph into splits where the backend changes, gives all
 * tensors their places, and copies what a split reads from where its backend
 * cannot reach it.  While one of these functions works, the operations and
 * callbacks of its graph cannot use the scheduler: their calls fail.
 */

/*
 * A new scheduler for N_BACKENDS backends, any number of them, the preferred
 * one first and one of a CPU device last: GPUs, then accelerators (devices of
 * type ACCEL), then the CPU.  They stay the client's and outlive it.
 *
 *   bufts       the memory that each backend computes in; NULL, for all or for
 *               one, means its default
 *   graph_size  how many nodes and leafs a graph will have, in all, about; it
 *               is no limit, and a graph that has more only takes longer, once
 *   parallel    keep several copies of all inputs, so that a graph can be
 *               prepared while the last one is still computed
 *
 * Both arrays stay the caller's and are copied.  Freed with
 * ggml_backend_sched_free.  NULL without a backend, when the last one is no CPU
 * or one cannot use its memory, and without memory.
 */
GGML_API ggml_backend_sched_t ggml_backend_sched_new(
    ggml_backend_t *backends, ggml_backend_buffer_type_t *bufts,
    int n_backends, size_t graph_size, bool parallel);

/*
 * Free the scheduler with its buffers, after its last work and before its
 * backends.  No tensor may use them any more.  NULL is allowed.
 */
GGML_API void ggml_backend_sched_free(ggml_backend_sched_t sched);

/*
 * Make the buffers large enough for MEASURE_GRAPH, the largest to come, and
 * forget it again, with what the client chose, as ggml_backend_sched_reset
 * does.  The graph stays as it is, and no tensor gets its place.  Waits for all
 * work.
 *
 * False when a buffer cannot be had, and when the graph cannot be split: it has
 * failed, a node is supported by no backend, or a tensor lies where none can
 * use it.
 */
GGML_API bool ggml_backend_sched_reserve(
    ggml_backend_sched_t sched, struct ggml_cgraph *measure_graph);

/*
 * Forget the graph and what the client chose.  The graph's tensors must not be
 * used any more, but for reading outputs until the next graph is allocated.
 * Buffers stay; nothing is waited for.
 */
GGML_API void ggml_backend_sched_reset(ggml_backend_sched_t sched);

/*
 * Split GRAPH and give all its tensors their places.  Sources that have to be
 * copied are replaced in the nodes: the graph is for this scheduler from now
 * on, and only until its next reset.  A graph that was allocated before is
 * forgotten; what the client chose since the last reset stays.
 *
 * False as for ggml_backend_sched_reserve, and when a backend refuses a tensor.
 * The graph reads its own sources again then.
 */
GGML_API bool ggml_backend_sched_alloc_graph(
    ggml_backend_sched_t sched, struct ggml_cgraph *graph);

/*
 * Compute the graph that is allocated (with a warning when GRAPH is another),
 * or, when there is none, allocate GRAPH and compute it.  The first form waits
 * for all work; the second returns when all is queued, after which the inputs
 * may be changed, and outputs are read after ggml_backend_sched_synchronize or
 * by functions that wait.
 *
 * The same graph may be computed again and again.  Its inputs are to be written
 * each time: behind their last reader their memory is used for others.
 *
 * Returns the status of the first split that did not succeed, after which no
 * other was begun; GGML_STATUS_ALLOC_FAILED without memory, and
 * GGML_STATUS_FAILED when the graph cannot be split or allocated for another
 * reason.
 */
GGML_API enum ggml_status ggml_backend_sched_graph_compute(
    ggml_backend_sched_t sched, struct ggml_cgraph *graph);
GGML_API enum ggml_status ggml_backend_sched_graph_compute_async(
    ggml_backend_sched_t sched, struct ggml_cgraph *graph);

/* Wait for all work of all backends, in their order. */
GGML_API void ggml_backend_sched_synchronize(ggml_backend_sched_t sched);

/*
 * ---- scheduler's choices ----
 *
 * Which backend a node gets:  what the client chose comes first.  A tensor that
 * has its place already stays on the first backend that can use it there; a
 * flagged input belongs to the last backend; an operation, unless it is ROPE,
 * goes to the first backend that can use the memory of its weight (a source in
 * a buffer for weights), and from the last backend, when the weight lies in
 * memory of the host, to the first one that wants to offload it.  Nodes between
 * follow their neighbours, the rest goes where most sources are.
 *
 * A copied source is named "<backend>#<source>#<copy>".  Copied inputs of the
 * graph are read when the compute function is called, others when they are
 * computed.
 */

/*
 * Asked by a scheduler that computes.  With ASK: is the client going to look at
 * node T?  Without: T, which it wanted to look at, is computed, and its data
 * can be read; false leaves out the nodes that follow in the same split, which
 * is not a failure of the computation.
 */
typedef bool (*ggml_backend_sched_eval_callback)(
    struct ggml_tensor *t, bool ask, void *user_data);

/*
 * Let BACKEND, one of the scheduler's, compute NODE, until the next reset; no
 * effect for another backend.  A preferred backend that works in the same
 * memory may take its place, and views and what works in place are where their
 * memory is.
 */
GGML_API void ggml_backend_sched_set_tensor_backend(
    ggml_backend_sched_t sched, struct ggml_tensor *node,
    ggml_backend_t backend);

/*
 * The backend that was chosen for NODE, by the client or by the scheduler; NULL
 * for a tensor that is not known, but with a single backend every tensor is
 * once a graph is.  Until the next reset.
 */
GGML_API ggml_backend_t ggml_backend_sched_get_tensor_backend(
    ggml_backend_sched_t sched, struct ggml_tensor *node);

/* How many backends there are, and the one with number I; NULL beyond them. */
GGML_API int ggml_backend_sched_get_n_backends(ggml_backend_sched_t sched);
GGML_API ggml_backend_t ggml_backend_sched_get_backend(
    ggml_backend_sched_t sched, int i);

/*
 * Splits of the graph that was split last, by reserving too; and the copies of
 * inputs that are kept, 1 for a scheduler that is not parallel.
 */
GGML_API int ggml_backend_sched_get_n_splits(ggml_backend_sched_t sched);
GGML_API int ggml_backend_sched_get_n_copies(ggml_backend_sched_t sched);

/*
 * Bytes of the buffer in which BACKEND computes; 0 before there is one, for a
 * backend whose memory is that of a preferred one, and for an unknown backend.
 */
GGML_API size_t ggml_backend_sched_get_buffer_size(
    ggml_backend_sched_t sched, ggml_backend_t backend);

/*
 * Let CALLBACK see the nodes that it asks for, from the next compute on; NULL
 * for none.  It costs waiting after each of them.
 */
GGML_API void ggml_backend_sched_set_eval_callback(
    ggml_backend_sched_t sched, ggml_backend_sched_eval_callback callback,
    void *user_data);

#ifdef __cplusplus
}
#endif

#endif
