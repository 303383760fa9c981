/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-loss.h - arguments of the kernels of loss.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_LOSS_H
#define GB_CUDA_KERNELS_ARGS_LOSS_H

#include "backends/cuda/kernels/args.h"

/* Rows of F32, dense; of the loss: parts[row] = the row's share. */
struct gb_cuda_cross_entropy_args {
    struct gb_cuda_tensor logits, labels;
    float *parts;
    int64_t n_rows;
};

/* dst = (softmax(logits) - labels) * gradient / rows. */
struct gb_cuda_cross_entropy_back_args {
    struct gb_cuda_tensor dst, logits, labels;
    const float *gradient;
    int64_t n_rows;
};

/* weights are changed in place, and so are both moments. */
struct gb_cuda_adamw_args {
    struct gb_cuda_tensor weights, gradient, first, second;
    const float *params; /* alpha beta1 beta2 eps wd beta1h beta2h */
    int64_t n;           /* elements */
};

#endif
