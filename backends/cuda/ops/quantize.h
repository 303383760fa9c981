/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/quantize.h - floats into blocks, and blocks into floats.
 */
#ifndef GB_CUDA_OPS_QUANTIZE_H
#define GB_CUDA_OPS_QUANTIZE_H

#include "backends/cuda/ops/emit.h"

#include "ggml.h"

#include <stdbool.h>

/* Can floats be made blocks of TYPE? */
bool gb_cuda_can_quantize(enum ggml_type type);

/*
 * Can the elements of SRC, in row-major order, become those of DST, where one
 * is of a type in blocks and the other of a floating-point type, F32 if it is
 * DST?  Both have dense rows, and the elements of each block lie side by side.
 */
bool gb_cuda_can_convert_blocks(
    const struct ggml_tensor *dst, const struct ggml_tensor *src);

/* Put that into the plan; there is at least one element. */
void gb_cuda_emit_convert_blocks(
    struct gb_cuda_emit *emit, const struct ggml_tensor *dst,
    const struct ggml_tensor *src);

#endif
