/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-mask.h - arguments of the kernel of mask.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_MASK_H
#define GB_CUDA_KERNELS_ARGS_MASK_H

#include "backends/cuda/kernels/args.h"

/* dst = src0 up to column n_past + row, VALUE behind it. */
struct gb_cuda_mask_args {
    struct gb_cuda_tensor dst, src0;
    int64_t n;
    int64_t n_past;
    float value;
    int32_t unused;
};

#endif
