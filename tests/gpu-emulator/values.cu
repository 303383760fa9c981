/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/values.cu - kernels that hand out what each word of device.h gives.
 *
 * For the emulator, and for NVIDIA's cards, whose compiler leaves out what the
 * architecture has not, and what belongs to the emulator alone.
 */
#include "backends/cuda/kernels/groupmma.cuh"
#include "tests/gpu-emulator/tensor-map.h"
#include "tests/gpu-emulator/values.h"

#define GB_VALUE_KERNEL(name)    \
    extern "C" __global__ void   \
    gb_value_##name(const struct gb_value_args a)

/* ---- warps ---- */

GB_VALUE_KERNEL(warp)
{
    uint32_t *const out = a.out + gb_thread() * VALUE_WARP_COUNT;
    const uint32_t value = a.in[gb_thread()];
    const uint64_t all = GB_ALL_LANES;
    const uint64_t votes = __ballot_sync(all, value % 3 == 0);

    out[VALUE_SHUFFLE] = __shfl_sync(all, value, 5);
    out[VALUE_SHUFFLE_8] = __shfl_sync(all, value, 3, 8);
    out[VALUE_XOR] = __shfl_xor_sync(all, value, 9);
    out[VALUE_XOR_ACROSS] = __shfl_xor_sync(all, value, 9, 8);
    out[VALUE_DOWN] = __shfl_down_sync(all, value, 3);
    out[VALUE_DOWN_8] = __shfl_down_sync(all, value, 3, 8);
    out[VALUE_UP] = __shfl_up_sync(all, value, 3);
    out[VALUE_UP_8] = __shfl_up_sync(all, value, 3, 8);
    out[VALUE_BALLOT_LOW] = (uint32_t)votes;
    out[VALUE_BALLOT_HIGH] = (uint32_t)(votes >> 32);
    out[VALUE_ANY] = (uint32_t)__any_sync(all, value == 7);
    out[VALUE_ALL] = (uint32_t)__all_sync(all, value < 1000);
}

/* ---- blocks ---- */

/* Blocks of 3 x 4 x 5 threads. */
GB_VALUE_KERNEL(place)
{
    const uint32_t thread =
        threadIdx.x +
        blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const uint32_t block =
        blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const uint32_t at = block * 60 + thread;

    a.out[4 * at] = threadIdx.x | threadIdx.y << 8 | threadIdx.z << 16;
    a.out[4 * at + 1] = blockIdx.x | blockIdx.y << 8 | blockIdx.z << 16;
    a.out[4 * at + 2] = blockDim.x | blockDim.y << 8 | blockDim.z << 16;
    a.out[4 * at + 3] = gridDim.x | gridDim.y << 8 | gridDim.z << 16;
}

GB_VALUE_KERNEL(atomic)
{
    const int t = gb_thread();

    atomicAdd((int *)a.out, t);
    atomicAdd(a.out + 1, 1u);
    atomicAdd((unsigned long long *)(a.out + 2), 1ull << 32 | 1);
    atomicMax((int *)a.out + 4, t - 100);
    atomicMax(a.out + 5, (unsigned)t);
    atomicExch(a.out + 6, 42u);
    if (atomicCAS((int *)a.out + 7, 0, 9) == 0)
        atomicAdd(a.out + 8, 1u);
}

/* ---- matrix instructions ---- */

#if GB_MMA
GB_VALUE_KERNEL(mma_m16n8k8_f16)
{
    const uint32_t *const in = a.in + 7 * gb_thread();
    float d[4];

    for (int i = 0; i < 4; i++)
        d[i] = __uint_as_float(in[3 + i]);
    gb_mma_m16n8k8_f16(d, in, in[2]);
    for (int i = 0; i < 4; i++)
        a.out[4 * gb_thread() + i] = __float_as_uint(d[i]);
}

GB_VALUE_KERNEL(mma_m8n8k16_s8)
{
    const uint32_t *const in = a.in + 4 * gb_thread();
    int32_t d[2] = { (int32_t)in[2], (int32_t)in[3] };

    gb_mma_m8n8k16_s8(d, in[0], in[1]);
    for (int i = 0; i < 2; i++)
        a.out[2 * gb_thread() + i] = (uint32_t)d[i];
}

/* There is no word for it, since no kernel needs it. */
GB_DEVICE void
ldmatrix_x1_transposed(uint32_t *r, const void *row)
{
#ifdef GB_EMULATOR
    gb_emu_ldmatrix_x1(r, row, true);
#else
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
                 : "=r"(r[0])
                 : "r"(gb_shared_address(row))
                 : "memory");
#endif
}

