/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/device.h - the CUDA compiler's words, for kernels that the host's
 * compiler makes.
 *
 * Included by backends/cuda/kernels/device.cuh where GB_EMULATOR is defined.
 * Whatever has to do with other threads is a call into the emulator.  There are
 * no atomic operations on floating-point numbers, so that a kernel whose result
 * depends on the order of its threads does not compile.
 */
#ifndef GB_GPU_EMULATOR_DEVICE_H
#define GB_GPU_EMULATOR_DEVICE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GB_WARP
#define GB_WARP 32
#endif

#define __global__
#define __device__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(n)  __attribute__((aligned(n)))
#define __shared__    static thread_local

#if GB_WARP == 64
typedef uint64_t gb_emu_lanes;
#else
typedef uint32_t gb_emu_lanes;
#endif

struct gb_emu_dim {
    unsigned x, y, z;
};

extern "C" {

/*
 * Where the calling thread is.  The answers are the same as long as it runs, so
 * the compiler need not ask twice.
 */
struct gb_emu_dim gb_emu_thread_index() __attribute__((const));
struct gb_emu_dim gb_emu_block_index() __attribute__((const));
struct gb_emu_dim gb_emu_block_dim() __attribute__((const));
struct gb_emu_dim gb_emu_grid_dim() __attribute__((const));
int gb_emu_lane() __attribute__((const));
void *gb_emu_dynamic_shared() __attribute__((const));

/* What kernels in front wrote may be read from now on, and anything written. */
void gb_emu_wait_for_kernels_before();

/* All threads of the block; they must all come to the same place. */
void gb_emu_barrier(int place);

/* All lanes of MASK; the value of lane FROM, or the caller's own for -1. */
uint64_t gb_emu_shuffle(uint64_t mask, uint64_t value, int from);
uint64_t gb_emu_ballot(uint64_t mask, bool predicate);
uint64_t gb_emu_active();
void gb_emu_warp_sync(uint64_t mask);

uint32_t gb_emu_atomic_add_32(void *to, uint32_t value);
uint64_t gb_emu_atomic_add_64(void *to, uint64_t value);
int32_t gb_emu_atomic_max_s32(void *to, int32_t value);
uint32_t gb_emu_atomic_max_u32(void *to, uint32_t value);
uint32_t gb_emu_atomic_exchange_32(void *to, uint32_t value);
uint32_t gb_emu_atomic_compare_32(void *to, uint32_t expected, uint32_t value);
void gb_emu_fence();

/*
 * Matrix instructions, d += a * b: operands as the vendor's instructions take
 * them from each lane's registers.  All lanes.
 */
void gb_emu_mma_m16n8k8_f16(float d[4], const uint32_t a[2], uint32_t b);
void gb_emu_mma_m16n8k16_f16(
    float d[4], const uint32_t a[4], const uint32_t b[2]);
void gb_emu_mma_m16n8k16_bf16(
    float d[4], const uint32_t a[4], const uint32_t b[2]);
void gb_emu_mma_m8n8k16_s8(int32_t d[2], uint32_t a, uint32_t b);
void gb_emu_mma_m16n8k32_s8(
    int32_t d[4], const uint32_t a[4], const uint32_t b[2]);

/*
 * Those of AMD's matrix cores, of 16 x 16 sums and 16 values of k; how many
 * lanes share the values of a line on the card of this launch.
 */
void gb_matrix_f16(float *d, const uint32_t *a, const uint32_t *b);
void gb_matrix_bf16(float *d, const uint32_t *a, const uint32_t *b);
/* MFMA's of 32 x 32 sums and 8 values of k: 64 lanes. */
void gb_matrix_wide_multiply_f16(
    float *d, const uint32_t *a, const uint32_t *b);
void gb_matrix_wide_multiply_bf16(
    float *d, const uint32_t *a, const uint32_t *b);
int gb_emu_matrix_shares() __attribute__((const));

/* 1, 2 or 4 matrices of 8 rows of 16 bytes of shared memory; all lanes. */
void gb_emu_ldmatrix_x1(uint32_t *r, const void *row_address, bool transposed);
void gb_emu_ldmatrix_x2(uint32_t *r, const void *row_address, bool transposed);
void gb_emu_ldmatrix_x4(uint32_t *r, const void *row_address, bool transposed);

/*
 * Copies of 16 bytes to shared memory, zeros after the first VALID_BYTES, which
 * arrive when the thread waits until at most N_PENDING groups are under way.
 */
void gb_emu_cp_async_16(void *shared, const void *global, int valid_bytes);
void gb_emu_cp_async_commit();
void gb_emu_cp_async_wait(int n_pending);

/*
 * TMA and its barriers: the box of MAP that begins at element X of row Y
 * arrives when somebody waits for BARRIER; or bytes that follow each other, at
 * multiples of 16 and as many.
 */
void gb_emu_mbarrier_init(void *barrier, int n_threads);
void gb_emu_mbarrier_init_fence();
void gb_emu_mbarrier_arrive_expect(void *barrier, int n_bytes);
void gb_emu_mbarrier_wait(void *barrier, int parity);
void gb_emu_tma_load(
    void *shared, const void *map, int x, int y, void *barrier);
void gb_emu_tma_load_4(
    void *shared, const void *map, int x, int y, int z, int w, void *barrier);
void gb_emu_async_proxy_fence();

/*
 * MMA of warp groups: done at the wait for its group, until when D's sums are
 * bad numbers.  One that begins leaves out what was in D before.  Of those by
 * columns A is in registers, which are read as late, and B MN-major.  All lanes.
 */
uint64_t gb_emu_shared_address(const void *p);
void gb_emu_wgmma_m64n128k16_f16(float *d, uint64_t a, uint64_t b);
void gb_emu_wgmma_m64n128k16_bf16(float *d, uint64_t a, uint64_t b);
void gb_emu_wgmma_begin_m64n128k16_f16(float *d, uint64_t a, uint64_t b);
void gb_emu_wgmma_columns_m64n128k16_f16(
    float *d, const uint32_t *a, uint64_t b);
void gb_emu_wgmma_columns_m64n64k16_f16(
    float *d, const uint32_t *a, uint64_t b);
void gb_emu_wgmma_fence();
void gb_emu_wgmma_commit();
void gb_emu_wgmma_wait(int n_pending);

} /* extern "C" */

