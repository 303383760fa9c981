/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-softmax.h - arguments of the kernels of softmax.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_SOFTMAX_H
#define GB_CUDA_KERNELS_ARGS_SOFTMAX_H

#include "backends/cuda/kernels/args.h"

/* Rows of F32, dense.  The mask's row is that of dimension 1, for all heads
 * (dimension 2) and batches. */
struct gb_cuda_softmax_args {
    struct gb_cuda_tensor dst, src0;
    const char *mask;    /* NULL for none */
    int64_t mask_stride; /* bytes from row to row */
    int64_t n_rows;
    float scale;
    float max_bias;
    int64_t power; /* the largest power of two up to the number of heads */
};

/* src0 is the gradient of the result, src1 the result. */
struct gb_cuda_softmax_back_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n_rows;
    float scale;
    int32_t unused;
};

#endif