/* Four matrices, 8 rows of 16 bytes each, one after the other, for each half. */
GB_VALUE_KERNEL(ldmatrix)
{
    GB_SHARED __align__(16) uint32_t rows[GB_WARP][4];
    const uint32_t *const row = rows[gb_lane()];
    uint32_t r[14];

    for (int i = 0; i < 4; i++)
        rows[gb_lane()][i] = a.in[4 * gb_lane() + i];
    gb_warp_sync();
    gb_ldmatrix_x1(r, row);
    gb_ldmatrix_x2(r + 1, row);
    gb_ldmatrix_x4(r + 3, row);
    ldmatrix_x1_transposed(r + 7, row);
    gb_ldmatrix_x2_transposed(r + 8, row);
    gb_ldmatrix_x4_transposed(r + 10, row);
    for (int i = 0; i < 14; i++)
        a.out[14 * gb_thread() + i] = r[i];
}
#endif

#if GB_MMA8
GB_VALUE_KERNEL(mma_m16n8k16_f16)
{
    const uint32_t *const in = a.in + 10 * gb_thread();
    float d[4];

    for (int i = 0; i < 4; i++)
        d[i] = __uint_as_float(in[6 + i]);
    gb_mma_m16n8k16_f16(d, in, in + 4);
    for (int i = 0; i < 4; i++)
        a.out[4 * gb_thread() + i] = __float_as_uint(d[i]);
}

GB_VALUE_KERNEL(mma_m16n8k16_bf16)
{
    const uint32_t *const in = a.in + 10 * gb_thread();
    float d[4];

    for (int i = 0; i < 4; i++)
        d[i] = __uint_as_float(in[6 + i]);
    gb_mma_m16n8k16_bf16(d, in, in + 4);
    for (int i = 0; i < 4; i++)
        a.out[4 * gb_thread() + i] = __float_as_uint(d[i]);
}

GB_VALUE_KERNEL(mma_m16n8k32_s8)
{
    const uint32_t *const in = a.in + 10 * gb_thread();
    int32_t d[4];

    for (int i = 0; i < 4; i++)
        d[i] = (int32_t)in[6 + i];
    gb_mma_m16n8k32_s8(d, in, in + 4);
    for (int i = 0; i < 4; i++)
        a.out[4 * gb_thread() + i] = (uint32_t)d[i];
}
#endif

#ifdef GB_EMULATOR
/* Those of AMD's matrix cores. */
#define MATRIX(name, multiply, n_words, n_sums)                       \
    GB_VALUE_KERNEL(name)                                             \
    {                                                                 \
        const uint32_t *const in =                                    \
            a.in + (2 * (n_words) + (n_sums)) * gb_thread();          \
        float d[n_sums];                                              \
                                                                      \
        for (int i = 0; i < (n_sums); i++)                            \
            d[i] = __uint_as_float(in[2 * (n_words) + i]);            \
        multiply(d, in, in + (n_words));                              \
        for (int i = 0; i < (n_sums); i++)                            \
            a.out[(n_sums) * gb_thread() + i] = __float_as_uint(d[i]); \
    }

MATRIX(matrix_f16, gb_matrix_f16, GB_VALUE_SHARE, GB_VALUE_SUMS)
MATRIX(matrix_bf16, gb_matrix_bf16, GB_VALUE_SHARE, GB_VALUE_SUMS)
MATRIX(matrix_wide_f16, gb_matrix_wide_multiply_f16, GB_VALUE_WIDE_SHARE,
       GB_VALUE_WIDE_SUMS)
MATRIX(matrix_wide_bf16, gb_matrix_wide_multiply_bf16, GB_VALUE_WIDE_SHARE,
       GB_VALUE_WIDE_SUMS)
#endif

/* ---- copies beside the thread ---- */

GB_DEVICE void
hand_out(uint32_t *out, int copy, const uint32_t words[4])
{
    for (int i = 0; i < 4; i++)
        out[(4 * copy + i) * GB_WARP + gb_thread()] = words[i];
}

/* Three copies of a lane: all, half, nothing of 16 bytes. */
GB_VALUE_KERNEL(late)
{
    GB_SHARED __align__(16) uint32_t shared[3][GB_WARP][4];
    const int t = gb_thread();

    for (int i = 0; i < 3; i++) {
        gb_copy_async_16(shared[i][t], a.in + 4 * t, 16 - 8 * i);
        gb_copy_async_commit();
    }
    gb_copy_async_wait<2>();
    hand_out(a.out, 0, shared[0][t]);
    gb_copy_async_wait<1>();
    hand_out(a.out, 1, shared[1][t]);
    gb_copy_async_wait<0>();
    hand_out(a.out, 2, shared[2][t]);
}

/* ---- MMA of warp groups, and TMA ---- */

#if GB_WGMMA
/* The launch's shared memory from a multiple of 1,024 on. */
GB_DEVICE char *
shared_kilobytes()
{
    GB_DYNAMIC_SHARED(char, all);

    return all + (-(uintptr_t)all & 1023);
}

