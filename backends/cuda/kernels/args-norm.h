/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-norm.h - arguments of the kernels of norm.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_NORM_H
#define GB_CUDA_KERNELS_ARGS_NORM_H

#include "backends/cuda/kernels/args.h"

/* Rows of F32, dense.  src1 is there for RMS_NORM_BACK. */
struct gb_cuda_norm_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n_rows;
    float eps;
    int32_t unused;
};

/*
 * dst = norm(src + addend) * weights + bias, all of F32 with dense rows and the
 * counts of dst; strides of 0 where a row is used again.  What is not there has
 * no data: addend, bias, and the results in between that nobody sees.  With ids,
 * I32, dst is a matrix whose row I is made of src's row number ids[I], or of
 * zeros where src has none of that number.
 */
struct gb_cuda_norm_mul_args {
    struct gb_cuda_tensor dst, src, ids, addend, weights, bias;
    struct gb_cuda_tensor sum;    /* src + addend, or the rows that ids pick */
    struct gb_cuda_tensor normed; /* norm of that */
    struct gb_cuda_tensor scaled; /* times weights, where there is a bias */
    char *columns; /* dst as q8 activations, row after row, or NULL */
    char *halves;  /* dst as columns of halves, or NULL; never both */
    int64_t n_rows;
    float eps;
    int32_t has_mean; /* NORM, else RMS_NORM */
};

/* The longest row that the threads of a block keep in registers. */
#define GB_CUDA_NORM_KEPT 8192

/*
 * The same of rows of N values, of which a block keeps one, that follow each
 * other, and begin at multiples of 16, with one row of weights and no more.
 */
struct gb_cuda_norm_plain_args {
    const float *src, *weights;
    float *dst;
    float *normed; /* or NULL */
    char *columns, *halves;
    int32_t n;
    float eps;
    int32_t has_mean;
    int32_t unused;
};

/* Groups of channels (dimension 2), the last of which may have fewer. */
struct gb_cuda_group_norm_args {
    struct gb_cuda_tensor dst, src0;
    int64_t per_group; /* channels */
    int64_t n_groups;  /* of each batch */
    float eps;
    int32_t unused;
};

#endif
