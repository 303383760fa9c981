/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/groupmma.cuh - MMA by warp groups beyond those of mma.cuh: sums
 * that begin at 0, A from registers, B by columns; waits that leave some on
 * their way; boxes of four dimensions (all WGMMA).
 *
 * A of 64 x 16 in registers is, of each warp, A 16 x 16 of mma.cuh.
 */
#ifndef GB_CUDA_KERNELS_GROUPMMA_CUH
#define GB_CUDA_KERNELS_GROUPMMA_CUH

#include "backends/cuda/kernels/math.cuh"
#include "backends/cuda/kernels/mma.cuh"

/* Names of the operands 0 to 31, and what they are; those of 64 are in
 * mma.cuh. */
#define GB_WGMMA_32_SUMS                                                    \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "    \
    "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "     \
    "%28, %29, %30, %31}"
#define GB_WGMMA_32(d) GB_WGMMA_16(d, 0), GB_WGMMA_16(d, 16)

/* The same where they are only written. */
#define GB_WGMMA_NEW_FOUR(d, i) \
    "=f"(d[i]), "=f"(d[(i) + 1]), "=f"(d[(i) + 2]), "=f"(d[(i) + 3])
#define GB_WGMMA_NEW_16(d, i)                                 \
    GB_WGMMA_NEW_FOUR(d, i), GB_WGMMA_NEW_FOUR(d, (i) + 4),   \
    GB_WGMMA_NEW_FOUR(d, (i) + 8), GB_WGMMA_NEW_FOUR(d, (i) + 12)
#define GB_WGMMA_NEW_64(d)                         \
    GB_WGMMA_NEW_16(d, 0), GB_WGMMA_NEW_16(d, 16), \
    GB_WGMMA_NEW_16(d, 32), GB_WGMMA_NEW_16(d, 48)

/* ---- products ---- */

/* As gb_wgmma_m64n128k16_f16, but d = a * b. */
GB_DEVICE void
gb_wgmma_begin_m64n128k16_f16(float d[64], uint64_t a, uint64_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_begin_m64n128k16_f16(d, a, b);
#elif GB_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 GB_WGMMA_SUMS ", %64, %65, 0, 1, 1, 0, 0;"
                 : GB_WGMMA_NEW_64(d)
                 : "l"(a), "l"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

/*
 * A panel of B by columns, at a multiple of 1,024 bytes: the 64 halves of a
 * line are neighbouring columns, swizzled as in mma.cuh, and the next line is
 * the next of k; ACROSS bytes further are the next 64 columns (PTX ISA,
 * "Strides", MN-major).  What is 16 lines further is the next 16 of k.
 */
GB_DEVICE uint32_t
gb_wgmma_columns(const void *panel, int across)
{
    return (gb_wgmma_panel(panel) & 0xffff) | (uint32_t)(across >> 4) << 16;
}

/* d += a * b of 64 rows and 128 or 64 columns; A is in registers, which must
 * stay as they are until the wait, as D. */
GB_DEVICE void
gb_wgmma_add_columns(float d[64], const uint32_t a[4], uint64_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_columns_m64n128k16_f16(d, a, b);
#elif GB_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 GB_WGMMA_SUMS ", {%64, %65, %66, %67}, %68, 1, 1, 1, 1;"
                 : GB_WGMMA_64(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

GB_DEVICE void
gb_wgmma_add_64_columns(float d[32], const uint32_t a[4], uint64_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_columns_m64n64k16_f16(d, a, b);
#elif GB_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
                 GB_WGMMA_32_SUMS ", {%32, %33, %34, %35}, %36, 1, 1, 1, 1;"
                 : GB_WGMMA_32(d)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* As gb_wgmma_wait(), but for the last group; D is of the others. */
GB_DEVICE void
gb_wgmma_wait_for_first(float d[64])
{
#if defined(GB_EMULATOR)
    (void)d;
    gb_emu_wgmma_wait(1);
#elif GB_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned 1;"
                 : GB_WGMMA_64(d)
                 :
                 : "memory");
#else
    (void)d;
#endif
}

/* As gb_wgmma_wait(), for sums of 64 columns. */
GB_DEVICE void
gb_wgmma_wait_for_32(float d[32])
{
#if defined(GB_EMULATOR)
    (void)d;
    gb_emu_wgmma_wait(0);
#elif GB_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : GB_WGMMA_32(d)
                 :
                 : "memory");
#else
    (void)d;
#endif
}

/* ---- what goes on beside the threads ---- */

/* This thread arrives. */
GB_DEVICE void
gb_mbarrier_arrive(uint64_t *barrier)
{
#if defined(GB_EMULATOR)
    gb_emu_mbarrier_arrive_expect(barrier, 0);
#elif GB_WGMMA
    asm volatile("{ .reg .b64 state; "
                 "mbarrier.arrive.shared::cta.b64 state, [%0]; }"
                 :
                 : "r"(gb_shared_address(barrier))
                 : "memory");
#else
    (void)barrier;
#endif
}

/* As gb_tma_load, of a map of four dimensions. */
GB_DEVICE void
gb_tma_load_4(void *shared, const gb_cuda_tensor_map *map, int x, int y, int z,
              int w, uint64_t *barrier)
{
#if defined(GB_EMULATOR)
    gb_emu_tma_load_4(shared, map, x, y, z, w, barrier);
#elif GB_WGMMA
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.tile."
                 "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], "
                 "[%6];"
                 :
                 : "r"(gb_shared_address(shared)), "l"(map), "r"(x), "r"(y),
                   "r"(z), "r"(w), "r"(gb_shared_address(barrier))
                 : "memory");
#else
    (void)shared, (void)map, (void)x, (void)y, (void)z, (void)w, (void)barrier;
#endif
}

/* 2^x by the unit for special functions: two of the last places (PTX ISA,
 * "ex2"); what is below the normal numbers is 0.  In its place among waits. */
GB_DEVICE float
gb_exp2_by_unit(float x)
{
#if !defined(GB_EMULATOR) && GB_WGMMA
    float result;

    asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
#else
    return gb_exp2(x);
#endif
}

/* X, of which compilers know nothing: what is made of it is made in its place, and
 * not kept from one round of a loop to the next. */
GB_DEVICE uint32_t
gb_anew(uint32_t x)
{
#if !defined(GB_EMULATOR) && GB_WGMMA
    asm volatile("" : "+r"(x));
#endif
    return x;
}

/* Registers hold nothing any more; without an instruction. */
template <int n>
GB_DEVICE void
gb_forget(uint32_t (&words)[n])
{
    GB_UNROLL
    for (int i = 0; i < n; i++)
#if !defined(GB_EMULATOR) && GB_WGMMA
        asm volatile("" : "=r"(words[i]));
#else
        words[i] = 0;
#endif
}

#endif
