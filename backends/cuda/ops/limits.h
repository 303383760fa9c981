/* SPDX-License-Identifier: MIT */
/*
 * cuda/ops/limits.h - what a launch may use on a card, and what kernels are
 * chosen by.  Nothing else of a card counts: results of two cards with equal
 * limits are equal to the bit, unless the vendor's BLAS has a part in them.
 */
#ifndef GB_CUDA_OPS_LIMITS_H
#define GB_CUDA_OPS_LIMITS_H

#include <stdbool.h>
#include <stddef.h>

/* Kernel variants, the lowest first; a card has all below its own. */
enum gb_cuda_variant {
    GB_CUDA_PLAIN, /* 6.0 */
    GB_CUDA_DP4A,  /* 6.1: sums of four products of int8 */
    GB_CUDA_MMA,   /* 7.5: m16n8k8 of f16, m8n8k16 of int8 */
    GB_CUDA_MMA8,  /* 8.0: m16n8k16 of f16 and bf16, m16n8k32 of int8, cp.async */
    GB_CUDA_WGMMA, /* 9.0a: warp group MMA, TMA */
};

struct gb_cuda_limits {
    enum gb_cuda_variant variant;
    int n_sms;     /* multiprocessors */
    int warp;      /* lanes of a warp: 32 or 64 */
    size_t shared; /* bytes of shared memory that one thread block may have */
    size_t blas_workspace; /* bytes that a row gives the vendor's BLAS in its
                              scratch; 0: there is none to be used */
    bool weights_stay; /* nothing of the graph writes into buffers of weights */
};

#endif
