/* SPDX-License-Identifier: MIT */
/*
 * cuda/kernels/mma.cuh - tensor cores, and copies into shared memory that go on
 * by themselves.
 *
 * Fragments as in the PTX ISA, "Matrix Fragments for mma": of lane L, with
 * g = L / 4 and t = L % 4, halves two in a word, the lower index lower:
 *
 *   A 16 x 16  a[0] (g, 2t), a[1] (g + 8, 2t), a[2] (g, 2t + 8),
 *              a[3] (g + 8, 2t + 8); of 16 x 8 the first two
 *   B 16 x 8   b[0] (2t, g), b[1] (2t + 8, g); of 8 x 8 the first
 *   D 16 x 8   d[0] (g, 2t), d[1] (g, 2t + 1), d[2] (g + 8, 2t),
 *              d[3] (g + 8, 2t + 1)
 *
 * Int8 has four in a word and 4t, + 16 in place of 2t, + 8; D 8 x 8 is the
 * first two of D.  All 32 lanes take part; there is nothing for 64.
 *
 * Where an architecture has no such instruction, gb_has_mma, gb_has_mma8 or
 * gb_has_wgmma is false and the words do nothing: kernels leave
 * out what uses them.
 */
#ifndef GB_CUDA_KERNELS_MMA_CUH
#define GB_CUDA_KERNELS_MMA_CUH

#include "backends/cuda/kernels/args.h"
#include "backends/cuda/kernels/device.cuh"

#if defined(GB_EMULATOR)
#define GB_MMA      1
#define GB_MMA8     1
#define GB_MBARRIER 1
#define GB_WGMMA    1
#elif defined(__CUDA_ARCH__)
#define GB_MMA      (__CUDA_ARCH__ >= 750)
#define GB_MMA8     (__CUDA_ARCH__ >= 800)
#define GB_MBARRIER (__CUDA_ARCH__ >= 900)
#ifdef __CUDA_ARCH_FEAT_SM90_ALL /* 9.0a */
#define GB_WGMMA 1
#else
#define GB_WGMMA 0
#endif
#else
#define GB_MMA      0
#define GB_MMA8     0
#define GB_MBARRIER 0
#define GB_WGMMA    0
#endif

static constexpr bool gb_has_mma = GB_MMA;
static constexpr bool gb_has_mma8 = GB_MMA8;
static constexpr bool gb_has_wgmma = GB_WGMMA;

/*
 * On AMD's cards copies into shared memory do not go on by themselves, and a load
 * whose value is stored there at once is waited for at once.  What shall be on its
 * way together is loaded into registers first.  All cards of 64 lanes are AMD's,
 * so the emulator's kernels of 64 do the same.
 */
#if defined(__HIP__) || GB_WARP == 64
static constexpr bool gb_copies_by_registers = true;
#else
static constexpr bool gb_copies_by_registers = false;
#endif

/* ---- products: d += a * b ---- */

/* 16 x 8 x 8 of f16; MMA. */
GB_DEVICE void
gb_mma_m16n8k8_f16(float d[4], const uint32_t a[2], uint32_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_mma_m16n8k8_f16(d, a, b);
#elif GB_MMA
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* 16 x 8 x 16 of f16; MMA8. */
GB_DEVICE void
gb_mma_m16n8k16_f16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
#if defined(GB_EMULATOR)
    gb_emu_mma_m16n8k16_f16(d, a, b);
#elif GB_MMA8
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* 16 x 8 x 16 of bf16; MMA8. */
GB_DEVICE void
gb_mma_m16n8k16_bf16(float d[4], const uint32_t a[4], const uint32_t b[2])
{
#if defined(GB_EMULATOR)
    gb_emu_mma_m16n8k16_bf16(d, a, b);
#elif GB_MMA8
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* 8 x 8 x 16 of int8; MMA. */
GB_DEVICE void
gb_mma_m8n8k16_s8(int32_t d[2], uint32_t a, uint32_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_mma_m8n8k16_s8(d, a, b);
#elif GB_MMA
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 "
                 "{%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(d[0]), "+r"(d[1])
                 : "r"(a), "r"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* 16 x 8 x 32 of int8; MMA8. */
GB_DEVICE void
gb_mma_m16n8k32_s8(int32_t d[4], const uint32_t a[4], const uint32_t b[2])
{
#if defined(GB_EMULATOR)
    gb_emu_mma_m16n8k32_s8(d, a, b);
#elif GB_MMA8
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]),
                   "r"(b[1]));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* The larger one; a NaN if one of them is. */
GB_DEVICE float
gb_mma_larger(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float result;

    asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a > b || a != a ? a : b;
#endif
}

/* ---- fragments out of shared memory ---- */

#if !defined(GB_EMULATOR) && GB_MMA
/* What instructions of shared memory take as an address.  The compiler knows what
 * this is, and makes no address of 64 bits in between. */
GB_DEVICE uint32_t
gb_shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
#endif

/*
 * Load 1, 2 or 4 matrices of 8 rows of 16 bytes into r[0], r[1] …: lanes 0 to 7
 * name the rows of the first, 8 to 15 of the second, and so on; the others'
 * addresses are not looked at.  Lane L gets the word L % 4 of row L / 4;
 * TRANSPOSED, halves L / 4 of the rows 2 * (L % 4) and the next.  MMA.
 */
GB_DEVICE void
gb_ldmatrix_x1(uint32_t *r, const void *row)
{
#if defined(GB_EMULATOR)
    gb_emu_ldmatrix_x1(r, row, false);
#elif GB_MMA
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(gb_shared_address(row))
                 : "memory");
#else
    (void)r, (void)row;
#endif
}

