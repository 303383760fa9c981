/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/formats.c - which tensors kernels read as floats.
 */
#include "backends/cuda/ops/formats.h"

#include "backends/cuda/ops/shape.h"

static const bool formats[GGML_TYPE_COUNT] = {
#define GB_CUDA_FLOATS(TYPE, name, type) [GGML_TYPE_##TYPE] = true,
#define GB_CUDA_BLOCKS(TYPE, name)       [GGML_TYPE_##TYPE] = true,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_FLOATS
#undef GB_CUDA_BLOCKS
};

bool
gb_cuda_has_format(enum ggml_type type)
{
    return (unsigned)type < GGML_TYPE_COUNT && formats[type];
}

bool
gb_cuda_is_aligned(const struct ggml_tensor *tensor)
{
    const size_t size = ggml_type_size(tensor->type);
    const size_t unit = size & -size; /* the power of two in it */
    size_t bytes = tensor->view_offs | (uintptr_t)tensor->data;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        bytes |= tensor->ne[i] > 1 ? tensor->nb[i] : 0;
    return bytes % (unit < 16 ? unit : 16) == 0;
}

bool
gb_cuda_can_read(const struct ggml_tensor *tensor)
{
    return gb_cuda_is_aligned(tensor) &&
           (gb_node_is_float(tensor->type) ||
            (gb_cuda_has_format(tensor->type) &&
             gb_node_has_dense_rows(tensor)));
}
