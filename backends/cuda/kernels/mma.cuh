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
 * Where an architecture has no such instruction, gb_has_mma or gb_has_mma8 is
 * false and the words do nothing: kernels leave out what uses them.
 */
#ifndef GB_CUDA_KERNELS_MMA_CUH
#define GB_CUDA_KERNELS_MMA_CUH

#include "backends/cuda/kernels/device.cuh"

#if defined(GB_EMULATOR)
#define GB_MMA  1
#define GB_MMA8 1
#elif defined(__CUDA_ARCH__)
#define GB_MMA  (__CUDA_ARCH__ >= 750)
#define GB_MMA8 (__CUDA_ARCH__ >= 800)
#else
#define GB_MMA  0
#define GB_MMA8 0
#endif

static constexpr bool gb_has_mma = GB_MMA;
static constexpr bool gb_has_mma8 = GB_MMA8;

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

/* ---- fragments out of shared memory ---- */

#if !defined(GB_EMULATOR) && GB_MMA
/* What instructions of shared memory take as an address. */
GB_DEVICE uint32_t
gb_shared_address(const void *p)
{
    uint32_t address;

    asm("{ .reg .u64 to; cvta.to.shared.u64 to, %1; cvt.u32.u64 %0, to; }"
        : "=r"(address)
        : "l"(p));
    return address;
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
 * VALID (0 … 16) zeros.  They are there for this thread once a wait says so,
 * for others after the next barrier.  Before MMA8 the copy is made at once.
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
    for (int i = 0; i < 4; i++)
        ((uint32_t *)shared)[i] =
            4 * i < valid ? ((const uint32_t *)global)[i] : 0;
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

#endif