#define threadIdx gb_emu_thread_index()
#define blockIdx  gb_emu_block_index()
#define blockDim  gb_emu_block_dim()
#define gridDim   gb_emu_grid_dim()
#define warpSize  GB_WARP

#define GB_HAS_MATRIX    1
#define GB_MATRIX_SHARES gb_emu_matrix_shares()
#define GB_MATRIX_WORDS  (GB_WARP == 64 ? 4 : 16)

#define GB_DYNAMIC_SHARED(type, name) \
    type *const name = (type *)gb_emu_dynamic_shared()

/*
 * The place is told by number, not by address: compilers put calls together or
 * make two of one.
 */
#define __syncthreads() gb_emu_barrier(__COUNTER__)
#define gb_sync()       gb_emu_barrier(__COUNTER__)

/* ---- warps ---- */

#define GB_EMU_ALL_LANES (~(gb_emu_lanes)0)

static inline void
__syncwarp(uint64_t mask = GB_EMU_ALL_LANES)
{
    gb_emu_warp_sync(mask);
}

template <typename T>
static inline T
gb_emu_shuffle_value(uint64_t mask, T value, int from)
{
    static_assert(sizeof(T) <= 8, "shuffles move 8 bytes at most");
    uint64_t bits = 0;

    __builtin_memcpy(&bits, &value, sizeof(value));
    bits = gb_emu_shuffle(mask, bits, from);
    __builtin_memcpy(&value, &bits, sizeof(value));
    return value;
}

