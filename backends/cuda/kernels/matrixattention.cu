/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixattention.cu - attention on matrix cores, by the size of
 * heads: blocking in matrixattention.cuh.
 */
#include "backends/cuda/kernels/matrixattention.cuh"

#define ATTENTION(size, threads, keys)                              \
    GB_KERNEL(threads, gb_matrix_attention_##size, attention)       \
    {                                                               \
        if constexpr (gb_has_matrix)                                \
            gb_matrix_attend<gb_matrix_head<size, threads, keys>>(a); \
    }

ATTENTION(64, 128, 32)
ATTENTION(128, 256, 32)
ATTENTION(256, 128, 32)
