/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/api/prototypes.h - the kernels of the variant that is being compiled.
 */
#ifndef GB_CPU_KERNELS_API_PROTOTYPES_H
#define GB_CPU_KERNELS_API_PROTOTYPES_H

#include "backends/cpu/kernels/api/attention.h"
#include "backends/cpu/kernels/api/variant.h"
#include "backends/cpu/kernels/api/gemm.h"
#include "backends/cpu/kernels/api/scores.h"

#include "ggml.h"

#define GB_KERNEL(group, result, name, parameters) \
    result GB_K_OF(group, name) parameters;
#include "backends/cpu/kernels/api/kernels.def"
#undef GB_KERNEL

#endif
