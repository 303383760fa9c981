/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-unary.h - arguments of the kernels of unary.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_UNARY_H
#define GB_CUDA_KERNELS_ARGS_UNARY_H

#include "backends/cuda/kernels/args.h"

/* GB_CUDA_FUNCTION_ABS, ... */
enum gb_cuda_function {
#define GB_CUDA_UNARY(name, value) GB_CUDA_FUNCTION_##name,
#define GB_CUDA_MAP                GB_CUDA_UNARY
#include "backends/cuda/kernels/unary-functions.def"
#undef GB_CUDA_MAP
#undef GB_CUDA_UNARY
};

/* dst = function(src). */
struct gb_cuda_unary_args {
    struct gb_cuda_tensor dst, src;
    int64_t n;                   /* elements */
    int32_t function;            /* an enum gb_cuda_function */
    int32_t dst_type, src_type;  /* enum gb_cuda_float each */
    float p0, p1;                /* parameters of the function */
    int32_t unused;
};

/* dst = function(src) * other, all contiguous; inner has the function's value
 * where somebody sees it, else it is NULL; columns dst as q8 activations, or it
 * is NULL; of gb_gate_halves as columns of halves. */
struct gb_cuda_gate_args {
    char *dst, *inner, *columns;
    const char *src, *other;
    int64_t n;        /* elements */
    int64_t width;    /* of a column of halves */
    int32_t function; /* an enum gb_cuda_function */
    int32_t unused;
};

#endif
