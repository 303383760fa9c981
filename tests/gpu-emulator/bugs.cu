/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/bugs.cu - kernels with one fault each, and their twins without.
 *
 * Threads of a block: GB_BUG_THREADS.  Where M (mended) is false, the fault is
 * there.
 */
#include "backends/cuda/kernels/device.cuh"
#include "tests/gpu-emulator/bugs.h"

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

/* ---- both of each ---- */

#define GB_BUG(name, blocks, shared, word, result) GB_BUG_AND_TWIN(name)
GB_BUGS_OF_THREADS
