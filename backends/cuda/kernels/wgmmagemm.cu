/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/wgmmagemm.cu - GEMM by warp groups (WGMMA), for every type of
 * weights but F32: blocking in wgmmagemm.cuh.
 */
#include "backends/cuda/kernels/wgmmagemm.cuh"

#define GEMM(name, type, how)                                          \
    GB_KERNEL_RESIDENT(GB_CUDA_WGMMA_THREADS, 1, gb_wgmma_gemm_##name, \
                       wgmma)                                          \
    {                                                                  \
        if constexpr (gb_has_wgmma)                                    \
            gb_wgmma_gemm<type, how>(a);                               \
    }

GEMM(f16, gb_f16, gb_wgmma_f16)
GEMM(bf16, gb_bf16, gb_wgmma_bf16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name, gb_wgmma_f16)
#include "backends/cuda/kernels/formats.def"