GB_DEVICE void
gb_ldmatrix_x2(uint32_t r[2], const void *row)
{
#if defined(GB_EMULATOR)
    gb_emu_ldmatrix_x2(r, row, false);
#elif GB_MMA
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(r[0]), "=r"(r[1])
                 : "r"(gb_shared_address(row))
                 : "memory");
#else
    (void)r, (void)row;
#endif
}

GB_DEVICE void
gb_ldmatrix_x4(uint32_t r[4], const void *row)
{
#if defined(GB_EMULATOR)
    gb_emu_ldmatrix_x4(r, row, false);
#elif GB_MMA
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(gb_shared_address(row))
        : "memory");
#else
    (void)r, (void)row;
#endif
}

GB_DEVICE void
gb_ldmatrix_x2_transposed(uint32_t r[2], const void *row)
{
#if defined(GB_EMULATOR)
    gb_emu_ldmatrix_x2(r, row, true);
#elif GB_MMA
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
        : "=r"(r[0]), "=r"(r[1])
        : "r"(gb_shared_address(row))
        : "memory");
#else
    (void)r, (void)row;
#endif
}

GB_DEVICE void
gb_ldmatrix_x4_transposed(uint32_t r[4], const void *row)
{
#if defined(GB_EMULATOR)
    gb_emu_ldmatrix_x4(r, row, true);
#elif GB_MMA
    asm volatile(
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
        : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
        : "r"(gb_shared_address(row))
        : "memory");
#else
    (void)r, (void)row;
#endif
}

/* ---- copies that go on by themselves ---- */

/*
 * Sixteen bytes at multiples of 16 into shared memory, those behind the first
 * VALID (0 … 16, an even number) zeros.  They are there for this thread once a
 * wait says so, for others after the next barrier.  Before MMA8 the copy is made
 * at once.
 */
GB_DEVICE void
gb_copy_async_16(void *shared, const void *global, int valid)
{
#if defined(GB_EMULATOR)
    gb_emu_cp_async_16(shared, global, valid);
#elif GB_MMA8
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :
                 : "r"(gb_shared_address(shared)), "l"(global), "r"(valid)
                 : "memory");
#else
    if (valid == 16)
        *(gb_piece *)shared = gb_load_16(global);
    else
        for (int i = 0; i < 8; i++)
            ((uint16_t *)shared)[i] =
                2 * i < valid ? ((const uint16_t *)global)[i] : (uint16_t)0;
#endif
}

/* The copies since the last call make a group. */
GB_DEVICE void
gb_copy_async_commit()
{
#if defined(GB_EMULATOR)
    gb_emu_cp_async_commit();
#elif GB_MMA8
    asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

/* Wait until at most PENDING groups are still on their way. */
template <int pending>
GB_DEVICE void
gb_copy_async_wait()
{
#if defined(GB_EMULATOR)
    gb_emu_cp_async_wait(pending);
#elif GB_MMA8
    asm volatile("cp.async.wait_group %0;" : : "n"(pending) : "memory");
#endif
}

/* ---- TMA, and the barriers by which it tells ---- */

/*
 * A barrier in shared memory (PTX ISA, "mbarrier"): a phase of it is over when
 * N_THREADS threads have arrived and all bytes that they said to expect are
 * there.  By one thread, before the block's next barrier.  9.0.
 */
GB_DEVICE void
gb_mbarrier_init(uint64_t *barrier, int n_threads)
{
#if defined(GB_EMULATOR)
    gb_emu_mbarrier_init(barrier, n_threads);
#elif GB_MBARRIER
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"
                 :
                 : "r"(gb_shared_address(barrier)), "r"(n_threads)
                 : "memory");
#else
    (void)barrier, (void)n_threads;
#endif
}

