/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/device.cuh - what kernels may use of a card, in one set of words.
 *
 * Kernels are written with these alone.  The names below come from the CUDA
 * compiler, from hipify.h on AMD's cards, and from tests/gpu-emulator/device.h
 * where the tests compile kernels for the host.
 *
 * All of a warp's lanes, or all of a block's threads, must come to a function
 * that says so.
 */
#ifndef GB_CUDA_KERNELS_DEVICE_CUH
#define GB_CUDA_KERNELS_DEVICE_CUH

#include <stdint.h>

#if defined(GB_EMULATOR)
#include "tests/gpu-emulator/device.h"
#elif defined(__HIP__)
#include "backends/hip/hipify.h"
#elif defined(__clang__) && !defined(__CUDACC_VER_MAJOR__)
#include "backends/cuda/kernels/device-clang.cuh"
#endif

/* Lanes of a warp. */
#ifndef GB_WARP
#define GB_WARP 32
#endif

/* Before a loop whose count is known: all rounds one after the other; or the
 * code of a single one, where it is long. */
#ifdef GB_EMULATOR
#define GB_UNROLL
#define GB_DO_NOT_UNROLL
#else
#define GB_UNROLL        _Pragma("unroll")
#define GB_DO_NOT_UNROLL _Pragma("unroll 1")
#endif

/* Before a loop of which clang would make so many copies for AMD's cards that
 * registers run out; nvcc finds the right number itself. */
#ifdef __HIP__
#define GB_KEEP_LOOP GB_DO_NOT_UNROLL
#else
#define GB_KEEP_LOOP
#endif

#define GB_DEVICE static __device__ __forceinline__

/* A function that is called: for code that is large and would be there several
 * times. */
#define GB_DEVICE_CALL static __device__ __attribute__((noinline))

/*
 * Programmatic dependent launch (CUDA programming guide), on 9.0 and later: a
 * kernel may begin while the one in front of it in its stream, or recorded graph,
 * still runs.  Until it has waited it writes nothing, and reads nothing that a
 * kernel of the graph writes.  All threads of every kernel wait, so what is
 * behind the wait follows all kernels in front.  Where the host lets nobody begin
 * early, both do nothing.
 */

/* The next kernel may begin as soon as all blocks of this one have. */
GB_DEVICE void
gb_let_next_begin()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

