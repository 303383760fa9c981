/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-reduce.h - arguments of the kernels of reduce.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_REDUCE_H
#define GB_CUDA_KERNELS_ARGS_REDUCE_H

#include "backends/cuda/kernels/args.h"

/* dst[0, row] = the sum of src0[:, row] / divisor, any strides. */
struct gb_cuda_sum_rows_args {
    struct gb_cuda_tensor dst, src0;
    int64_t n_rows; /* of src0 */
    float divisor;
    int dst_type; /* enum gb_cuda_float */
};

/* parts[i] = a sum over elements per_part * i to per_part * (i + 1), in index
 * order. */
struct gb_cuda_parts_args {
    struct gb_cuda_tensor src0, src1;
    float *parts;
    int64_t n; /* elements */
    int64_t per_part;
    int64_t n_parts;
};

/* dst = the sum of counts. */
struct gb_cuda_join_counts_args {
    int64_t *dst;
    const float *parts;
    int64_t n_parts;
};

/* dst[row] = the place of the largest element of src0[:, row]. */
struct gb_cuda_argmax_args {
    struct gb_cuda_tensor dst, src0;
};

#endif
