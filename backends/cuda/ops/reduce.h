/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/reduce.h - the second launch of sums over everything.
 */
#ifndef GB_CUDA_OPS_REDUCE_H
#define GB_CUDA_OPS_REDUCE_H

#include "backends/cuda/ops/emit.h"

#include "ggml.h"

/* dst[0], of a floating-point type, = the sum of N_PARTS floats at PARTS, in an
 * order that follows from their number, divided by DIVISOR. */
void gb_cuda_join_parts(
    struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
    const float *parts, int64_t n_parts, float divisor);

#endif
