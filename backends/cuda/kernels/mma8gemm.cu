/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mma8gemm.cu - GEMM on tensor cores of 8.0 (MMA8), for every type
 * of weights but F32: blocking in mmagemm.cuh.
 */
#include "backends/cuda/kernels/mmagemm.cuh"

#define GEMM(name, type, how)                               \
    GB_KERNEL(128, gb_mma8_gemm_##name, product)            \
    {                                                       \
        if constexpr (gb_has_mma8)                          \
            gb_mma_gemm<type, gb_mma_by_fragments<how>>(a); \
    }

GEMM(f16, gb_f16, gb_multiply_f16)
GEMM(bf16, gb_bf16, gb_multiply_bf16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name, gb_multiply_f16)
#include "backends/cuda/kernels/formats.def"