GB_DEVICE void
gb_wait_for_kernels_before()
{
#if defined(GB_EMULATOR)
    gb_emu_wait_for_kernels_before();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* The head of a kernel that says itself when it waits; BOUNDS are those of
 * __launch_bounds__. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define GB_KERNEL_AHEAD(bounds, name, args)          \
    extern "C" __global__ void __launch_bounds__ bounds \
    name(const __grid_constant__ struct gb_cuda_##args##_args a)
#else
#define GB_KERNEL_AHEAD(bounds, name, args)          \
    extern "C" __global__ void __launch_bounds__ bounds \
    name(const struct gb_cuda_##args##_args a)
#endif

#define GB_KERNEL_OF(bounds, name, args)                        \
    GB_DEVICE void name##_body(                                 \
        const struct gb_cuda_##args##_args &a);                 \
    GB_KERNEL_AHEAD(bounds, name, args)                         \
    {                                                           \
        gb_let_next_begin();                                    \
        gb_wait_for_kernels_before();                           \
        name##_body(a);                                         \
    }                                                           \
    GB_DEVICE void name##_body(const struct gb_cuda_##args##_args &a)

/*
 * GB_KERNEL(256, name, args): the head of a kernel for blocks of 256 threads
 * whose argument is A, a struct gb_cuda_<args>_args.
 */
#define GB_KERNEL(threads, name, args) GB_KERNEL_OF((threads), name, args)

/*
 * The same where so many thread blocks are to be resident on a multiprocessor:
 * the compiler has no more registers than let them.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define GB_RESIDENT(threads, blocks) (threads, blocks)
#else
#define GB_RESIDENT(threads, blocks) (threads)
#endif
#define GB_KERNEL_RESIDENT(threads, blocks, name, args) \
    GB_KERNEL_OF(GB_RESIDENT(threads, blocks), name, args)

/* GB_TABLE int x[] = { … };: data that kernels only read, in global memory. */
#define GB_TABLE static __device__ const

/* ---- where this thread is ---- */

GB_DEVICE int
gb_thread()
{
    return (int)threadIdx.x;
}

GB_DEVICE int
gb_n_threads()
{
    return (int)blockDim.x;
}

GB_DEVICE int64_t
gb_block()
{
    return blockIdx.x;
}

GB_DEVICE int64_t
gb_n_blocks()
{
    return gridDim.x;
}

GB_DEVICE int
gb_lane()
{
    return (int)(threadIdx.x % GB_WARP);
}

GB_DEVICE int
gb_warp()
{
    return (int)(threadIdx.x / GB_WARP);
}

/* Number of this thread in the grid, and how many there are. */
GB_DEVICE int64_t
gb_global_thread()
{
    return (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
}

GB_DEVICE int64_t
gb_global_threads()
{
    return (int64_t)gridDim.x * blockDim.x;
}

/* ---- warps: all lanes take part ---- */

#if GB_WARP == 64
#define GB_ALL_LANES 0xffffffffffffffffull
#else
#define GB_ALL_LANES 0xffffffffu
#endif

/* The value of lane LANE ^ MASK. */
template <typename T>
GB_DEVICE T
gb_shuffle_xor(T value, int mask)
{
    return __shfl_xor_sync(GB_ALL_LANES, value, mask, GB_WARP);
}

/* The value of lane FROM. */
template <typename T>
GB_DEVICE T
gb_shuffle(T value, int from)
{
    return __shfl_sync(GB_ALL_LANES, value, from, GB_WARP);
}

/* The same for an address. */
template <typename T>
GB_DEVICE const T *
gb_shuffle_pointer(const T *value, int from)
{
    return (const T *)(uintptr_t)gb_shuffle(
        (unsigned long long)(uintptr_t)value, from);
}

GB_DEVICE void
gb_warp_sync()
{
    __syncwarp(GB_ALL_LANES);
}

/*
 * The sum, the largest value of WIDTH neighbouring lanes (a power of two), the
 * same in each of them; added up in the order of a butterfly.
 */
template <int width = GB_WARP>
GB_DEVICE float
gb_warp_sum(float value)
{
    GB_UNROLL
    for (int mask = width / 2; mask > 0; mask /= 2)
        value += gb_shuffle_xor(value, mask);
    return value;
}

template <int width = GB_WARP>
GB_DEVICE float
gb_warp_max(float value)
{
    GB_UNROLL
    for (int mask = width / 2; mask > 0; mask /= 2) {
        const float other = gb_shuffle_xor(value, mask);

        value = other > value ? other : value;
    }
    return value;
}

/* ---- thread blocks: all threads take part ---- */

#ifndef gb_sync
GB_DEVICE void
gb_sync()
{
    __syncthreads();
}
#endif

/* GB_SHARED float x[8];: memory that the threads of a block share. */
#define GB_SHARED __shared__

/* TYPE *NAME: the shared memory that the launch asked for. */
#ifndef GB_DYNAMIC_SHARED
#define GB_DYNAMIC_SHARED(type, name)                       \
    extern __shared__ __align__(16) char gb_dynamic_shared[]; \
    type *const name = (type *)gb_dynamic_shared
#endif

/* The sum of what each warp has, in their order; PARTS are nobody's else. */
template <int threads>
GB_DEVICE float
gb_sum_of_warps(float *parts, float value)
{
    if (gb_lane() == 0)
        parts[gb_warp()] = value;
    gb_sync();
    value = parts[0];
    GB_UNROLL
    for (int i = 1; i < threads / GB_WARP; i++)
        value += parts[i];
    return value;
}

/*
 * The sum, the largest value of a block of THREADS threads, the same in each:
 * warps by butterfly, then the warps in order.
 */
template <int threads>
GB_DEVICE float
gb_block_sum(float value)
{
    GB_SHARED float parts[threads / GB_WARP];

    value = gb_warp_sum(value);
    gb_sync();
    return gb_sum_of_warps<threads>(parts, value);
}

/* The same, with a barrier less: each USE at most once in a kernel's run. */
template <int threads, int use>
GB_DEVICE float
gb_block_sum_once(float value)
{
    GB_SHARED float parts[threads / GB_WARP];

    return gb_sum_of_warps<threads>(parts, gb_warp_sum(value));
}

template <int threads>
GB_DEVICE float
gb_block_max(float value)
{
    GB_SHARED float parts[threads / GB_WARP];

    value = gb_warp_max(value);
    gb_sync();
    if (gb_lane() == 0)
        parts[gb_warp()] = value;
    gb_sync();
    value = parts[0];
    GB_UNROLL
    for (int i = 1; i < threads / GB_WARP; i++)
        value = parts[i] > value ? parts[i] : value;
    return value;
}

/* ---- floating-point types and integers ---- */

/* What one load or store moves at most. */
struct alignas(16) gb_piece {
    uint32_t words[4];
};

/* Those at P, which is memory of the card, by one load: where P came from
 * another lane, the compiler does not know what memory it is. */
GB_DEVICE gb_piece
gb_load_16(const void *p)
{
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
    gb_piece b;

    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b.words[0]), "=r"(b.words[1]), "=r"(b.words[2]),
                   "=r"(b.words[3])
                 : "l"(p));
    return b;
#elif defined(__HIP__)
    gb_piece b;

    gb_hip_load_16(b.words, p);
    return b;
#else
    return *(const gb_piece *)p;
#endif
}

/* What is stored; arithmetic is in float. */
struct gb_f16 {
    uint16_t bits;
};

struct gb_bf16 {
    uint16_t bits;
};

GB_DEVICE float
gb_float_of_bits(uint32_t bits)
{
    return __uint_as_float(bits);
}

GB_DEVICE uint32_t
gb_bits_of_float(float value)
{
    return __float_as_uint(value);
}

/* f16 <-> float, to nearest, ties to even. */
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
GB_DEVICE float
gb_float(gb_f16 value)
{
    float result;

    asm("cvt.f32.f16 %0, %1;" : "=f"(result) : "h"(value.bits));
    return result;
}

GB_DEVICE gb_f16
gb_f16_of(float value)
{
    gb_f16 result;

    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(result.bits) : "f"(value));
    return result;
}
#elif defined(GB_EMULATOR)
GB_DEVICE float
gb_float(gb_f16 value)
{
    return gb_emu_float_of_f16(value.bits);
}

GB_DEVICE gb_f16
gb_f16_of(float value)
{
    return { gb_emu_f16_of_float(value) };
}
#else
GB_DEVICE float
gb_float(gb_f16 value)
{
    _Float16 half;

    __builtin_memcpy(&half, &value, sizeof(half));
    return (float)half;
}

GB_DEVICE gb_f16
gb_f16_of(float value)
{
    const _Float16 half = (_Float16)value;
    gb_f16 result;

    __builtin_memcpy(&result, &half, sizeof(half));
    return result;
}
#endif

GB_DEVICE float
gb_float(float value)
{
    return value;
}

GB_DEVICE float
gb_float(gb_bf16 value)
{
    return gb_float_of_bits((uint32_t)value.bits << 16);
}

/* To nearest, ties to even; a NaN stays one. */
GB_DEVICE gb_bf16
gb_bf16_of(float value)
{
    const uint32_t bits = gb_bits_of_float(value);
    gb_bf16 result;

    if ((bits & 0x7fffffff) > 0x7f800000)
        result.bits = (uint16_t)(bits >> 16 | 64);
    else
        result.bits = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    return result;
}

/*
 * The power of two that brings LARGEST to 2^14 … 2^15, half a step below the
 * range of f16; 1 for an infinity.  Its inverse is a normal number.
 */
GB_DEVICE float
gb_f16_factor(float largest)
{
    const int exponent = (int)(gb_bits_of_float(largest) >> 23);
    const int field = 2 * 127 + 14 - exponent;

    if (exponent == 255)
        return 1.0f;
    return gb_float_of_bits((uint32_t)(field > 253 ? 253 : field) << 23);
}

/* LOW and HIGH as f16, the first in the lower half of the word. */
GB_DEVICE uint32_t
gb_f16_pair(float low, float high)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    uint32_t result;

    asm("cvt.rn.f16x2.f32 %0, %1, %2;"
        : "=r"(result)
        : "f"(high), "f"(low));
    return result;
#else
    return gb_f16_of(low).bits | (uint32_t)gb_f16_of(high).bits << 16;
#endif
}

