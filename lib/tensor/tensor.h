/* SPDX-License-Identifier: MIT */
/*
 * tensor/tensor.h - making tensors.
 */
#ifndef GB_TENSOR_TENSOR_H
#define GB_TENSOR_TENSOR_H

#include "ggml.h"

#include "lib/base/attr.h"

/*
 * A tensor with the strides NB, as gb_tensor_sizes gave them for N_DIMS counts
 * NE, and room for DATA_SIZE bytes behind it in the pool.  Its data is NULL.  A
 * failed node when the pool has no room.
 */
struct ggml_tensor *gb_tensor_new(
    struct ggml_context *ctx, enum ggml_type type, int n_dims,
    const int64_t *ne, const size_t nb[GGML_MAX_DIMS], size_t data_size);

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
