/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/bugs.cu - kernels with one fault each, and their twins without.
 *
 * Threads of a block: GB_BUG_THREADS.  Where M (mended) is false, the fault is
 * there.
 */
#include "backends/cuda/kernels/device.cuh"
#include "backends/cuda/kernels/mma.cuh"
#include "tests/gpu-emulator/bugs.h"
#include "tests/gpu-emulator/tensor-map.h"

#define SHARED_PER_THREAD GB_SHARED float shared[GB_BUG_THREADS]

/* This thread's element of the whole grid. */
GB_DEVICE int64_t
mine()
{
    return gb_global_thread();
}

/* ---- barriers ---- */

template <bool M>
GB_DEVICE void
missing_barrier(const gb_bug_args &a)
{
    SHARED_PER_THREAD;

    shared[gb_thread()] = a.in[mine()];
    if (M)
        gb_sync();
    a.out[mine()] = shared[(gb_thread() + GB_WARP) % GB_BUG_THREADS];
}

template <bool M>
GB_DEVICE void
missing_second_barrier(const gb_bug_args &a)
{
    SHARED_PER_THREAD;

    shared[gb_thread()] = a.in[mine()];
    gb_sync();
    a.out[mine()] = shared[GB_BUG_THREADS - 1 - gb_thread()];
    if (M)
        gb_sync();
    shared[gb_thread()] = 0;
}

/* Neighbours in one word are no race; others are. */
template <bool M>
GB_DEVICE void
missing_barrier_of_bytes(const gb_bug_args &a)
{
    GB_SHARED uint8_t shared[GB_BUG_THREADS];

    shared[gb_thread()] = (uint8_t)gb_thread();
    if (M)
        gb_sync();
    a.out[mine()] = shared[(gb_thread() + 1) % GB_BUG_THREADS];
}

template <bool M>
GB_DEVICE void
divergent_barrier(const gb_bug_args &a)
{
    SHARED_PER_THREAD;

    shared[gb_thread()] = a.in[mine()];
    if (M || gb_thread() < GB_WARP) {
        gb_sync();
        a.out[mine()] = shared[0];
    } else {
        gb_sync();
        a.out[mine()] = shared[1] + 1;
    }
}

template <bool M>
GB_DEVICE void
barrier_for_a_few(const gb_bug_args &a)
{
    float value = a.in[mine()];

    if (M || gb_lane() != 0)
        gb_sync();
    value = gb_shuffle_xor(value, 1);
    a.out[mine()] = value;
}

/* ---- warps ---- */

template <bool M>
GB_DEVICE void
missing_syncwarp(const gb_bug_args &a)
{
    SHARED_PER_THREAD;

    shared[gb_thread()] = a.in[mine()];
    if (M)
        gb_warp_sync();
    a.out[mine()] = shared[gb_thread() ^ 1];
}

/* Halves of a warp synchronise each on their own. */
template <bool M>
GB_DEVICE void
syncwarp_of_others(const gb_bug_args &a)
{
    const gb_emu_lanes low = (gb_emu_lanes)GB_ALL_LANES >> GB_WARP / 2;
    const gb_emu_lanes half = gb_lane() < GB_WARP / 2 ? low : ~low;
    SHARED_PER_THREAD;

    shared[gb_thread()] = a.in[mine()];
    __syncwarp(half);
    a.out[mine()] = shared[gb_thread() ^ (M ? 1 : GB_WARP / 2)];
}

template <bool M>
GB_DEVICE void
shuffle_as_syncwarp(const gb_bug_args &a)
{
    SHARED_PER_THREAD;
    float value = a.in[mine()];

    shared[gb_thread()] = value;
    value = gb_shuffle_xor(value, 1);
    if (M)
        gb_warp_sync();
    a.out[mine()] = value + shared[gb_thread() ^ 1];
}

