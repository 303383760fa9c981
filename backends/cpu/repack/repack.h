/* SPDX-License-Identifier: MIT */
/*
 * cpu/repack/repack.h - repacked weights: which tensors are, and how their
 * bytes come there and back.
 *
 * Memory whose buffer type is marked (below) has weights as in
 * kernels/api/repacked.h where gb_cpu_can_repack says so, and all else as it
 * was set.  So a tensor's type and shape say how it lies, and nothing has to be
 * kept for it.
 */
#ifndef GB_CPU_REPACK_REPACK_H
#define GB_CPU_REPACK_REPACK_H

#include "ggml-backend-impl.h"

#include <stdbool.h>
#include <stddef.h>

/* A buffer type of such memory has this as its context. */
extern const char gb_cpu_repack_mark;

/* Is T, by itself and not as a view, in such memory? */
static inline bool
gb_cpu_in_repack_buffer(const struct ggml_tensor *t)
{
    return t->view_src == NULL && t->buffer != NULL &&
           t->buffer->buft->context == &gb_cpu_repack_mark;
}

/* Do weights of T's type and shape get repacked?  Those of a type with kernels
 * for it, dense, and as many rows as are whole groups. */
bool gb_cpu_can_repack(const struct ggml_tensor *t);

/* Bytes of a group of rows of T, which can be repacked. */
size_t gb_cpu_repack_group_bytes(const struct ggml_tensor *t);

/* One group of T's rows: ROWS are as in a file, GROUP as in
 * kernels/api/repacked.h. */
void gb_cpu_repack_group(const struct ggml_tensor *t, const void *rows,
                         void *group);
void gb_cpu_unpack_group(const struct ggml_tensor *t, const void *group,
                         void *rows);

#endif
