/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/limits.cuh - what kernels multiply that show how fast a card does.
 */
#ifndef GB_CUDA_KERNELS_LIMITS_CUH
#define GB_CUDA_KERNELS_LIMITS_CUH

#include "backends/cuda/kernels/args-limits.h"
#include "backends/cuda/kernels/device.cuh"

#define GB_LIMIT_SUMS 8 /* that are under way at once */

/* Word I of those that this thread takes. */
GB_DEVICE uint32_t
gb_limit_operand(const struct gb_cuda_limits_args &a, int i)
{
    const uint32_t *words = (const uint32_t *)a.from;

    return words[i * gb_n_threads() + gb_thread()];
}

#endif
