/* SPDX-License-Identifier: MIT */
/*
 * cpu/kernels/gemm/pairs-speed.c - is the instruction for pairs of BF16 worth its
 * name on this processor?
 *
 * VDPBF16PS multiplies 32 pairs where an FMA multiplies 16 floats.  Some cores
 * start as many of the one as of the other (Zen 4: it is worth two FMA); on some
 * it takes the time of four FMA (Granite Rapids), and BF16 weights that become
 * floats are multiplied twice as fast.  No bit of CPUID tells which, so both are
 * timed: independent sums in registers, as the micro-kernel has them, the best
 * of a few short runs, so that a switch of threads or a slow clock at the
 * beginning does not decide.  Known cores are a factor of two from the limit on
 * either side, and a result near it does not occur.
 */
#include "backends/cpu/kernels/api/prototypes.h"
#include "backends/cpu/simd/dot4.h"

bool
GB_K(has_pairs)(void)
{
    return VF_PAIRS;
}

#if VF_PAIRS

#include <time.h>

#define N_SUMS   12
#define N_ROUNDS 500
#define N_RUNS   7

/* 0 where the system has no such clock: then no pairs are slow. */
static int64_t
now_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0)
        return 0;
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Nanoseconds of one run.  The empty statement keeps all sums in registers and
 * has the compiler know nothing of them. */
static inline int64_t
time_run(bool is_pairs)
{
    const vf x = vf_zero();
    const int64_t begin = now_ns();
    vf s[N_SUMS];

#pragma GCC unroll 12
    for (int i = 0; i < N_SUMS; i++)
        s[i] = vf_zero();
    for (int r = 0; r < N_ROUNDS; r++) {
#pragma GCC unroll 12
        for (int i = 0; i < N_SUMS; i++) {
            s[i] = is_pairs ? vf_dot_pairs(s[i], x, x) : vf_fma(x, x, s[i]);
            __asm__ volatile("" : "+v"(s[i]));
        }
    }
    return now_ns() - begin;
}

bool
GB_K(pairs_are_slow)(void)
{
    int64_t pairs = INT64_MAX;
    int64_t floats = INT64_MAX;

    for (int i = 0; i < N_RUNS; i++) {
        const int64_t p = time_run(true);
        const int64_t f = time_run(false);

        pairs = p < pairs ? p : pairs;
        floats = f < floats ? f : floats;
    }
    return pairs > 2 * floats;
}

#else

bool
GB_K(pairs_are_slow)(void)
{
    return false;
}

#endif
