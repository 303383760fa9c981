/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/matrixgemm.cu - GEMM on matrix cores (MFMA, WMMA), for every type
 * of weights but F32: blocking in matrixgemm.cuh.
 */
#include "backends/cuda/kernels/matrixgemm.cuh"

#define GEMM(name, type, how)                              \
    GB_KERNEL(128, gb_matrix_gemm_##name, product)         \
    {                                                      \
        if constexpr (gb_has_matrix)                       \
            gb_mma_gemm<type, gb_matrix_by_lines<how>>(a); \
    }

GEMM(f16, gb_f16, gb_matrix_multiply_f16)
GEMM(bf16, gb_bf16, gb_matrix_multiply_bf16)

#define GB_CUDA_FLOATS(TYPE, name, type)
#define GB_CUDA_BLOCKS(TYPE, name) GEMM(name, gb_##name, gb_matrix_multiply_f16)
#include "backends/cuda/kernels/formats.def"