/* What this thread has initialized, TMA may use. */
GB_DEVICE void
gb_mbarrier_init_fence()
{
#if defined(GB_EMULATOR)
    gb_emu_mbarrier_init_fence();
#elif GB_MBARRIER
    asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory");
#endif
}

/* This thread arrives, and the phase is not over before N_BYTES more came. */
GB_DEVICE void
gb_mbarrier_arrive_expect(uint64_t *barrier, int n_bytes)
{
#if defined(GB_EMULATOR)
    gb_emu_mbarrier_arrive_expect(barrier, n_bytes);
#elif GB_MBARRIER
    asm volatile("{ .reg .b64 state; "
                 "mbarrier.arrive.expect_tx.shared::cta.b64 state, [%0], %1; }"
                 :
                 : "r"(gb_shared_address(barrier)), "r"(n_bytes)
                 : "memory");
#else
    (void)barrier, (void)n_bytes;
#endif
}

/* Wait until the phase of PARITY (0 for the first, then in turn) is over; what
 * TMA brought in it is there for this thread. */
GB_DEVICE void
gb_mbarrier_wait(uint64_t *barrier, int parity)
{
#if defined(GB_EMULATOR)
    gb_emu_mbarrier_wait(barrier, parity);
#elif GB_MBARRIER
    asm volatile("{ .reg .pred is_over;\n"
                 "again: mbarrier.try_wait.parity.shared::cta.b64 is_over, "
                 "[%0], %1;\n"
                 "@!is_over bra again; }"
                 :
                 : "r"(gb_shared_address(barrier)), "r"(parity)
                 : "memory");
#else
    (void)barrier, (void)parity;
#endif
}

/*
 * By one thread: the box of MAP that begins at value X of row Y into SHARED, at
 * a multiple of 128 bytes (1,024 for rows of 128 swizzled bytes), whose bytes
 * BARRIER gets.  WGMMA.
 */
GB_DEVICE void
gb_tma_load(void *shared, const gb_cuda_tensor_map *map, int x, int y,
            uint64_t *barrier)
{
#if defined(GB_EMULATOR)
    gb_emu_tma_load(shared, map, x, y, barrier);
#elif GB_WGMMA
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile."
                 "mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 :
                 : "r"(gb_shared_address(shared)), "l"(map), "r"(x), "r"(y),
                   "r"(gb_shared_address(barrier))
                 : "memory");
#else
    (void)shared, (void)map, (void)x, (void)y, (void)barrier;
#endif
}

/*
 * What this thread has stored to shared memory until now, by itself or by
 * gb_copy_async_16, is seen by TMA and MMA after the next barrier.  WGMMA.
 */
GB_DEVICE void
gb_async_proxy_fence()
{
#if defined(GB_EMULATOR)
    gb_emu_async_proxy_fence();
#elif GB_WGMMA
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
#endif
}

/* ---- MMA by warp groups: four warps, the first a multiple of four ---- */

/*
 * A panel of shared memory, at a multiple of 1,024 bytes: rows of 64 halves of
 * k one after the other, whose pieces of 16 bytes are swizzled: piece i of row
 * r is in the place i ^ r % 8.  The number that tells an MMA of one (PTX ISA,
 * "Matrix Descriptor Format"): the address, 1,024 bytes from 8 rows to the
 * next, both in units of 16, swizzling of 128.  Of its two words the lower
 * differs from panel to panel: plus 2 it is the next 16 of k.
 */
GB_DEVICE uint32_t
gb_wgmma_panel(const void *panel)
{
#if defined(GB_EMULATOR)
    const uint32_t address = (uint32_t)gb_emu_shared_address(panel);
#elif GB_WGMMA
    const uint32_t address = gb_shared_address(panel);
#else
    const uint32_t address = 0;

    (void)panel;
#endif
    return (address & 0x3ffff) >> 4 | (uint32_t)1 << 16;
}

GB_DEVICE uint64_t
gb_wgmma_descriptor(uint32_t panel)
{
    return panel | (uint64_t)(1024 >> 4) << 32 | (uint64_t)1 << 62;
}

/* Before the first MMA, and between what this thread does to the sums and the
 * next; all lanes. */
GB_DEVICE void
gb_wgmma_fence()
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_fence();
#elif GB_WGMMA
    asm volatile("wgmma.fence.sync.aligned;" : : : "memory");
