/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmaattention.cu - attention by warp groups (WGMMA), by the size
 * of heads: blocking in wgmmaattention.cuh.
 */
#include "backends/cuda/kernels/wgmmaattention.cuh"

#define ATTENTION(size)                                                \
    GB_KERNEL_RESIDENT(GB_GROUP_THREADS, 1, gb_wgmma_attention_##size, \
                       wgmma_attention)                                \
    {                                                                  \
        if constexpr (gb_has_wgmma)                                    \
            gb_group_attend<gb_group_head<size>>(a);                   \
    }

ATTENTION(64)
ATTENTION(128)
