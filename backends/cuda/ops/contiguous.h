/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/contiguous.h - which tensors kernels for contiguous rows of floats
 * may take.
 */
#ifndef GB_CUDA_OPS_CONTIGUOUS_H
#define GB_CUDA_OPS_CONTIGUOUS_H

#include "ggml.h"

#include <stdint.h>

/* Is T contiguous F32 that kernels may access four elements at a time? */
static inline bool
gb_cuda_is_f32_by_4(const struct ggml_tensor *t)
{
    return t->type == GGML_TYPE_F32 && ggml_is_contiguous(t) &&
           ggml_nelements(t) % 4 == 0 && (uintptr_t)t->data % 16 == 0;
}

#endif