/* The panels there, and seen by MMA; where, in units of 16 bytes. */
GB_DEVICE uint64_t
bring_panels(const gb_value_wgmma_input &in)
{
    uint32_t *const panels = (uint32_t *)shared_kilobytes();

    for (int i = gb_thread(); i < (int)(sizeof(in.panels) / 4); i += 128)
        panels[i] = in.panels[i];
    gb_async_proxy_fence();
    gb_sync();
    return gb_wgmma_panel(panels) & 0x3fff;
}

template <void (*multiply)(float *d, uint64_t a, uint64_t b)>
GB_DEVICE void
wgmma(const gb_value_args &a)
{
    const gb_value_wgmma_input &in = *(const gb_value_wgmma_input *)a.in;
    const uint64_t place = bring_panels(in);
    float d[64];

    for (int i = 0; i < 64; i++)
        d[i] = __uint_as_float(in.c[gb_thread()][i]);
    gb_wgmma_fence();
    multiply(d, in.a + place, in.b + place);
    gb_wgmma_commit();
    gb_wgmma_wait(d);
    for (int i = 0; i < 64; i++)
        a.out[64 * gb_thread() + i] = __float_as_uint(d[i]);
}

/* Sums behind the last stay as they are. */
template <void (*multiply)(float *d, const uint32_t *a, uint64_t b)>
GB_DEVICE void
wgmma_by_columns(const gb_value_args &a)
{
    const gb_value_wgmma_input &in = *(const gb_value_wgmma_input *)a.in;
    const uint64_t place = bring_panels(in);
    uint32_t words[4];
    float d[64];

    for (int i = 0; i < 4; i++)
        words[i] = in.panels[4 * gb_thread() + i];
    for (int i = 0; i < 64; i++)
        d[i] = __uint_as_float(in.c[gb_thread()][i]);
    gb_wgmma_fence();
    multiply(d, words, in.b + place);
    gb_wgmma_commit();
    gb_wgmma_wait(d);
    for (int i = 0; i < 64; i++)
        a.out[64 * gb_thread() + i] = __float_as_uint(d[i]);
}

GB_VALUE_KERNEL(wgmma_f16)
{
    wgmma<gb_wgmma_m64n128k16_f16>(a);
}

GB_VALUE_KERNEL(wgmma_bf16)
{
    wgmma<gb_wgmma_m64n128k16_bf16>(a);
}

GB_VALUE_KERNEL(wgmma_begin_f16)
{
    wgmma<gb_wgmma_begin_m64n128k16_f16>(a);
}

GB_VALUE_KERNEL(wgmma_columns_128)
{
    wgmma_by_columns<gb_wgmma_add_columns>(a);
}

GB_VALUE_KERNEL(wgmma_columns_64)
{
    wgmma_by_columns<gb_wgmma_add_64_columns>(a);
}
#endif

#ifdef GB_EMULATOR
/* The box comes twice, in two phases of one barrier; the words that are not its
 * stay. */
template <typename F>
GB_DEVICE void
load_twice(const gb_value_args &a, F load)
{
    const gb_value_tma_input &in = *(const gb_value_tma_input *)a.in;
    uint32_t *const box = (uint32_t *)shared_kilobytes();
    uint64_t *const barrier = (uint64_t *)(box + GB_VALUE_BOX / 4);
    emu::tensor_map map;

    __builtin_memcpy(&map, in.map, sizeof(map));
    map.address = (uint64_t)(uintptr_t)in.tensor;
    for (int i = gb_thread(); i < GB_VALUE_BOX / 4; i += 128)
        box[i] = 0xdeadbeef;
    if (gb_thread() == 0) {
        gb_emu_mbarrier_init(barrier, 1);
        gb_emu_mbarrier_init_fence();
    }
    gb_sync();
    for (int phase = 0; phase < 2; phase++) {
        gb_sync();
        if (gb_thread() == 0) {
            gb_emu_mbarrier_arrive_expect(barrier, in.bytes);
            load(box, &map, in, barrier);
        }
        gb_emu_mbarrier_wait(barrier, phase);
        for (int i = gb_thread(); i < GB_VALUE_BOX / 4; i += 128)
            a.out[i] = box[i];
    }
}

GB_VALUE_KERNEL(tma)
{
    load_twice(a, [](void *box, const void *map, const gb_value_tma_input &in,
                     void *barrier) {
        gb_emu_tma_load(box, map, in.x, in.y, barrier);
    });
}

GB_VALUE_KERNEL(tma_4)
{
    load_twice(a, [](void *box, const void *map, const gb_value_tma_input &in,
                     void *barrier) {
        gb_emu_tma_load_4(box, map, in.x, in.y, in.z, in.w, barrier);
    });
}
#endif

/* ---- what accesses cost ---- */

/* Neighbours, words 32 bytes apart, and every other bank. */
GB_VALUE_KERNEL(count)
{
    GB_SHARED uint32_t shared[2 * GB_WARP];
    const int t = gb_thread();

    shared[2 * t] = a.in[t] + a.in[8 * t];
    gb_warp_sync();
    a.out[t] = shared[2 * (t ^ 1)];
}
