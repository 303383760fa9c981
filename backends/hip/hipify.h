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
static __device__ __forceinline__ int
gb_hip_from_lane(int word, unsigned from)
{
    return __builtin_amdgcn_ds_bpermute((int)(4 * from), word);
}

static __device__ __forceinline__ unsigned
gb_hip_lane()
{
    return __builtin_amdgcn_workitem_id_x() % GB_WARP;
}

/*
 * Data-parallel primitives: CONTROL names a lane of the same row of 16 for each
 * (LLVM, "User Guide for AMDGPU Backend", dpp_ctrl), as a part of the
 * instruction that takes the value, with no turn through shared memory's unit.
 */
#define GB_HIP_DPP(word, control) \
    __builtin_amdgcn_mov_dpp(word, control, 0xf, 0xf, true)
#define GB_HIP_QUAD(a, b, c, d) ((a) | (b) << 2 | (c) << 4 | (d) << 6)
#define GB_HIP_TURN_8           0x128 /* row_ror:8 */
#define GB_HIP_MIRROR_HALF      0x141 /* row_half_mirror: lane ^ 7 */

/* Of lane LANE ^ MASK, which the compiler knows. */
static __device__ __forceinline__ int
gb_hip_xor(int word, int mask)
{
    switch (mask) {
    case 1:
        return GB_HIP_DPP(word, GB_HIP_QUAD(1, 0, 3, 2));
    case 2:
        return GB_HIP_DPP(word, GB_HIP_QUAD(2, 3, 0, 1));
    case 4:
        word = GB_HIP_DPP(word, GB_HIP_MIRROR_HALF);
        return GB_HIP_DPP(word, GB_HIP_QUAD(3, 2, 1, 0));
    case 8:
        return GB_HIP_DPP(word, GB_HIP_TURN_8);
    case 16:
#ifdef __GFX9__
        return __builtin_amdgcn_ds_swizzle(word, 16 << 10 | 0x1f);
#else
        return __builtin_amdgcn_permlanex16(word, word, 0x76543210, 0xfedcba98,
                                            false, false);
#endif
    default:
        return gb_hip_from_lane(word, gb_hip_lane() ^ (unsigned)mask);
    }
}

template <typename T>
static __device__ __forceinline__ T
__shfl_xor_sync(uint64_t, T value, int mask, int)
{
    return gb_clang_shuffle(value, [=] __device__(int word) {
        return __builtin_constant_p(mask)
                   ? gb_hip_xor(word, mask)
                   : gb_hip_from_lane(word, gb_hip_lane() ^ (unsigned)mask);
    });
}

/* A lane that all ask for is read into a scalar register. */
template <typename T>
static __device__ __forceinline__ T
__shfl_sync(uint64_t, T value, int from, int)
{
    return gb_clang_shuffle(value, [=] __device__(int word) {
        return __builtin_constant_p(from)
                   ? __builtin_amdgcn_readlane(word, from % GB_WARP)
                   : gb_hip_from_lane(word, (unsigned)from % GB_WARP);
    });
}

/* Sixteen bytes at P in the card's memory by one load that does not ask first
 * which memory is meant. */
static __device__ __forceinline__ void
gb_hip_load_16(uint32_t words[4], const void *p)
{
    typedef uint32_t four __attribute__((ext_vector_type(4)));
    const four loaded = *(__attribute__((address_space(1))) const four *)p;

    __builtin_memcpy(words, &loaded, sizeof(loaded));
}

/*
 * Matrix cores: 16 x 16 sums of 16 products of halves, d += a * b.  Of the values
 * of k that a line of A (a row) or of B (a column) has, GB_MATRIX_SHARES lanes
 * have a share each; GB_MATRIX_WORDS words of 32 values of k (AMD, "CDNA3
 * Instruction Set Architecture", section 7.1; "RDNA3 …", 7.9; "RDNA4 …", 7.12).
 */
#if defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx942__) || \
    defined(__gfx950__)
#define GB_HAS_MATRIX    1
#define GB_MATRIX_SHARES 4
#elif defined(__GFX12__)
#define GB_HAS_MATRIX    1
#define GB_MATRIX_SHARES 2
#elif defined(__GFX11__)
#define GB_HAS_MATRIX    1
#define GB_MATRIX_SHARES 1
#else
#define GB_HAS_MATRIX    0
#define GB_MATRIX_SHARES (GB_WARP / 16)
#endif
#define GB_MATRIX_WORDS (16 / GB_MATRIX_SHARES)

