/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmaattention.cu - attention on tensor cores of 7.5 (MMA), by the
 * size of heads: blocking in mmaattention.cuh.
 */
#include "backends/cuda/kernels/mmaattention.cuh"

/* Two are resident: left alone, nvcc spills for a third. */
#define ATTENTION(size)                                            \
    GB_KERNEL_RESIDENT(128, 2, gb_mma_attention_##size, attention) \
    {                                                              \
        if constexpr (gb_has_mma)                                  \
            gb_mma_attend<gb_mma_head<size, false>>(a);            \
    }

ATTENTION(64)
ATTENTION(128)
ATTENTION(256)
