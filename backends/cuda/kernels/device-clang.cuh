/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/device-clang.cuh - for clang without the CUDA toolkit: the names
 * that device.cuh uses and the toolkit's headers have otherwise.
 */
#ifndef GB_CUDA_KERNELS_DEVICE_CLANG_CUH
#define GB_CUDA_KERNELS_DEVICE_CLANG_CUH

#include "backends/cuda/kernels/clang.cuh"

#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
/* clang 16 does not know it, and reads arguments where they are anyway. */
#define __grid_constant__

#define threadIdx (gb_clang_index{ (unsigned)__nvvm_read_ptx_sreg_tid_x() })
#define blockIdx  (gb_clang_index{ (unsigned)__nvvm_read_ptx_sreg_ctaid_x() })
#define blockDim  (gb_clang_index{ (unsigned)__nvvm_read_ptx_sreg_ntid_x() })
#define gridDim   (gb_clang_index{ (unsigned)__nvvm_read_ptx_sreg_nctaid_x() })

#define __syncthreads()  __nvvm_bar_sync(0)
#define __syncwarp(mask) __nvvm_bar_warp_sync(mask)

static __device__ __forceinline__ int
__dp4a(int a, int b, int c)
{
    int result;

    asm("dp4a.s32.s32 %0, %1, %2, %3;"
        : "=r"(result) : "r"(a), "r"(b), "r"(c));
    return result;
}

/*
 * Lanes of a part of WIDTH lanes give each other 32 bits: PTX ISA, shfl.sync,
 * where C has the mask of the part in its upper half and the last lane below.
 */
#define GB_CLANG_PART(width) ((32 - (width)) << 8 | 31)

static __device__ __forceinline__ unsigned long long
__cvta_generic_to_shared(const void *p)
{
    return (unsigned long long)(__attribute__((address_space(3))) const void *)p;
}

template <typename T>
static __device__ __forceinline__ T
__shfl_xor_sync(unsigned lanes, T value, int mask, int width)
{
    return gb_clang_shuffle(value, [=] __device__(int word) {
        return __nvvm_shfl_sync_bfly_i32(lanes, word, mask,
                                         GB_CLANG_PART(width));
    });
}

template <typename T>
static __device__ __forceinline__ T
__shfl_sync(unsigned lanes, T value, int from, int width)
{
    return gb_clang_shuffle(value, [=] __device__(int word) {
        return __nvvm_shfl_sync_idx_i32(lanes, word, from,
                                        GB_CLANG_PART(width));
    });
}

#endif
