/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/bugs-async.cu - the same as bugs.cu, of what goes on beside a
 * block's threads: cp.async, TMA, MMA of warp groups; launches that overlap.
 */
#include "backends/cuda/kernels/groupmma.cuh"
#include "tests/gpu-emulator/bugs.h"
#include "tests/gpu-emulator/tensor-map.h"

/* This thread's element of the whole grid. */
GB_DEVICE int64_t
mine()
{
    return gb_global_thread();
}

/* ---- cp.async ---- */

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
    uint64_t barrier, left;
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

/* This lane's element of P's row: one lane of each warp reads it, since of those who
 * read a word the last two are known. */
GB_DEVICE float
element_of(const bug_panels *p)
{
    return gb_lane() < 32 ? p->rows[0][gb_lane()] : 0.0f;
}

/* A row comes twice to one place.  The last thread lets the second come when all
 * warps have arrived, or at once; lanes meet before one of them arrives, or not. */
GB_DEVICE void
take_row_twice(const gb_bug_args &a, bool waits, bool meets)
{
    bug_panels *const p = panels();
    const gb_cuda_tensor_map map = map_of(a);
    const bool brings = gb_thread() == GB_BUG_THREADS - 1;

    if (brings) {
        gb_mbarrier_init(&p->barrier, 1);
        gb_mbarrier_init(&p->left, GB_BUG_THREADS / GB_WARP);
        gb_mbarrier_init_fence();
        gb_mbarrier_arrive_expect(&p->barrier, 128);
        gb_tma_load(p->rows, &map, 0, 0, &p->barrier);
    }
    gb_sync();
    gb_mbarrier_wait(&p->barrier, 0);
    gb_sync(); /* nobody waits for this phase when the next is over */
    a.out[mine()] = element_of(p);
    if (meets)
        gb_warp_sync();
    if (gb_lane() == GB_WARP - 1)
        gb_mbarrier_arrive(&p->left);
    if (brings) {
        if (waits)
            gb_mbarrier_wait(&p->left, 0);
        gb_mbarrier_arrive_expect(&p->barrier, 128);
        gb_tma_load(p->rows, &map, 0, 0, &p->barrier);
    }
    gb_mbarrier_wait(&p->barrier, 1);
    a.out[mine()] += element_of(p);
}

template <bool M>
GB_DEVICE void
refill_before_arrivals(const gb_bug_args &a)
{
    take_row_twice(a, M, true);
}

template <bool M>
GB_DEVICE void
arrival_before_lanes_meet(const gb_bug_args &a)
{
    take_row_twice(a, true, M);
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
multiply(const gb_bug_args &a, const bug_panels *p, bool fences, bool commits,
         bool waits)
{
    float sums[64] = {};

    begin_product(p, sums, fences, commits);
    if (waits)
        gb_wgmma_wait(sums);
    a.out[mine()] = sums[0];
}

GB_DEVICE void
one_product(const gb_bug_args &a, bool fences, bool commits, bool waits)
{
    bug_panels *const p = panels();

    fill_panels(p);
    gb_async_proxy_fence();
    gb_sync();
    multiply(a, p, fences, commits, waits);
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

    fill_panels(p);
    if (M)
        gb_async_proxy_fence();
    gb_sync();
    multiply(a, p, true, true, true);
}

/* Other threads' stores are seen by their fences. */
template <bool M>
GB_DEVICE void
proxy_fence_after_barrier(const gb_bug_args &a)
{
    bug_panels *const p = panels();

    fill_panels(p);
    if (M)
        gb_async_proxy_fence();
    gb_sync();
    gb_async_proxy_fence();
    multiply(a, p, true, true, true);
}

/* The same where warps wait for each other's arrivals.  To wait for what is over before
 * a barrier's first phase takes nothing from that. */
template <bool M>
GB_DEVICE void
proxy_fence_after_arrival(const gb_bug_args &a)
{
    bug_panels *const p = panels();

    if (gb_thread() == 0) {
        gb_mbarrier_init(&p->barrier, 1);
        gb_mbarrier_init(&p->left, GB_BUG_THREADS / GB_WARP);
    }
    gb_sync();
    fill_panels(p);
    if (M)
        gb_async_proxy_fence();
    gb_warp_sync();
    if (gb_lane() == 0)
        gb_mbarrier_arrive(&p->left);
    gb_mbarrier_wait(&p->left, 0);
    gb_mbarrier_wait(&p->barrier, 1);
    gb_async_proxy_fence();
    multiply(a, p, true, true, true);
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

/* ---- launches that begin before those in front have ended ---- */

/* What the launch in front made, one more. */
template <bool M>
GB_DEVICE void
early_read(const gb_bug_args &a)
{
    float *const counts = (float *)a.in;
    float before;

    if (M)
        gb_wait_for_kernels_before();
    before = counts[mine()];
    gb_wait_for_kernels_before();
    counts[mine()] = before + 1;
    a.out[mine()] = before;
}

template <bool M>
GB_DEVICE void
early_copy(const gb_bug_args &a)
{
    SHARED_FOUR_PER_THREAD;

    if (M)
        gb_wait_for_kernels_before();
    copy_row(shared[0], a.in + gb_block() * gb_n_threads());
    gb_wait_for_kernels_before();
    gb_emu_cp_async_wait(0);
    gb_sync();
    ((float *)a.in)[mine()] = shared[0][gb_thread()] + 1;
}

template <bool M>
GB_DEVICE void
early_write(const gb_bug_args &a)
{
    if (M)
        gb_wait_for_kernels_before();
    a.out[mine()] = 1;
    gb_wait_for_kernels_before();
}

template <bool M>
GB_DEVICE void
early_end(const gb_bug_args &)
{
    if (M || gb_thread() > 0)
        gb_wait_for_kernels_before();
}

/* ---- both of each ---- */

#define GB_BUG(name, blocks, shared, word, result) GB_BUG_AND_TWIN(name)
GB_BUGS_BESIDE_THREADS
GB_BUGS_OF_LAUNCHES
