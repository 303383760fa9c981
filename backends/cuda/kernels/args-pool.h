/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-pool.h - arguments of the kernels of pool.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_POOL_H
#define GB_CUDA_KERNELS_ARGS_POOL_H

#include "backends/cuda/kernels/args.h"

/*
 * Windows of k0 x k1 elements of a plane, the one of result (x, y) beginning at
 * (x s0 - p0, y s1 - p1).  For POOL_1D s1 is 0, and each row of results has a
 * plane of its own, which is a row.
 */
struct gb_cuda_pool_args {
    struct gb_cuda_tensor dst;  /* of the gradient: the planes' */
    struct gb_cuda_tensor src;  /* planes */
    struct gb_cuda_tensor grad; /* of the results, for the gradient */
    int64_t *places; /* of each window, in the order of the results: where the
                        largest element of its plane is, or -1 */
    int64_t k0, k1, s0, s1, p0, p1;
    int64_t row_plane; /* bytes from a row's plane to the next row's, or 0 */
    int64_t n; /* results; of the last launch of a gradient: elements of dst */
    int src_type; /* enum gb_cuda_float */
    int is_max;
};

#endif
