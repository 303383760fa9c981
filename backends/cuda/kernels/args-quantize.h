/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-quantize.h - arguments of the kernels of quantize.cu.
 */
#ifndef GB_CUDA_KERNELS_ARGS_QUANTIZE_H
#define GB_CUDA_KERNELS_ARGS_QUANTIZE_H

#include "backends/cuda/kernels/args.h"

/*
 * The values of src as those of dst, both in row-major order.  The tensor in
 * blocks counts these instead of elements: ne[0] and nb[0] are of blocks.  The
 * elements that a block of it has lie side by side in the other tensor.
 */
struct gb_cuda_quantize_args {
    struct gb_cuda_tensor dst, src;
    int64_t n;        /* blocks */
    int32_t src_type; /* an enum gb_cuda_float, where dst is in blocks */
    int32_t unused;
};

#endif
