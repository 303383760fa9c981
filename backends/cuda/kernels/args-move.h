/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-move.h - arguments of the kernels of move.cu.
 *
 * Values whose type does not matter are moved as units of 1, 2, 4, 8 or 16
 * bytes.  Tensors below count them instead of elements: what ne[0] and nb[0]
 * tell is about units.
 */
#ifndef GB_CUDA_KERNELS_ARGS_MOVE_H
#define GB_CUDA_KERNELS_ARGS_MOVE_H

#include "backends/cuda/kernels/args.h"

/* dst from src0, and src1 for CONCAT and SET. */
struct gb_cuda_move_args {
    struct gb_cuda_tensor dst, src0, src1;
    int64_t n;      /* units of dst */
    int32_t size;   /* bytes of a unit */
    int32_t dim;    /* CONCAT: the dimension */
    int64_t before; /* PAD_REFLECT_1D: elements in front of src0 */
};

/* The elements of src as those of dst, both in row-major order. */
struct gb_cuda_convert_args {
    struct gb_cuda_tensor dst, src;
    int64_t n;
    int32_t dst_type, src_type; /* enum gb_cuda_float each */
};

/* dst += src, both F32 of one shape. */
struct gb_cuda_acc_args {
    struct gb_cuda_tensor dst, src;
};

/* dst, F32, is the sum of the tiles of its shape that src consists of. */
struct gb_cuda_repeat_back_args {
    struct gb_cuda_tensor dst, src;
    int64_t n;        /* elements of dst */
    int64_t n_tiles;
    int64_t tiles[4]; /* along each dimension */
    int32_t src_type; /* an enum gb_cuda_float */
    int32_t unused;
};

#endif
