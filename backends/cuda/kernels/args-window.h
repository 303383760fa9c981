/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-window.h - arguments of the kernels of window.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_WINDOW_H
#define GB_CUDA_KERNELS_ARGS_WINDOW_H

#include "backends/cuda/kernels/args.h"

/* Elements are moved as they are. */
struct gb_cuda_window_args {
    struct gb_cuda_tensor dst, src0;
    int size;     /* bytes of an element: 1, 2, 4 or 8 */
    int32_t unused;
    int64_t n;    /* elements of dst */
    int64_t side; /* positions of a window along x and y */
    int64_t across; /* windows side by side */
};

/* dst[x + side * y, row] = src0[..] + columns[x, row] + rows[y, row]; all are
 * contiguous. */
struct gb_cuda_add_rel_pos_args {
    float *dst;
    const float *src0;
    const float *columns;
    const float *rows;
    int64_t side;
    int64_t n; /* elements of dst */
};

#endif
