/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-slices.h - arguments of the kernel of slices.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_SLICES_H
#define GB_CUDA_KERNELS_ARGS_SLICES_H

#include "backends/cuda/kernels/args.h"

#define GB_CUDA_MAX_SLICES 8

/*
 * The sum over slices of src times weights, all of F32: of elements
 * (i, slice, token), what is left is (i, token).
 */
struct gb_cuda_slices_args {
    struct gb_cuda_tensor src;
    struct gb_cuda_tensor weights; /* strides of 0 where one is used again */
    /* The products, and the sum of the first two slices, three, and so on; no
     * data where nobody sees them. */
    struct gb_cuda_tensor products;
    struct gb_cuda_tensor sums[GB_CUDA_MAX_SLICES - 1];
    int64_t n; /* elements of a sum */
    int32_t n_slices;
    int32_t slices[GB_CUDA_MAX_SLICES]; /* in the order of the sum */
    int32_t unused;
};

#endif
