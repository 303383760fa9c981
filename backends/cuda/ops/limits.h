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

/* Kernel variants, the lowest first.  A card has all below its own that are its
 * vendor's; the first two are both vendors'. */
enum gb_cuda_variant {
    GB_CUDA_PLAIN, /* 6.0 */
    GB_CUDA_DP4A,  /* 6.1: sums of four products of int8 */
    GB_CUDA_MFMA,  /* AMD's matrix cores: 16 x 16 x 16 of f16 and bf16; CDNA.
                      Rows of kernels.def that are not for them alone are for
                      GB_CUDA_MMA as well */
    GB_CUDA_WMMA,  /* the same kernels on RDNA 3 and 4 */
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

/* Has the card kernels of VARIANT, one of a row of kernels.def? */
static inline bool
gb_cuda_has_variant(
    const struct gb_cuda_limits *limits, enum gb_cuda_variant variant)
{
    return limits->variant >= variant &&
           (variant != GB_CUDA_MFMA || limits->variant <= GB_CUDA_WMMA);
}

/* The one that a card without VARIANT has; -1: there is none. */
static inline int
gb_cuda_variant_below(enum gb_cuda_variant variant)
{
    return variant > GB_CUDA_DP4A && variant <= GB_CUDA_MMA ? GB_CUDA_DP4A
                                                            : (int)variant - 1;
}

#endif
