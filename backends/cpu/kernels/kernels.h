/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/kernels.h - the kernels of the level that is being compiled.
 */
#ifndef GB_CPU_KERNELS_KERNELS_H
#define GB_CPU_KERNELS_KERNELS_H

#include "backends/cpu/isa/attend.h"
#include "backends/cpu/isa/level.h"
#include "backends/cpu/isa/scores.h"
#include "backends/cpu/isa/weight.h"

#include "ggml.h"

#define GB_KERNEL(group, result, name, parameters) \
    result GB_K_OF(group, name) parameters;
#include "backends/cpu/isa/kernels.def"
#undef GB_KERNEL

#endif
