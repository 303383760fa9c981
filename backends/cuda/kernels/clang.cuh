/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/clang.cuh - the names that device.cuh uses and vendors' headers
 * have otherwise, as far as clang has them alike for all cards.
 */
#ifndef GB_CUDA_KERNELS_CLANG_CUH
#define GB_CUDA_KERNELS_CLANG_CUH

#include <stdint.h>

#define __device__      __attribute__((device))
#define __global__      __attribute__((global))
#define __shared__      __attribute__((shared))
#define __forceinline__ inline __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))

/* Grids and blocks have one dimension. */
struct gb_clang_index {
    unsigned x;
};

static __device__ __forceinline__ unsigned
__float_as_uint(float value)
{
    unsigned bits;

    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}

static __device__ __forceinline__ float
__uint_as_float(unsigned bits)
{
    float value;

    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

static __device__ __forceinline__ float
__fmaf_rn(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

/* A value of one or of two times 32 bits, each of which SHUFFLE brings. */
template <typename T, typename Shuffle>
static __device__ __forceinline__ T
gb_clang_shuffle(T value, Shuffle shuffle)
{
    int words[sizeof(T) / 4];

    static_assert(sizeof(T) % 4 == 0, "a whole number of words");
    __builtin_memcpy(words, &value, sizeof(value));
    for (int &word : words)
        word = shuffle(word);
    __builtin_memcpy(&value, words, sizeof(value));
    return value;
}

#endif
