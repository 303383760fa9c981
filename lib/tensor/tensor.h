/* SPDX-License-Identifier: MIT */
/*
 * tensor/tensor.h - making tensors.
 */
#ifndef GB_TENSOR_TENSOR_H
#define GB_TENSOR_TENSOR_H

#include "ggml.h"

#include "lib/base/attr.h"

#include <stddef.h>
#include <string.h>

/*
 * A new tensor of the shape NE, contiguous, with its data behind it where CTX
 * allocates data.  A failed node when the pool has no room; NULL, and nothing
 * is said, when TYPE cannot have the shape (gb_tensor_sizes).
 */
struct ggml_tensor *gb_tensor_new(struct ggml_context *ctx, enum ggml_type type,
                                  const int64_t ne[GGML_MAX_DIMS]);

/*
 * The description of a tensor of the shape NE with the strides NB: no name, no
 * operation, no sources and no data.  Each part of TENSOR is written once, and
 * what the compiler puts between them.
 */
static inline void
gb_tensor_describe(struct ggml_tensor *tensor, enum ggml_type type,
                   const int64_t ne[GGML_MAX_DIMS],
                   const size_t nb[GGML_MAX_DIMS])
{
    memset(tensor, 0, offsetof(struct ggml_tensor, ne));
    tensor->type = type;
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        tensor->ne[i] = ne[i];
    for (int i = 0; i < GGML_MAX_DIMS; i++)
        tensor->nb[i] = nb[i];
    tensor->op = GGML_OP_NONE;
    memset(tensor->op_params, 0, sizeof(tensor->op_params));
    tensor->flags = 0;
    memset(tensor->src, 0, sizeof(tensor->src));
    tensor->view_src = NULL;
    tensor->view_offs = 0;
    tensor->data = NULL;
    memset(tensor->name, 0, sizeof(tensor->name));
    memset(&tensor->extra, 0,
           sizeof(*tensor) - offsetof(struct ggml_tensor, extra));
}

/*
 * A walk over the tensors of a graph, all zero before.  Large graphs are in no
 * cache; but contexts put tensors one behind another, so that a walk goes
 * through memory from front to back, with small leaps, in one place or two.
 * What lies ahead is fetched in the order of addresses, since processors go on
 * with that by themselves: on a busy machine, a walk with leaps took 27 ns a
 * tensor instead of 41 with the list's next tensors fetched, and 90 with none.
 */
struct gb_tensor_walk {
    uintptr_t front[2]; /* where the next line to be fetched is */
};

static inline void
gb_tensor_walk(struct gb_tensor_walk *walk, const struct ggml_tensor *tensor)
{
    enum { AHEAD = 8192, BEHIND = 32768, LINE = 64, STEP = 6 * LINE };
    const uintptr_t here = (uintptr_t)tensor;
    uintptr_t front = walk->front[0];

    if (front - here + BEHIND > AHEAD + 2 * BEHIND) {
        front = walk->front[1];
        walk->front[1] = walk->front[0];
        if (front - here + BEHIND > AHEAD + 2 * BEHIND)
            front = here;
    }
    /* No less than a tensor: often enough, and always as many. */
    if (front < here + AHEAD) {
        GB_PREFETCH((const void *)front);
        GB_PREFETCH((const void *)(front + LINE));
        GB_PREFETCH((const void *)(front + 2 * LINE));
        GB_PREFETCH((const void *)(front + 3 * LINE));
        GB_PREFETCH((const void *)(front + 4 * LINE));
        GB_PREFETCH((const void *)(front + 5 * LINE));
        front += STEP;
    }
    walk->front[0] = front;
}

#endif
