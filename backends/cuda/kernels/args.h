/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args.h - what argument structs have in common; read by C and by
 * device code.
 *
 * A kernel takes one struct by value (at most 4,096 bytes).  Addresses are the
 * device's, counts and strides 64 bits wide.  Structs are compared as bytes, so
 * that none has padding, which could have any value: where a word is left over
 * it has the name unused.
 */
#ifndef GB_CUDA_KERNELS_ARGS_H
#define GB_CUDA_KERNELS_ARGS_H

#include <stdalign.h>
#include <stdint.h>

/* Floating-point types, where a kernel learns of one by a number. */
enum gb_cuda_float {
    GB_CUDA_F32,
    GB_CUDA_F16,
    GB_CUDA_BF16,
};

/* A tensor: element (i0, i1, i2, i3) is at data + i0 * nb[0] + … + i3 * nb[3]. */
struct gb_cuda_tensor {
    char *data;
    int64_t ne[4]; /* elements */
    int64_t nb[4]; /* bytes between neighbours along each dimension */
};

/* What TMA knows a tensor by, as the driver makes it (CUtensorMap). */
struct gb_cuda_tensor_map {
    alignas(64) uint64_t opaque[16];
};

#endif
