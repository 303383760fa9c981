/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-binary.h - arguments of the kernels of binary.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_BINARY_H
#define GB_CUDA_KERNELS_ARGS_BINARY_H

#include "backends/cuda/kernels/args.h"

/* dst = src0 OP src1, where src1 is repeated along its shorter dimensions. */
struct gb_cuda_binary_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n; /* elements of dst */
};

#endif
