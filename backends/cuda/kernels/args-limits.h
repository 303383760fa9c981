/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-limits.h - arguments of the kernels of limits.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_LIMITS_H
#define GB_CUDA_KERNELS_ARGS_LIMITS_H

#include "backends/cuda/kernels/args.h"

/* Bytes of FROM that kernels which compute take their operands from, and of
 * shared memory that those of warp groups want. */
enum {
    GB_CUDA_LIMITS_OPERANDS = 64 << 10,
    GB_CUDA_LIMITS_SHARED = (8 << 10) + (16 << 10) + 1024,
};

struct gb_cuda_limits_args {
    const char *from; /* values by chance, at a multiple of 16 */
    char *to;         /* of kernels which compute or read: a word a thread */
    int64_t n;        /* pieces of 16 bytes that are read, or written */
    int64_t rounds;   /* how often all is done */
};

#endif
