/* SPDX-License-Identifier: MIT */
/*
 * backend/buffer.h - buffers that need not be whole, and the room behind their
 * structs.
 */
#ifndef GB_BACKEND_BUFFER_H
#define GB_BACKEND_BUFFER_H

#include "ggml-backend-impl.h"

/*
 * Bytes that ggml_backend_buffer_init leaves behind each struct, all zero.  The
 * adapters of lib/levels keep there what a buffer of their level has besides.
 * It is there in every buffer, so that a backend of such a level may look at
 * one that is not its own.
 */
#define GB_BUFFER_ROOM (8 * sizeof(void *))

/*
 * As ggml_backend_buffer_init, for a buffer that no tensor lies in: any member
 * may be missing.
 */
ggml_backend_buffer_t gb_buffer_new(
    ggml_backend_buffer_type_t buft, struct ggml_backend_buffer_i iface,
    void *context, size_t size);

#endif
