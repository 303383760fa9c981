/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixmfma.cu - GEMM of many columns on MFMA, for every type of
 * weights but F32: blocking in matrixmfma.cuh.
 */
#include "backends/cuda/kernels/matrixmfma.cuh"

#define GEMM(name, type, how)                                        \
    GB_KERNEL(GB_CUDA_MFMA_THREADS, gb_mfma_gemm_##name, product)    \
    {                                                                \
        if constexpr (gb_has_wide_matrix)                            \
            gb_mfma_gemm<type, how>(a);                              \
    }

GEMM(f16, gb_f16, gb_matrix_wide_f16)
GEMM(bf16, gb_bf16, gb_matrix_wide_bf16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name, gb_matrix_wide_f16)
#include "backends/cuda/kernels/formats.def"
