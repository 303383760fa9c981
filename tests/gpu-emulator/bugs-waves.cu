/* SPDX-License-Identifier: MIT */
/*
 * gpu-emulator/bugs-waves.cu - the same as bugs.cu, of kernels that take a warp for
 * 32 lanes: right with so many, wrong in waves of 64.
 *
 * Each thread counts the marked ones of its 32: so many as threads of the grid are
 * before these 32, divided by 32.
 */
#include "backends/cuda/kernels/device.cuh"
#include "tests/gpu-emulator/bugs.h"

/* The first of this thread's 32, in the block and in the wave. */
GB_DEVICE int
first_thread()
{
    return gb_thread() / 32 * 32;
}

GB_DEVICE int
first_lane()
{
    return first_thread() % GB_WARP;
}

/* IN has each thread's number. */
GB_DEVICE int
is_marked(const gb_bug_args &a, int64_t thread)
{
    const int number = (int)a.in[thread];

    return number % 32 < number / 32;
}

GB_DEVICE void
found(const gb_bug_args &a, int n)
{
    a.out[gb_global_thread()] = (float)n;
}

/* ---- masks, widths, votes ---- */

template <bool M>
GB_DEVICE void
mask_of_32_bits(const gb_bug_args &a)
{
    const gb_emu_lanes mask = M ? GB_ALL_LANES : 0xffffffffu;
    int n = is_marked(a, gb_global_thread());

    for (int lanes = 16; lanes > 0; lanes /= 2)
        n += __shfl_xor_sync(mask, n, lanes);
    found(a, n);
}

template <bool M>
GB_DEVICE void
shuffle_without_width(const gb_bug_args &a)
{
    const int mine = is_marked(a, gb_global_thread());
    int n = 0;

    for (int lane = 0; lane < 32; lane++)
        n += M ? __shfl_sync(GB_ALL_LANES, mine, lane, 32)
               : __shfl_sync(GB_ALL_LANES, mine, lane);
    found(a, n);
}

template <bool M>
GB_DEVICE void
vote_in_an_int(const gb_bug_args &a)
{
    const uint64_t votes =
        __ballot_sync(GB_ALL_LANES, is_marked(a, gb_global_thread()));
    const int narrow = (int)votes;
    const uint64_t kept = M ? votes : (uint64_t)narrow;

    found(a, __builtin_popcount((uint32_t)(kept >> first_lane())));
}

/* ---- shared memory ---- */

/* A row for each warp of a block, were they of 32 lanes. */
template <bool M>
GB_DEVICE void
shared_rows_of_32(const gb_bug_args &a)
{
    GB_SHARED int marks[GB_BUG_THREADS / 32][M ? GB_WARP : 32];
    const int warp = gb_thread() / GB_WARP;
    int n = 0;

    marks[warp][gb_lane()] = is_marked(a, gb_global_thread());
    gb_warp_sync();
    for (int i = 0; i < 32; i++)
        n += marks[warp][first_lane() + i];
    found(a, n);
}

/* Another wave, whatever its width, writes what these threads read. */
template <bool M>
GB_DEVICE void
missing_barrier_of_waves(const gb_bug_args &a)
{
    GB_SHARED int marks[GB_BUG_THREADS];
    const int other = gb_thread() ^ 64;
    int n = 0;

    marks[other] = is_marked(a, gb_block() * GB_BUG_THREADS + other);
    if (M)
        gb_sync();
    else
        gb_warp_sync();
    for (int i = 0; i < 32; i++)
        n += marks[first_thread() + i];
    found(a, n);
}

/* ---- halves of a wave as if they were two warps ---- */

/* What one half waits for the other does not come to. */
template <bool M>
GB_DEVICE void
halves_that_part(const gb_bug_args &a)
{
    const int mine = is_marked(a, gb_global_thread());
    int n = 0;

    if (M || gb_thread() / 32 % 2 == 0)
        for (int i = 0; i < 32; i++)
            n += gb_shuffle(mine, first_lane() + i);
    else
        n = __builtin_popcount(
            (uint32_t)(__ballot_sync(GB_ALL_LANES, mine) >> first_lane()));
    found(a, n);
}

/* The other half writes what this one reads, and each waits for itself. */
template <bool M>
GB_DEVICE void
halves_that_wait_alone(const gb_bug_args &a)
{
    GB_SHARED int marks[GB_BUG_THREADS];
    const gb_emu_lanes own = (gb_emu_lanes)0xffffffffu << first_lane();
    const int other = gb_thread() ^ GB_WARP / 2;
    int n = 0;

    marks[other] = is_marked(a, gb_block() * GB_BUG_THREADS + other);
    __syncwarp(M ? (gb_emu_lanes)GB_ALL_LANES : own);
    for (int i = 0; i < 32; i++)
        n += marks[first_thread() + i];
    found(a, n);
}

#define GB_BUG_OF_WAVES(name, lanes, word, result) GB_BUG_AND_TWIN(name)
GB_BUGS_OF_WAVES
