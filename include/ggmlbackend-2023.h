/* SPDX-License-Identifier: MIT */
/*
 * ggmlbackend-2023.h - bringing in a backend that was written in 2023.
 *
 * The backend's source is compiled with the folder level-2023 in front (flags
 * of pkg-config ggmlbackend-2023); this header suits such sources as well as
 * those of today.  After the call below the backend is a device like any other:
 *
 *   - its buffers are a buffer type, whose tensors begin at the backend's
 *     alignment wherever its memory begins;
 *   - blocking transfers are its asynchronous ones, and waiting for them;
 *   - graphs go to its graph_compute.  A backend that learns to tell of
 *     failures does so with ggmlbackend_fail (ggmlbackend.h).
 */
#ifndef GGMLBACKEND_2023_H
#define GGMLBACKEND_2023_H

/* The one of the level that the source is compiled for. */
#include <ggml.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ggml_backend;
struct ggml_backend_reg;

/* ---- registering ---- */

/* What the device counts as. */
enum ggmlbackend_2023_kind {
    GGMLBACKEND_2023_GPU   = 0, /* has memory of its own */
    GGMLBACKEND_2023_ACCEL = 1, /* helps the CPU with some operations */
    GGMLBACKEND_2023_CPU   = 2  /* is_host must be true */
};

/* What a backend of 2023 does not tell by itself; all 0 but init is usual. */
struct ggmlbackend_2023 {
    /* A new backend; NULL when it cannot be had. */
    struct ggml_backend *(*init)(void);
    /* Of registration, device and buffer type.  NULL: what get_name says. */
    const char *name;
    /* Of the device, for people.  NULL: the name. */
    const char *description;
    enum ggmlbackend_2023_kind kind;
    /*
     * Its buffers are ordinary memory with data in the standard layout, and it
     * computes in any such memory.
     */
    bool is_host;
    /*
     * init gives one backend of which there cannot be two.  Otherwise each
     * backend that the device is asked for is a new one, which computes in
     * buffers of the first.
     */
    bool is_single;
    /* The members graph_plan_create, _free and _compute work. */
    bool has_plans;
    /*
     * The operations that it computes, for a backend without supports_op.
     * NULL: all.  In either case, and with supports_op too, it gets no node
     * that meant something else in 2023; and sources stand in the order of
     * 2023.  Before 2023-11-01 rotary positions had other parameters: a source
     * of that time needs a list without GGML_OP_ROPE and GGML_OP_ROPE_BACK.
     */
    const enum ggml_op *ops;
    size_t n_ops;
    /* Bytes of memory.  NULL: not known. */
    void (*get_memory)(size_t *free, size_t *total);
    /* 16 bytes.  NULL: made from the name. */
    const uint8_t *guid;
};

/*
 * Make a device of the backend and put it into the registry.  One backend is
 * made at once, stays for the rest of the process, and owns all buffers.
 * BACKEND and its strings and lists are copied.  A number is put behind a name
 * that is taken.
 *
 * Returns the registration, which is the registry's.  NULL, with the reason,
 * when init gives none, when the backend lacks a member that may not be NULL,
 * when its alignment is no power of two, or without memory; the backend is
 * freed then.  Any thread.
 */
GGML_API struct ggml_backend_reg *ggmlbackend_register_2023(
    const struct ggmlbackend_2023 *backend);

#ifdef __cplusplus
}
#endif

#endif
