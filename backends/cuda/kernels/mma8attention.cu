/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mma8attention.cu - attention on tensor cores of 8.0 (MMA8), by
 * the size of heads: blocking in mmaattention.cuh.
 */
#include "backends/cuda/kernels/mmaattention.cuh"

/* Two are resident: left alone, nvcc spills for a third. */
#define ATTENTION(size)                                             \
    GB_KERNEL_RESIDENT(128, 2, gb_mma8_attention_##size, attention) \
    {                                                               \
        if constexpr (gb_has_mma8)                                  \
            gb_mma_attend<gb_mma_head<size, true>>(a);              \
    }

ATTENTION(64)
ATTENTION(128)
ATTENTION(256)
