/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/copy.h - copies that are part of other operations.
 */
#ifndef GB_CUDA_OPS_COPY_H
#define GB_CUDA_OPS_COPY_H

#include "backends/cuda/ops/emit.h"

#include "ggml.h"

/* Put a copy of SRC to DST into the plan: one type, the same number of
 * elements, taken in row-major order, at least one; quantised rows dense. */
void gb_cuda_emit_move(
    struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
    const struct ggml_tensor *src);

#endif
