/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-route.h - arguments of the kernel of route.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ROUTE_H
#define GB_CUDA_KERNELS_ARGS_ROUTE_H

#include "backends/cuda/kernels/args.h"

/* The most elements of a row: as many as a warp makes the softmax of. */
#define GB_CUDA_ROUTE_MOST 512

/* Dense rows; no data where nobody sees them. */
struct gb_cuda_route_rows {
    char *data;
    int64_t stride; /* bytes from row to row */
};

struct gb_cuda_route_args {
    struct gb_cuda_route_rows src, values; /* F32, and its softmax */
    struct gb_cuda_route_rows order;       /* I32: indices of values, sorted */
    struct gb_cuda_route_rows picked;      /* those that come first */
    struct gb_cuda_route_rows sums;        /* of those, one number a row */
    struct gb_cuda_route_rows shares;      /* picked by their sum */
    int64_t n_rows;
    int32_t n, n_picked; /* elements of a row of src, and of picked */
    float scale;         /* of src */
    int32_t is_descending;
};

#endif
