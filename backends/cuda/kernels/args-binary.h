/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-binary.h - arguments of the kernels of binary.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_BINARY_H
#define GB_CUDA_KERNELS_ARGS_BINARY_H

#include "backends/cuda/kernels/args.h"

/* With a and b of src0 and src1. */
enum gb_cuda_binary {
    GB_CUDA_ADD,       /* a + b */
    GB_CUDA_SUB,       /* a - b */
    GB_CUDA_MUL,       /* a * b */
    GB_CUDA_DIV,       /* a / b */
    GB_CUDA_SILU_BACK, /* a times the derivative of b / (1 + e^-b) */
};

/* dst = src0 OP src1, where src1 is repeated along its shorter dimensions. */
struct gb_cuda_binary_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n;      /* elements of dst */
    int64_t n_src1; /* elements of src1 */
    int32_t op;     /* an enum gb_cuda_binary */
    int32_t dst_type, src0_type, src1_type; /* enum gb_cuda_float each */
};

#endif
