/* SPDX-License-Identifier: MIT */
/*
 * backend/buffer.h - room behind a buffer's struct, for other levels.
 */
#ifndef GB_BACKEND_BUFFER_H
#define GB_BACKEND_BUFFER_H

/*
 * Bytes that ggml_backend_buffer_init leaves behind each struct, all zero.  The
 * adapters of lib/levels keep there what a buffer of their level has besides.
 * It is there in every buffer, so that a backend of such a level may look at
 * one that is not its own.
 */
#define GB_BUFFER_ROOM (8 * sizeof(void *))

#endif
