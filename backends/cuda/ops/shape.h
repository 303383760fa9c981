/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/shape.h - what is asked about nodes, and types as kernels know them.
 */
#ifndef GB_CUDA_OPS_SHAPE_H
#define GB_CUDA_OPS_SHAPE_H

#include "backends/cuda/kernels/args.h"

#include "lib/node/shape.h"

/* The number by which kernels know a floating-point type. */
static inline enum gb_cuda_float
gb_cuda_float_of(enum ggml_type type)
{
    if (type == GGML_TYPE_F32)
        return GB_CUDA_F32;
    return type == GGML_TYPE_F16 ? GB_CUDA_F16 : GB_CUDA_BF16;
}

#endif
