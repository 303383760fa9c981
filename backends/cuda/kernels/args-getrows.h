/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-getrows.h - arguments of the kernels of getrows.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_GETROWS_H
#define GB_CUDA_KERNELS_ARGS_GETROWS_H

#include "backends/cuda/kernels/args.h"

/* dst[:, i, j, k] = src[:, ids[i, j, k], j, k] */
struct gb_cuda_get_rows_args {
    struct gb_cuda_tensor dst, src, ids;
    int64_t n; /* units of dst: values, or runs of four of blocks */
};

/* dst[:, r] = the sum of src[:, i] over all i with ids[i] = r */
struct gb_cuda_get_rows_back_args {
    struct gb_cuda_tensor dst, src, ids;
    int64_t n; /* values of dst */
};

#endif
