/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mma8decode.cu - attention of single tokens on tensor cores of
 * 8.0 (MMA8), by the size of heads: blocking in mmadecode.cuh.
 */
#include "backends/cuda/kernels/mmadecode.cuh"

/* With fewer registers nvcc spills; a multiprocessor has shared memory for no
 * more blocks but of the first. */
#define ATTENTION(size, threads, blocks, shared)                          \
    static_assert(sizeof(gb_mma_decode_head<size>::memory) == (shared),   \
                  "what a launch asks for");                              \
    GB_KERNEL_RESIDENT(threads, blocks, gb_mma8_attention_decode_##size,  \
                       attention)                                         \
    {                                                                     \
        if constexpr (gb_has_mma8)                                        \
            gb_mma_decode<gb_mma_decode_head<size>>(a);                   \
    }

ATTENTION(64, 128, 4, 39360)
ATTENTION(128, 128, 3, 74176)
ATTENTION(256, 64, 4, 76224)
