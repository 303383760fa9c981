/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-outprod.h - arguments of the kernels of outprod.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_OUTPROD_H
#define GB_CUDA_KERNELS_ARGS_OUTPROD_H

#include "backends/cuda/kernels/args.h"

/* dst[i, j, p, q] = the sum over k of a[i, k, p / r2, q / r3] * b[j, k, p, q],
 * r2 and r3 saying how many matrices of b share one of a. */
struct gb_cuda_out_prod_args {
    struct gb_cuda_tensor dst, a, b;
    int64_t i_tiles, j_tiles, n_tiles;
};

#endif
