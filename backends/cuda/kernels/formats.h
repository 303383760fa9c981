/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/formats.h - types that can be read as floats, where a kernel
 * learns of one by a number; read by C and by device code.
 */
#ifndef GB_CUDA_KERNELS_FORMATS_H
#define GB_CUDA_KERNELS_FORMATS_H

/* GB_CUDA_FORMAT_F32, ... */
enum gb_cuda_format {
#define GB_CUDA_FLOATS(TYPE, name, type) GB_CUDA_FORMAT_##TYPE,
#define GB_CUDA_BLOCKS(TYPE, name)       GB_CUDA_FORMAT_##TYPE,
#include "backends/cuda/kernels/formats.def"
#undef GB_CUDA_BLOCKS
#undef GB_CUDA_FLOATS
};

#endif
