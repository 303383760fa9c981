/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-recurrent.h - arguments of the kernels of recurrent.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_RECURRENT_H
#define GB_CUDA_KERNELS_ARGS_RECURRENT_H

#include "backends/cuda/kernels/args.h"

/* dst[r, t, s] = the sum over x of src0[t + x, r, s] * taps[x, r]. */
struct gb_cuda_ssm_conv_args {
    struct gb_cuda_tensor dst, src0;
    const float *taps;
    int64_t n_taps;
    int64_t n; /* elements of dst */
};

/* Of N numbers a state, R channels, T tokens and S sequences. */
struct gb_cuda_ssm_scan_args {
    float *y;      /* [R, T, S], contiguous */
    float *states; /* [N, R, S], the last ones, contiguous */
    struct gb_cuda_tensor first;       /* [N, R, S] */
    struct gb_cuda_tensor x, dt;       /* [R, T, S] */
    struct gb_cuda_tensor a;           /* [N, R] */
    struct gb_cuda_tensor b, c;        /* [N, T, S] */
};

/* Of heads of Z elements: all are contiguous, [Z, H, T], but bonus [Z, H] and
 * states [Z, Z, H, S]. */
struct gb_cuda_linear_args {
    float *out;
    float *states; /* the last ones */
    const float *k, *v, *r, *decay, *bonus, *first;
    int64_t z, n_heads;
    int64_t n_seqs;
    int64_t n_tokens; /* of each sequence */
    float scale;      /* of the output, without a bonus */
    int32_t unused;
};

#endif
