/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/args-all.h - the argument structs of all kernels of kernels.def.
 */
#ifndef GB_CUDA_KERNELS_ARGS_ALL_H
#define GB_CUDA_KERNELS_ARGS_ALL_H

#include "backends/cuda/kernels/args-binary.h"

#endif
