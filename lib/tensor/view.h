/* SPDX-License-Identifier: MIT */
/*
 * tensor/view.h - tensors that share another one's data.
 */
#ifndef GB_TENSOR_VIEW_H
#define GB_TENSOR_VIEW_H

#include "ggml.h"

#include <stdint.h>

/* Where a view of ROOT from OFFSET on has its data.  As a number: a view
 * without elements may lie where nothing is. */
static inline void *
gb_tensor_view_data(const struct ggml_tensor *root, size_t offset)
{
    return (void *)((uintptr_t)root->data + offset);
}

/*
 * A view of SRC's data that begins OFFSET bytes behind SRC's first.
 *
 * It has SRC's type, the shape NE and contiguous strides, no name, operation
 * NONE and no sources; view_src is never itself a view.  The caller may give it
 * other strides, and checks what they reach.
 *
 * A failed node when SRC is NULL or failed, or when the view, counted as
 * contiguous, would end behind the data of what it views.
 */
struct ggml_tensor *gb_tensor_view(
    struct ggml_context *ctx, struct ggml_tensor *src,
    const int64_t ne[GGML_MAX_DIMS], size_t offset);

/*
 * The same for a SRC that is good, with the strides NB; BYTES is what a
 * contiguous tensor of this shape has (gb_tensor_sizes).
 */
struct ggml_tensor *gb_tensor_view_sized(
    struct ggml_context *ctx, struct ggml_tensor *src,
    const int64_t ne[GGML_MAX_DIMS], const size_t nb[GGML_MAX_DIMS],
    size_t bytes, size_t offset);

/* A view of all of SRC, with its shape and strides, as above. */
struct ggml_tensor *gb_tensor_view_whole(
    struct ggml_context *ctx, struct ggml_tensor *src);

#endif