/* COUNT values of type T as vectors of the compiler's. */
template <typename T, int count>
struct gb_hip_vector {
    typedef T type __attribute__((ext_vector_type(count)));

    static __device__ __forceinline__ type
    of(const void *values)
    {
        type vector;

        __builtin_memcpy(&vector, values, sizeof(vector));
        return vector;
    }
};

typedef gb_hip_vector<_Float16, 16 / GB_MATRIX_SHARES> gb_hip_halves;
typedef gb_hip_vector<short, 16 / GB_MATRIX_SHARES> gb_hip_bf16s;
typedef gb_hip_vector<float, 256 / GB_WARP> gb_hip_sums;

typedef gb_hip_vector<float, 16> gb_hip_wide_sums;
typedef gb_hip_vector<short, 2> gb_hip_two_bf16s;

/* A function that adds to D by instructions on A and B; and one of these, whose
 * operands are vectors T. */
#define GB_HIP_ADDS(name, instructions)                                     \
    static __device__ __forceinline__ void                                  \
    name(float *d, const uint32_t *a, const uint32_t *b) { instructions; }
#define GB_HIP_MATRIX(instruction, T, sums, at, ...)                         \
    {                                                                        \
        const auto result = __builtin_amdgcn_##instruction(                  \
            T::of(a + (at)), T::of(b + (at)), sums::of(d) __VA_ARGS__);      \
        __builtin_memcpy(d, &result, sizeof(result));                        \
    }
#define GB_HIP_MFMA(size, T, sums, at) \
    GB_HIP_MATRIX(mfma_f32_##size, T, sums, at, , 0, 0, 0)

/* MFMA also has 32 x 32 sums of 8 products (wide).  On gfx908 bf16 has half as many
 * values of k an instruction, in whatever order. */
#if GB_HAS_MATRIX && GB_MATRIX_SHARES == 4
GB_HIP_ADDS(gb_matrix_f16, GB_HIP_MFMA(16x16x16f16, gb_hip_halves, gb_hip_sums, 0))
GB_HIP_ADDS(gb_matrix_wide_multiply_f16,
            GB_HIP_MFMA(32x32x8f16, gb_hip_halves, gb_hip_wide_sums, 0))
#ifdef __gfx908__
GB_HIP_ADDS(gb_matrix_bf16, GB_HIP_MFMA(16x16x8bf16, gb_hip_two_bf16s, gb_hip_sums, 0)
            GB_HIP_MFMA(16x16x8bf16, gb_hip_two_bf16s, gb_hip_sums, 1))
GB_HIP_ADDS(gb_matrix_wide_multiply_bf16,
            GB_HIP_MFMA(32x32x4bf16, gb_hip_two_bf16s, gb_hip_wide_sums, 0)
            GB_HIP_MFMA(32x32x4bf16, gb_hip_two_bf16s, gb_hip_wide_sums, 1))
#else
GB_HIP_ADDS(gb_matrix_bf16, GB_HIP_MFMA(16x16x16bf16_1k, gb_hip_bf16s, gb_hip_sums, 0))
GB_HIP_ADDS(gb_matrix_wide_multiply_bf16,
            GB_HIP_MFMA(32x32x8bf16_1k, gb_hip_bf16s, gb_hip_wide_sums, 0))
#endif
#else
#if GB_HAS_MATRIX && GB_MATRIX_SHARES == 2
GB_HIP_ADDS(gb_matrix_f16, GB_HIP_MATRIX(wmma_f32_16x16x16_f16_w32_gfx12,
                                         gb_hip_halves, gb_hip_sums, 0, ))
GB_HIP_ADDS(gb_matrix_bf16, GB_HIP_MATRIX(wmma_f32_16x16x16_bf16_w32_gfx12,
                                          gb_hip_bf16s, gb_hip_sums, 0, ))
#elif GB_HAS_MATRIX
GB_HIP_ADDS(gb_matrix_f16, GB_HIP_MATRIX(wmma_f32_16x16x16_f16_w32, gb_hip_halves,
                                         gb_hip_sums, 0, ))
GB_HIP_ADDS(gb_matrix_bf16, GB_HIP_MATRIX(wmma_f32_16x16x16_bf16_w32, gb_hip_bf16s,
                                          gb_hip_sums, 0, ))
#else
GB_HIP_ADDS(gb_matrix_f16, )
GB_HIP_ADDS(gb_matrix_bf16, )
#endif
GB_HIP_ADDS(gb_matrix_wide_multiply_f16, )
GB_HIP_ADDS(gb_matrix_wide_multiply_bf16, )
#endif

#endif