template <typename T>
static inline T
__shfl_sync(uint64_t mask, T value, int from, int width = GB_WARP)
{
    const int first = gb_emu_lane() & -width;

    return gb_emu_shuffle_value(mask, value, first + (from & (width - 1)));
}

template <typename T>
static inline T
__shfl_xor_sync(uint64_t mask, T value, int lane_mask, int width = GB_WARP)
{
    const int lane = gb_emu_lane(), from = lane ^ lane_mask;

    /* A lane of a later part is out of reach, one of an earlier part is not. */
    return gb_emu_shuffle_value(
        mask, value, from < (lane & -width) + width ? from : -1);
}

template <typename T>
static inline T
__shfl_down_sync(uint64_t mask, T value, unsigned delta, int width = GB_WARP)
{
    const int lane = gb_emu_lane(), from = lane + (int)delta;

    return gb_emu_shuffle_value(
        mask, value, from < (lane & -width) + width ? from : -1);
}

template <typename T>
static inline T
__shfl_up_sync(uint64_t mask, T value, unsigned delta, int width = GB_WARP)
{
    const int lane = gb_emu_lane(), from = lane - (int)delta;

    return gb_emu_shuffle_value(mask, value, from >= (lane & -width) ? from : -1);
}

static inline gb_emu_lanes
__ballot_sync(uint64_t mask, int predicate)
{
    return (gb_emu_lanes)gb_emu_ballot(mask, predicate != 0);
}

static inline int
__any_sync(uint64_t mask, int predicate)
{
    return gb_emu_ballot(mask, predicate != 0) != 0;
}

static inline int
__all_sync(uint64_t mask, int predicate)
{
    return gb_emu_ballot(mask, predicate == 0) == 0;
}

static inline gb_emu_lanes
__activemask()
{
    return (gb_emu_lanes)gb_emu_active();
}

/* ---- atomic operations, on integers ---- */

static inline int
atomicAdd(int *to, int value)
{
    return (int)gb_emu_atomic_add_32(to, (uint32_t)value);
}

static inline unsigned
atomicAdd(unsigned *to, unsigned value)
{
    return gb_emu_atomic_add_32(to, value);
}

static inline unsigned long long
atomicAdd(unsigned long long *to, unsigned long long value)
{
    return gb_emu_atomic_add_64(to, value);
}

static inline int
atomicMax(int *to, int value)
{
    return gb_emu_atomic_max_s32(to, value);
}

static inline unsigned
atomicMax(unsigned *to, unsigned value)
{
    return gb_emu_atomic_max_u32(to, value);
}

static inline int
atomicExch(int *to, int value)
{
    return (int)gb_emu_atomic_exchange_32(to, (uint32_t)value);
}

static inline unsigned
atomicExch(unsigned *to, unsigned value)
{
    return gb_emu_atomic_exchange_32(to, value);
}

static inline int
atomicCAS(int *to, int expected, int value)
{
    return (int)gb_emu_atomic_compare_32(
        to, (uint32_t)expected, (uint32_t)value);
}

static inline unsigned
atomicCAS(unsigned *to, unsigned expected, unsigned value)
{
    return gb_emu_atomic_compare_32(to, expected, value);
}

static inline void
__threadfence()
{
    gb_emu_fence();
}

static inline void
__threadfence_block()
{
    gb_emu_fence();
}

/* ---- arithmetic ---- */

template <typename To, typename From>
static inline To
gb_emu_bits(From from)
{
    static_assert(sizeof(To) == sizeof(From), "as many bits");
    To to;

    __builtin_memcpy(&to, &from, sizeof(to));
    return to;
}

static inline float
__uint_as_float(uint32_t bits)
{
    return gb_emu_bits<float>(bits);
}

static inline uint32_t
__float_as_uint(float value)
{
    return gb_emu_bits<uint32_t>(value);
}

