/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-generate.h - arguments of the kernels of generate.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_GENERATE_H
#define GB_CUDA_KERNELS_ARGS_GENERATE_H

#include "backends/cuda/kernels/args.h"

/* dst[i] = start + step * i */
struct gb_cuda_arange_args {
    struct gb_cuda_tensor dst;
    float start, step;
};

/*
 * With the phase p = times[j] * 2^(i (high + low)) for i < half:
 *     dst[i, j] = cos p, dst[half + i, j] = sin p, the rest of the row 0
 */
struct gb_cuda_timestep_args {
    struct gb_cuda_tensor dst, times;
    int64_t n; /* elements of dst */
    int64_t half;
    float high; /* of few enough bits that i * high is exact */
    float low;
};

/* dst[i, j] = i == j ? src[i] : 0 in each matrix */
struct gb_cuda_diag_args {
    struct gb_cuda_tensor dst, src;
    int64_t n; /* elements of dst */
};

#endif
