/* SPDX-License-Identifier: MIT */
/*
 * cuda/device/split-buffer.h - matrices of weights whose rows lie on several
 * cards.
 *
 * Row r of every matrix of a tensor lies on the card whose share has it, so
 * that each card has a tensor of the same kind with fewer rows.
 */
#ifndef GB_CUDA_DEVICE_SPLIT_BUFFER_H
#define GB_CUDA_DEVICE_SPLIT_BUFFER_H

#include "backends/cuda/device/context.h"
#include "backends/cuda/device/device.h"

/* The rows FIRST to FIRST + N - 1 of each matrix. */
struct gb_cuda_split_part {
    struct gb_cuda_device *device;
    struct gb_cuda_hold hold;
    int64_t first, n;
    gb_cuda_address address;
    size_t size; /* bytes, with the padding of the last row */
};

struct gb_cuda_split_tensor {
    struct gb_cuda_split_tensor *next; /* of the same buffer */
    /* Type and shape at allocation; the tensor was contiguous. */
    enum ggml_type type;
    int64_t ne[GGML_MAX_DIMS];
    size_t row_size, size; /* bytes of a row, and of the tensor */
    int n_parts;                       /* those that have rows */
    struct gb_cuda_split_part parts[GB_CUDA_MAX_DEVICES];
};

/* The parts of TENSOR; NULL if its buffer is of another kind, and for views, whose
 * rows may differ. */
const struct gb_cuda_split_tensor *gb_cuda_split_of(
    const struct ggml_tensor *tensor);

/* Is NODE, which is valid or empty, a product of weights in such a buffer? */
bool gb_cuda_split_is_product(const struct ggml_tensor *node);

/* Why TENSOR, which has parts, cannot be multiplied, as the predicate of a
 * sentence: it was changed, or a GPU failed.  NULL: it can. */
const char *gb_cuda_split_fault(const struct ggml_tensor *tensor);

/* ---- kinds of such memory ---- */

bool gb_cuda_is_split_type(ggml_backend_buffer_type_t buft);
/* The device that gathers the products of weights in such memory. */
struct gb_cuda_device *gb_cuda_split_main(ggml_backend_buffer_type_t buft);

/*
 * Memory of all devices by SHARES (one a device; NULL or all 0: by their
 * memory) for products that MAIN_DEVICE gathers; the same one for the same
 * shares.  NULL for what no type can be.  Any thread.
 */
ggml_backend_buffer_type_t gb_cuda_split_buffer_type(
    int main_device, const float *shares);

/*
 * The first row of N_ROWS that DEVICE or one behind it has, by the shares of
 * such a type.
 */
int64_t gb_cuda_split_first_row(
    ggml_backend_buffer_type_t buft, int device, int64_t n_rows);

/* What such a type does. */
ggml_backend_buffer_t gb_cuda_split_buffer_new(
    ggml_backend_buffer_type_t buft, size_t size);
size_t gb_cuda_split_alloc_size(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor);

#endif
