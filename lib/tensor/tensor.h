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
 * Whoever walks over the N tensors of a list, and is at I, says so: large
 * graphs are in no cache, and what comes soon is fetched meanwhile.  All of a
 * tensor but its name; or where it lies, buffer and data.
 */
#define GB_TENSOR_AHEAD 8

static inline void
gb_tensor_prefetch(struct ggml_tensor *const *tensors, int64_t n, int64_t i)
{
    if (n - i > GB_TENSOR_AHEAD) {
        const char *next = (const char *)tensors[i + GB_TENSOR_AHEAD];

        for (size_t at = 0; at < offsetof(struct ggml_tensor, data); at += 64)
            GB_PREFETCH(next + at);
        GB_PREFETCH(next + offsetof(struct ggml_tensor, data));
    }
}

static inline void
gb_tensor_prefetch_place(
    struct ggml_tensor *const *tensors, int64_t n, int64_t i)
{
    if (n - i > GB_TENSOR_AHEAD) {
        GB_PREFETCH(&tensors[i + GB_TENSOR_AHEAD]->buffer);
        GB_PREFETCH(&tensors[i + GB_TENSOR_AHEAD]->data);
    }
}

#endif
