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

/* Scores of several nodes: a scale, then what is added or minus infinity, as a
 * mask, then softmax.  All are rows of F32, dense. */
struct gb_cuda_softmax_chain_args {
    struct gb_cuda_tensor dst, src0;
    struct gb_cuda_tensor addend;    /* repeated; no data: nothing is added */
    struct gb_cuda_tensor scaled;    /* results that somebody sees; no data: */
    struct gb_cuda_tensor masked;    /* nobody does */
    int64_t n_rows;
    int64_t n_past; /* of row i1 the elements behind n_past + i1 are minus
                       infinity */
    float factor;   /* of the first scale */
    float scale;    /* of softmax */
};

/* src0 is the gradient of the result, src1 the result. */
struct gb_cuda_softmax_back_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n_rows;
    float scale;
    int32_t unused;
};

#endif