template <bool M>
GB_DEVICE void
mask_of_half_a_warp(const gb_bug_args &a)
{
    const gb_emu_lanes all = GB_ALL_LANES;

    a.out[mine()] = __shfl_xor_sync(
        M ? all : all >> GB_WARP / 2, a.in[mine()], 1, GB_WARP);
}

template <bool M>
GB_DEVICE void
shuffle_from_ended_lane(const gb_bug_args &a)
{
    float value = a.in[mine()];

    if (gb_lane() >= GB_WARP / 2)
        return;
    value = gb_shuffle_xor(value, M ? 1 : GB_WARP / 2);
    a.out[mine()] = value;
}

template <bool M>
GB_DEVICE void
divergent_warp(const gb_bug_args &a)
{
    float value = a.in[mine()];

    if (M || gb_lane() % 2 == 0)
        value = gb_shuffle_xor(value, 2);
    else
        gb_warp_sync();
    a.out[mine()] = value;
}

/* ---- blocks ---- */

template <bool M>
GB_DEVICE void
race_of_blocks(const gb_bug_args &a)
{
    if (gb_thread() == 0)
        a.out[M ? gb_block() : 0] = 1;
}

template <bool M>
GB_DEVICE void
write_after_read_of_blocks(const gb_bug_args &a)
{
    const int64_t last = gb_n_blocks() * gb_n_threads() - 1;
    float *const in = (float *)a.in;

    a.out[mine()] = in[M ? mine() : last - mine()];
    gb_sync();
    in[mine()] = 0;
}

/* The last block to come adds up what all have left. */
template <bool M>
GB_DEVICE void
missing_fence(const gb_bug_args &a)
{
    GB_SHARED bool is_last;

    a.scratch[mine()] = a.in[mine()];
    if (M)
        __threadfence();
    gb_sync();
    if (gb_thread() == 0)
        is_last = atomicAdd(a.counter, 1) == (int)gb_n_blocks() - 1;
    gb_sync();
    if (is_last)
        for (int64_t i = 0; i < gb_n_blocks(); i++)
            a.out[gb_thread()] =
                a.scratch[i * gb_n_threads() + gb_thread()];
}

template <bool M>
GB_DEVICE void
atomic_left_out(const gb_bug_args &a)
{
    if (gb_thread() % GB_WARP != 0)
        return;
    if (M)
        atomicAdd(a.counter, 1);
    else
        *a.counter += 1;
}

/* ---- addresses ---- */

template <bool M>
GB_DEVICE void
outside_global(const gb_bug_args &a)
{
    a.out[mine()] = a.in[mine() + (M ? 0 : 1)];
}

template <bool M>
GB_DEVICE void
write_before_global(const gb_bug_args &a)
{
    a.out[mine() - (M ? 0 : 1)] = 1;
}

template <bool M>
GB_DEVICE void
outside_dynamic_shared(const gb_bug_args &a)
{
    GB_DYNAMIC_SHARED(float, shared);

    shared[gb_thread() + (M ? 0 : 1)] = a.in[mine()];
}

template <bool M>
GB_DEVICE void
host_memory(const gb_bug_args &a)
{
    const float *const host = (const float *)(uintptr_t)4096;

    a.out[mine()] = *(M ? a.in : host);
}

template <bool M>
GB_DEVICE void
misaligned_vector(const gb_bug_args &a)
{
    const float4 *const four = (const float4 *)(a.in + (M ? 4 : 1));

    a.out[mine()] = four->x + four->w;
}

/* Rows that lie more than 4 GiB apart. */
template <bool M>
GB_DEVICE void
offset_of_32_bits(const gb_bug_args &a)
{
    const int64_t offset = gb_block() * a.stride;
    const int32_t narrow = (int32_t)offset;

    a.out[mine()] =
        *(const float *)((const char *)a.in + (M ? offset : narrow));
}

/* ---- bytes that nobody wrote ---- */

template <bool M>
GB_DEVICE void
unwritten_global(const gb_bug_args &a)
{
    if (M)
        a.scratch[mine()] = 0;
    a.out[mine()] = a.scratch[mine()];
}

