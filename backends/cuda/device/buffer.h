/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/buffer.h - where a tensor lies, for those who work on it.
 */
#ifndef GB_CUDA_DEVICE_BUFFER_H
#define GB_CUDA_DEVICE_BUFFER_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"

struct gb_cuda_buffer {
    struct gb_cuda_hold hold;
    struct gb_cuda_device *device;
    gb_cuda_address address;
    size_t size;
    bool is_managed;
    void *host; /* the client's memory of which this is the card's view; NULL */
};

/* The buffer that holds the tensor's data, a view's source's; NULL for none. */
static inline ggml_backend_buffer_t
gb_cuda_home(const struct ggml_tensor *tensor)
{
    return tensor->view_src != NULL ? tensor->view_src->buffer : tensor->buffer;
}

/* The device buffer that TENSOR lies in; NULL where it lies elsewhere. */
const struct gb_cuda_buffer *gb_cuda_buffer_of(
    const struct ggml_tensor *tensor);

/*
 * Why kernels on HOLD's GPU cannot reach all of TENSOR, as the predicate of a
 * sentence: it is elsewhere, was freed with its GPU, or ends outside its buffer.
 * NULL: they can.
 */
const char *gb_cuda_place_fault(
    const struct gb_cuda_hold *hold, const struct ggml_tensor *tensor);

static inline bool
gb_cuda_lies_on(
    const struct gb_cuda_hold *hold, const struct ggml_tensor *tensor)
{
    return gb_cuda_place_fault(hold, tensor) == NULL;
}

static inline gb_cuda_address
gb_cuda_address_of(const struct ggml_tensor *tensor)
{
    return (gb_cuda_address)(uintptr_t)tensor->data;
}

#endif