/* What is at P will be loaded: let it be in the card's cache by then. */
GB_DEVICE void
gb_prefetch(const void *p)
{
#if defined(__CUDA_ARCH__)
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
#else
    (void)p;
#endif
}

/* gb_store(p, x): *p = x in the type of *p. */
GB_DEVICE void
gb_store(float *to, float value)
{
    *to = value;
}

GB_DEVICE void
gb_store(gb_f16 *to, float value)
{
    *to = gb_f16_of(value);
}

GB_DEVICE void
gb_store(gb_bf16 *to, float value)
{
    *to = gb_bf16_of(value);
}

/* c plus the products of four pairs of int8. */
GB_DEVICE int
gb_dot4(int a, int b, int c)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 610
    return __dp4a(a, b, c);
#else
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
#endif
}

/* The same where A's are without sign: one instruction, too, on NVIDIA's cards.
 * Kernels for AMD's do without. */
GB_DEVICE int
gb_dot4_unsigned(uint32_t a, int b, int c)
{
#if defined(__NVPTX__) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610)
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(c) : "r"(a), "r"(b));
#else
    for (int i = 0; i < 32; i += 8)
        c += (uint8_t)(a >> i) * (int8_t)(b >> i);
#endif
    return c;
}

/* Bytes of B:A that the nibbles of SELECTOR (0 to 7) name, the lowest first. */
GB_DEVICE uint32_t
gb_pick_bytes(uint32_t a, uint32_t b, uint32_t selector)
{
    uint32_t result;
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(selector));
#else
    const uint64_t bytes = (uint64_t)b << 32 | a;

    result = 0;
    for (int i = 0; i < 4; i++)
        result |= (uint32_t)(bytes >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
#endif
    return result;
}