template <bool M>
GB_DEVICE void
unwritten_shared(const gb_bug_args &a)
{
    SHARED_PER_THREAD;

    if (M || gb_thread() > 0)
        shared[gb_thread()] = 1;
    a.out[mine()] = shared[gb_thread()];
}

template <bool M>
GB_DEVICE void
unwritten_dynamic_shared(const gb_bug_args &a)
{
    GB_DYNAMIC_SHARED(float, shared);

    if (M)
        shared[gb_thread()] = 1;
    a.out[mine()] = shared[gb_thread()];
}

/* ---- copies beside the thread ---- */

#define SHARED_FOUR_PER_THREAD \
    GB_SHARED __align__(16) float shared[2][GB_BUG_THREADS]

/* The first quarter of the threads copies four floats each. */
GB_DEVICE void
copy_row(float *to, const float *from)
{
    if (gb_thread() < GB_BUG_THREADS / 4)
        gb_emu_cp_async_16(to + 4 * gb_thread(), from + 4 * gb_thread(), 16);
    gb_emu_cp_async_commit();
}

template <bool M>
GB_DEVICE void
missing_copy_wait(const gb_bug_args &a)
{
    SHARED_FOUR_PER_THREAD;

    copy_row(shared[0], a.in + gb_block() * gb_n_threads());
    if (M)
        gb_emu_cp_async_wait(0);
    gb_sync();
    a.out[mine()] = shared[0][gb_thread()];
}

template <bool M>
GB_DEVICE void
wait_for_too_few_copies(const gb_bug_args &a)
{
    SHARED_FOUR_PER_THREAD;

    copy_row(shared[0], a.in);
    copy_row(shared[1], a.in);
    gb_emu_cp_async_wait(M ? 1 : 2);
    gb_sync();
    a.out[mine()] = shared[0][gb_thread()];
    gb_emu_cp_async_wait(0);
}

template <bool M>
GB_DEVICE void
missing_barrier_after_copy(const gb_bug_args &a)
{
    SHARED_FOUR_PER_THREAD;

    copy_row(shared[0], a.in);
    gb_emu_cp_async_wait(0);
    if (M)
        gb_sync();
    a.out[mine()] = shared[0][gb_thread()];
}

/* ---- TMA and MMA of warp groups ---- */

struct bug_panels {
    float rows[64][32], cols[128][32];
    uint64_t barrier;
};

GB_DEVICE bug_panels *
panels()
{
    GB_DYNAMIC_SHARED(char, all);

    return (bug_panels *)(all + (-(uintptr_t)all & 1023));
}

/* One row of IN, of 32 floats. */
GB_DEVICE gb_cuda_tensor_map
map_of(const gb_bug_args &a)
{
    gb_cuda_tensor_map map;
    emu::tensor_map m = {};

    m.mark = emu::tensor_map_mark;
    m.address = (uint64_t)(uintptr_t)a.in;
    m.stride[0] = 128;
    m.last[0] = 31;
    m.rank = 2;
    m.size = 4;
    m.box[0] = 32;
    m.box[1] = m.step[0] = m.step[1] = 1;
    __builtin_memcpy(&map, &m, sizeof(m));
    return map;
}

/* A row comes by TMA; each thread has an element of it. */
GB_DEVICE void
take_row(const gb_bug_args &a, bool fences, int n_bytes, bool waits)
{
    bug_panels *const p = panels();
    const gb_cuda_tensor_map map = map_of(a);

    if (gb_thread() == 0) {
        gb_mbarrier_init(&p->barrier, 1);
        if (fences)
            gb_mbarrier_init_fence();
        gb_mbarrier_arrive_expect(&p->barrier, n_bytes);
        gb_tma_load(p->rows, &map, 0, 0, &p->barrier);
    }
    gb_sync();
    if (waits)
        gb_mbarrier_wait(&p->barrier, 0);
    a.out[mine()] = p->rows[0][gb_lane() % 32];
}

