/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-conv.h - arguments of the kernels of conv.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_CONV_H
#define GB_CUDA_KERNELS_ARGS_CONV_H

#include "backends/cuda/kernels/args.h"

/* What has one dimension has a height of 1. */
struct gb_cuda_conv_args {
    struct gb_cuda_tensor dst;    /* [x, y, out channel, batch] */
    struct gb_cuda_tensor kernel; /* [x, y, out channel, in channel] */
    struct gb_cuda_tensor input;  /* [x, y, in channel, batch] */
    int64_t n;
    int64_t stride;
    int64_t n_channels; /* in channels to go through */
};

#endif
