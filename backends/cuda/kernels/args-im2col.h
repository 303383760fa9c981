/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-im2col.h - arguments of the kernels of im2col.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_IM2COL_H
#define GB_CUDA_KERNELS_ARGS_IM2COL_H

#include "backends/cuda/kernels/args.h"

/*
 * Images [x, y, channel, batch] and windows [element, x, y, batch]; what has
 * one dimension has a height of 1.  Along x (0) and y (1): strides s, paddings
 * p, dilations d, the kernel's sizes k.
 */
struct gb_cuda_im2col_args {
    struct gb_cuda_tensor image, windows;
    int64_t s0, s1, p0, p1, d0, d1, k0, k1;
    int64_t n;        /* elements of the result */
    int windows_type; /* enum gb_cuda_float */
    int32_t unused;
};

#endif