/* The lower word of HIGH:LOW >> SHIFT (0 to 31). */
GB_DEVICE uint32_t
gb_funnel_right(uint32_t low, uint32_t high, int shift)
{
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
    uint32_t result;

    asm("shf.r.wrap.b32 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(low), "r"(high), "r"(shift));
    return result;
#else
    return (uint32_t)(((uint64_t)high << 32 | low) >> shift);
#endif
}

/* a * b + c, rounded once. */
GB_DEVICE float
gb_fma(float a, float b, float c)
{
    return __fmaf_rn(a, b, c);
}

/* scale * LOW + addend and scale * HIGH + addend as f16, the first in the lower
 * half of the word. */
GB_DEVICE uint32_t
gb_f16_pair_fma(float scale, float low, float high, float addend)
{
#if defined(__HIP__) && defined(__GFX9__)
    /* An instruction each, which clang does not find where it takes two products
     * at a time. */
    uint32_t pair;

    asm("v_fma_mixlo_f16 %0, %1, %2, %3"
        : "=v"(pair)
        : "v"(scale), "v"(low), "v"(addend));
    asm("v_fma_mixhi_f16 %0, %1, %2, %3"
        : "+v"(pair)
        : "v"(scale), "v"(high), "v"(addend));
    return pair;
#else
    return gb_f16_pair(gb_fma(scale, low, addend), gb_fma(scale, high, addend));
#endif
}

/* a * b, never contracted with a sum; the square root.  Rounded as IEEE 754
 * says. */
#if defined(__CUDA_ARCH__) || defined(__NVPTX__)
GB_DEVICE float
gb_mul(float a, float b)
{
    float result;

    asm("mul.rn.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
}

GB_DEVICE float
gb_sqrt(float value)
{
    float result;

    asm("sqrt.rn.f32 %0, %1;" : "=f"(result) : "f"(value));
    return result;
}
#else
GB_DEVICE float
gb_mul(float a, float b)
{
    return a * b;
}

GB_DEVICE float
gb_sqrt(float value)
{
    return __builtin_sqrtf(value);
}
#endif

/*
 * Two f16 in each word: a + b, a * b, a * b + c, rounded once; where this is made of
 * floats, sums are rounded to these before.
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 600
GB_DEVICE uint32_t
gb_f16x2_add(uint32_t a, uint32_t b)
{
    uint32_t result;

    asm("add.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

GB_DEVICE uint32_t
gb_f16x2_mul(uint32_t a, uint32_t b)
{
    uint32_t result;

    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

GB_DEVICE uint32_t
gb_f16x2_fma(uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t result;

    asm("fma.rn.f16x2 %0, %1, %2, %3;"
        : "=r"(result)
        : "r"(a), "r"(b), "r"(c));
    return result;
}
#else
GB_DEVICE float
gb_f16x2_low(uint32_t word)
{
    return gb_float(gb_f16{ (uint16_t)word });
}

GB_DEVICE float
gb_f16x2_high(uint32_t word)
{
    return gb_float(gb_f16{ (uint16_t)(word >> 16) });
}

GB_DEVICE uint32_t
gb_f16x2_add(uint32_t a, uint32_t b)
{
    return gb_f16_pair(gb_f16x2_low(a) + gb_f16x2_low(b),
                       gb_f16x2_high(a) + gb_f16x2_high(b));
}

GB_DEVICE uint32_t
gb_f16x2_mul(uint32_t a, uint32_t b)
{
    return gb_f16_pair(gb_f16x2_low(a) * gb_f16x2_low(b),
                       gb_f16x2_high(a) * gb_f16x2_high(b));
}

GB_DEVICE uint32_t
gb_f16x2_fma(uint32_t a, uint32_t b, uint32_t c)
{
    return gb_f16_pair(
        gb_fma(gb_f16x2_low(a), gb_f16x2_low(b), gb_f16x2_low(c)),
        gb_fma(gb_f16x2_high(a), gb_f16x2_high(b), gb_f16x2_high(c)));
}
#endif

#endif
