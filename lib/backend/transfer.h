/* SPDX-License-Identifier: MIT */
/*
 * backend/transfer.h - copies between tensors, for those who need the status.
 */
#ifndef GB_BACKEND_TRANSFER_H
#define GB_BACKEND_TRANSFER_H

#include "ggml-backend.h"

/* The buffer that holds the tensor's data, a view's source's; NULL for none. */
static inline ggml_backend_buffer_t
gb_transfer_home(const struct ggml_tensor *tensor)
{
    return tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
}

/*
 * As ggml_backend_tensor_copy, with its status.
 *
 * Returns GGML_STATUS_FAILED when a tensor has no data, their layouts differ or
 * a backend says that it could not copy, and GGML_STATUS_ALLOC_FAILED when there
 * is no memory to pass the data through; dst is unchanged then.
 */
enum ggml_status gb_transfer_copy(
    const struct ggml_tensor *src, struct ggml_tensor *dst);

#endif