static inline float
__int_as_float(int bits)
{
    return gb_emu_bits<float>(bits);
}

static inline int
__float_as_int(float value)
{
    return gb_emu_bits<int>(value);
}

/* Not every compiler for the host has a type of 16 bits. */
static inline float
gb_emu_float_of_f16(uint16_t bits)
{
    const uint32_t sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;

    uint32_t size;

    if (rest >= 0x7c00)
        size = 0x7f800000 | rest << 13;
    else if (rest >= 0x400)
        size = 0x38000000 + (rest << 13);
    else
        size = __float_as_uint((float)rest * 0x1p-24f);
    return __uint_as_float(sign | size);
}

/* To nearest, ties to even. */
static inline uint16_t
gb_emu_f16_of_float(float value)
{
    const uint32_t bits = __float_as_uint(value), rest = bits & 0x7fffffff;
    uint32_t result;

    if (rest > 0x7f800000)
        result = 0x7e00 | (rest >> 13 & 0x3ff);
    else if (rest >= 0x47800000)
        result = 0x7c00;
    else if (rest < 0x38800000) /* the unit of a sum with 0.5 is 2^-24 */
        result = __float_as_uint(__uint_as_float(rest) + 0.5f) - 0x3f000000;
    else
        result = (rest - 0x38000000 + 0xfff + (rest >> 13 & 1)) >> 13;
    return (uint16_t)(bits >> 16 & 0x8000) | (uint16_t)result;
}

static inline float
__fmaf_rn(float a, float b, float c)
{
    return __builtin_fmaf(a, b, c);
}

static inline float
rsqrtf(float x)
{
    return 1.0f / sqrtf(x);
}

static inline int
__dp4a(int a, int b, int c)
{
    for (int i = 0; i < 32; i += 8)
        c += (int8_t)(a >> i) * (int8_t)(b >> i);
    return c;
}

static inline int
__popc(unsigned x)
{
    return __builtin_popcount(x);
}

static inline int
__popcll(unsigned long long x)
{
    return __builtin_popcountll(x);
}

static inline int
__clz(int x)
{
    return x == 0 ? 32 : __builtin_clz((unsigned)x);
}

static inline int
__ffs(int x)
{
    return __builtin_ffs(x);
}

static inline int
__ffsll(long long x)
{
    return __builtin_ffsll(x);
}

static inline unsigned
__umulhi(unsigned a, unsigned b)
{
    return (unsigned)((uint64_t)a * b >> 32);
}

/* Bytes of B:A, each chosen by a digit of SELECTOR; digit + 8: its sign. */
static inline unsigned
__byte_perm(unsigned a, unsigned b, unsigned selector)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    unsigned result = 0;

    for (int i = 0; i < 4; i++) {
        const unsigned digit = selector >> 4 * i & 15;
        const uint8_t byte = (uint8_t)(bytes >> 8 * (digit & 7));
        const unsigned chosen = digit < 8 ? byte : (byte & 128) != 0 ? 255 : 0;

        result |= chosen << 8 * i;
    }
    return result;
}

template <typename T>
static inline T
__ldg(const T *from)
{
    return *from;
}

/* ---- vectors, aligned as on the card ---- */

struct alignas(8) float2 {
    float x, y;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

struct alignas(8) int2 {
    int x, y;
};

struct alignas(16) int4 {
    int x, y, z, w;
};

struct alignas(8) uint2 {
    unsigned x, y;
};

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

static inline float2
make_float2(float x, float y)
{
    return { x, y };
}

static inline float4
make_float4(float x, float y, float z, float w)
{
    return { x, y, z, w };
}

static inline int2
make_int2(int x, int y)
{
    return { x, y };
}

static inline int4
make_int4(int x, int y, int z, int w)
{
    return { x, y, z, w };
}

static inline uint2
make_uint2(unsigned x, unsigned y)
{
    return { x, y };
}

static inline uint4
make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return { x, y, z, w };
}

#endif
