/* SPDX-License-Identifier: MIT */
/*
 * tensor/view.h - tensors that share another one's data.
 */
#ifndef GB_TENSOR_VIEW_H
#define GB_TENSOR_VIEW_H

#include "ggml.h"

/*
 * A view of SRC's data that begins OFFSET bytes behind SRC's first.
 *
 * It has SRC's type, the N_DIMS counts NE and contiguous strides, no name,
 * operation NONE and no sources; view_src is never itself a view.  The caller
 * may give it other strides, and checks what they reach.
 *
 * A failed node when SRC is NULL or failed, or when the view, counted as
 * contiguous, would end behind the data of what it views.
 */
struct ggml_tensor *gb_tensor_view(
    struct ggml_context *ctx, struct ggml_tensor *src, int n_dims,
    const int64_t *ne, size_t offset);

#endif
