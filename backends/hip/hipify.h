/* SPDX-License-Identifier: MIT */
/*
 * hip/hipify.h - for AMD's cards: the names that device.cuh uses and CUDA's
 * compiler has of its own.
 *
 * Any clang with the target AMDGPU will do; nothing of the vendor's headers or
 * device libraries is used, only what the compiler has built in (LLVM, "User
 * Guide for AMDGPU Backend").
 */
#ifndef GB_HIP_HIPIFY_H
#define GB_HIP_HIPIFY_H

#include "backends/cuda/kernels/clang.cuh"

/* Threads of a block; more than those would leave each fewer registers. */
#define __launch_bounds__(threads, ...) \
    __attribute__((amdgpu_flat_work_group_size(1, threads)))

/* A wave of gfx9 has 64 lanes; those of later cards have 32 here, which they
 * prefer.  The host asks the run time for it. */
#ifdef __GFX9__
#define GB_WARP 64
#else
#define GB_WARP 32
#endif

#define threadIdx (gb_clang_index{ __builtin_amdgcn_workitem_id_x() })
#define blockIdx  (gb_clang_index{ __builtin_amdgcn_workgroup_id_x() })
#define blockDim  (gb_clang_index{ __builtin_amdgcn_workgroup_size_x() })
/* The grid's size is in threads. */
#define gridDim                                            \
    (gb_clang_index{ (unsigned)(__builtin_amdgcn_grid_size_x() / \
                              __builtin_amdgcn_workgroup_size_x()) })

/* Memory is ordered before and after, as the barrier alone does not say. */
static __device__ __forceinline__ void
__syncthreads()
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

/* Lanes of a wave go on together, but not what they wrote. */
static __device__ __forceinline__ void
__syncwarp(uint64_t)
{
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

/* Later cards have one instruction for any signs; some older ones have none. */
static __device__ __forceinline__ int
__dp4a(int a, int b, int c)
{
#if defined(__GFX11__) || defined(__GFX12__)
    return __builtin_amdgcn_sudot4(true, a, true, b, c, false);
#elif defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || \
    defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) ||   \
    defined(__gfx950__) || defined(__gfx1011__) || defined(__gfx1012__) || \
    defined(__gfx1030__) || defined(__gfx1031__) || defined(__gfx1032__) || \
    defined(__gfx1033__) || defined(__gfx1034__) || defined(__gfx1035__) || \
    defined(__gfx1036__) || defined(__gfx10_3_generic__)
    return __builtin_amdgcn_sdot4(a, b, c, false);
#else
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
#endif
}

/* Lane FROM's value for each lane: ds_bpermute, whose index is in bytes. */
template <typename T>
static __device__ __forceinline__ T
gb_hip_from_lane(T value, unsigned from)
{
    return gb_clang_shuffle(value, [=] __device__(int word) {
        return __builtin_amdgcn_ds_bpermute((int)(4 * from), word);
    });
}

static __device__ __forceinline__ unsigned
gb_hip_lane()
{
    return __builtin_amdgcn_workitem_id_x() % GB_WARP;
}

template <typename T>
static __device__ __forceinline__ T
__shfl_xor_sync(uint64_t, T value, int mask, int)
{
    return gb_hip_from_lane(value, gb_hip_lane() ^ (unsigned)mask);
}

template <typename T>
static __device__ __forceinline__ T
__shfl_sync(uint64_t, T value, int from, int)
{
    return gb_hip_from_lane(value, (unsigned)from % GB_WARP);
}

#endif
