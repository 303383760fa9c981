/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/args.h - tensors as kernels see them.
 */
#ifndef GB_CUDA_OPS_ARGS_H
#define GB_CUDA_OPS_ARGS_H

#include "backends/cuda/kernels/args.h"

#include "ggml.h"

struct gb_cuda_tensor gb_cuda_arg(const struct ggml_tensor *tensor);

#endif
