/* SPDX-License-Identifier: MIT */
/*
 * tensor/tensor.h - making tensors.
 */
#ifndef GB_TENSOR_TENSOR_H
#define GB_TENSOR_TENSOR_H

#include "ggml.h"

/*
 * A tensor with the strides NB, as gb_tensor_sizes gave them for N_DIMS counts
 * NE, and room for DATA_SIZE bytes behind it in the pool.  Its data is NULL.  A
 * failed node when the pool has no room.
 */
struct ggml_tensor *gb_tensor_new(
    struct ggml_context *ctx, enum ggml_type type, int n_dims,
    const int64_t *ne, const size_t nb[GGML_MAX_DIMS], size_t data_size);

#endif