template <bool M>
GB_DEVICE void
missing_tma_wait(const gb_bug_args &a)
{
    take_row(a, true, 128, M);
}

template <bool M>
GB_DEVICE void
missing_mbarrier_fence(const gb_bug_args &a)
{
    take_row(a, M, 128, true);
}

template <bool M>
GB_DEVICE void
too_few_bytes_expected(const gb_bug_args &a)
{
    take_row(a, true, M ? 128 : 64, true);
}

GB_DEVICE void
fill_panels(bug_panels *p)
{
    for (int i = gb_thread(); i < 64 * 32; i += GB_BUG_THREADS)
        p->rows[0][i] = 0;
    for (int i = gb_thread(); i < 128 * 32; i += GB_BUG_THREADS)
        p->cols[0][i] = 0;
}

GB_DEVICE void
begin_product(const bug_panels *p, float sums[64], bool fences, bool commits)
{
    if (fences)
        gb_wgmma_fence();
    gb_wgmma_m64n128k16_f16(sums, gb_wgmma_panel(p->rows),
                            gb_wgmma_panel(p->cols));
    if (commits)
        gb_wgmma_commit();
}

GB_DEVICE void
one_product(const gb_bug_args &a, bool fences, bool commits, bool waits)
{
    bug_panels *const p = panels();
    float sums[64] = {};

    fill_panels(p);
    gb_async_proxy_fence();
    gb_sync();
    begin_product(p, sums, fences, commits);
    if (waits)
        gb_wgmma_wait(sums);
    a.out[mine()] = sums[0];
}

template <bool M>
GB_DEVICE void
missing_wgmma_wait(const gb_bug_args &a)
{
    one_product(a, true, true, M);
}

template <bool M>
GB_DEVICE void
missing_wgmma_commit(const gb_bug_args &a)
{
    one_product(a, true, M, true);
}

template <bool M>
GB_DEVICE void
missing_wgmma_fence(const gb_bug_args &a)
{
    one_product(a, M, true, true);
}

template <bool M>
GB_DEVICE void
missing_proxy_fence(const gb_bug_args &a)
{
    bug_panels *const p = panels();
    float sums[64] = {};

    fill_panels(p);
    if (M)
        gb_async_proxy_fence();
    gb_sync();
    begin_product(p, sums, true, true);
    gb_wgmma_wait(sums);
    a.out[mine()] = sums[0];
}

/* Other threads' stores are seen by their fences. */
template <bool M>
GB_DEVICE void
proxy_fence_after_barrier(const gb_bug_args &a)
{
    bug_panels *const p = panels();
    float sums[64] = {};

    fill_panels(p);
    if (M)
        gb_async_proxy_fence();
    gb_sync();
    gb_async_proxy_fence();
    begin_product(p, sums, true, true);
    gb_wgmma_wait(sums);
    a.out[mine()] = sums[0];
}

template <bool M>
GB_DEVICE void
refill_before_wgmma_wait(const gb_bug_args &a)
{
    bug_panels *const p = panels();
    float sums[64] = {};

    fill_panels(p);
    gb_async_proxy_fence();
    gb_sync();
    begin_product(p, sums, true, true);
    if (M) {
        gb_wgmma_wait(sums);
        gb_sync();
    }
    p->cols[gb_thread()][0] = 1;
    gb_wgmma_wait(sums);
    a.out[mine()] = sums[0];
}

/* ---- both of each ---- */

#define GB_BUG(name, blocks, shared, word, result)                     \
    extern "C" __global__ void gb_bug_##name(const struct gb_bug_args a) \
    {                                                                  \
        name<false>(a);                                                \
    }                                                                  \
    extern "C" __global__ void gb_mended_##name(                       \
        const struct gb_bug_args a)                                    \
    {                                                                  \
        name<true>(a);                                                 \
    }
GB_BUGS
