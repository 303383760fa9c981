/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/formats.h - which tensors kernels read as floats.
 */
#ifndef GB_CUDA_OPS_FORMATS_H
#define GB_CUDA_OPS_FORMATS_H

#include "ggml.h"

#include <stdbool.h>

/* Is there a reader for TYPE (kernels/formats.def)? */
bool gb_cuda_has_format(enum ggml_type type);

/* Do all rows of TENSOR begin where kernels can read its type: at multiples of
 * the largest power of two, up to 16, that the size of its elements or blocks
 * is a multiple of?  The stride of a single element means nothing.  A view that
 * has no address yet goes by its offset. */
bool gb_cuda_is_aligned(const struct ggml_tensor *tensor);

/* Can TENSOR's elements be read as floats: of a floating-point type with any
 * strides, or in blocks with dense rows; aligned? */
bool gb_cuda_can_read(const struct ggml_tensor *tensor);

#endif
