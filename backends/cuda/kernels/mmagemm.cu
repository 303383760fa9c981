/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mmagemm.cu - GEMM on tensor cores of 7.5 (MMA), for every type
 * of weights but F32 and BF16: blocking in mmagemm.cuh.
 *
 * Three thread blocks are resident, for which a thread has all the registers that
 * it needs: left alone the compiler stays below 128, and spills.
 */
#include "backends/cuda/kernels/mmagemm.cuh"

typedef gb_mma_by_fragments<gb_multiply_f16_by_8> by_fragments;

#define GEMM(name, type)                                    \
    GB_KERNEL_RESIDENT(128, 3, gb_mma_gemm_##name, product) \
    {                                                       \
        if constexpr (gb_has_mma)                           \
            gb_mma_gemm<type, by_fragments>(a);             \
    }

GEMM(f16, gb_f16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name)
#include "backends/cuda/kernels/formats.def"