#endif
}

/* Names of the operands 0 to 63, and what they are. */
#define GB_WGMMA_SUMS                                                       \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, "    \
    "%15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, "     \
    "%28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, "     \
    "%41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, "     \
    "%54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define GB_WGMMA_FOUR(d, i) \
    "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define GB_WGMMA_16(d, i)                             \
    GB_WGMMA_FOUR(d, i), GB_WGMMA_FOUR(d, (i) + 4),   \
    GB_WGMMA_FOUR(d, (i) + 8), GB_WGMMA_FOUR(d, (i) + 12)
#define GB_WGMMA_64(d)                     \
    GB_WGMMA_16(d, 0), GB_WGMMA_16(d, 16), \
    GB_WGMMA_16(d, 32), GB_WGMMA_16(d, 48)

/*
 * Begin d += a * b of 64 rows, 128 columns and 16 of k; of A and B there are
 * panels.  Of warp W of the group, with g and t of its lane as above,
 *
 *   D  d[4 j + i] (16 W + g + 8 (i / 2), 8 j + 2t + i % 2)
 *
 * (PTX ISA, "Matrix Fragments for wgmma.mma_async.m64nNk16").  Until a wait d
 * is nobody's, and the panels must stay as they are.  All lanes.  WGMMA.
 */
GB_DEVICE void
gb_wgmma_m64n128k16_f16(float d[64], uint64_t a, uint64_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_m64n128k16_f16(d, a, b);
#elif GB_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 "
                 GB_WGMMA_SUMS ", %64, %65, 1, 1, 1, 0, 0;"
                 : GB_WGMMA_64(d)
                 : "l"(a), "l"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

GB_DEVICE void
gb_wgmma_m64n128k16_bf16(float d[64], uint64_t a, uint64_t b)
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_m64n128k16_bf16(d, a, b);
#elif GB_WGMMA
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
                 GB_WGMMA_SUMS ", %64, %65, 1, 1, 1, 0, 0;"
                 : GB_WGMMA_64(d)
                 : "l"(a), "l"(b));
#else
    (void)d, (void)a, (void)b;
#endif
}

/* These as the types that kernels are made for. */
struct gb_wgmma_f16 {
    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_f16(d, a, b);
    }
};

struct gb_wgmma_bf16 {
    GB_DEVICE void
    multiply(float d[64], uint64_t a, uint64_t b)
    {
        gb_wgmma_m64n128k16_bf16(d, a, b);
    }
};

/* The MMAs since the last call make a group; all lanes. */
GB_DEVICE void
gb_wgmma_commit()
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_commit();
#elif GB_WGMMA
    asm volatile("wgmma.commit_group.sync.aligned;" : : : "memory");
#endif
}

/* Wait for all groups; D, which they made, is this thread's again.  All
 * lanes. */
GB_DEVICE void
gb_wgmma_wait(float d[64])
{
#if defined(GB_EMULATOR)
    (void)d;
    gb_emu_wgmma_wait(0);
#elif GB_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : GB_WGMMA_64(d)
                 :
                 : "memory");
#else
    (void)d;
#endif
}

/* Wait for all groups but the last one; the sums are still nobody's.  All lanes. */
GB_DEVICE void
gb_wgmma_wait_but_last()
{
#if defined(GB_EMULATOR)
    gb_emu_wgmma_wait(1);
#elif GB_WGMMA
    asm volatile("wgmma.wait_group.sync.aligned 1;" : : : "memory");
#endif
}

/*
 * All THREADS of the block meet, though groups of warps do so at different places
 * of the code: gb_sync() promises the compiler that it is one place (PTX ISA,
 * "barrier": .aligned, which bar.sync is too).
 */
#if defined(GB_EMULATOR)
#define gb_sync_groups(threads) gb_sync()
#else
GB_DEVICE void
gb_sync_groups(int threads)
{
#if GB_WGMMA
    asm volatile("barrier.sync 1, %0;" : : "r"(threads) : "memory");
#else
    (void)threads;
#endif
}
#endif

/*
 * The group's threads have N registers each from now on, a multiple of 8: fewer
 * than before, or more, which are waited for until others gave them.  All lanes of
 * a warp group.
 */
template <int n>
GB_DEVICE void
gb_give_registers()
{
#if GB_WGMMA && !defined(GB_EMULATOR)
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" : : "n"(n));
#endif
}

template <int n>
GB_DEVICE void
gb_take_registers()
{
#if GB_WGMMA && !defined(GB_EMULATOR)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" : : "n"(n));
#endif
}

#endif
