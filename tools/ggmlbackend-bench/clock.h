/* SPDX-License-Identifier: MIT */
/*
 * bench/clock.h - seconds, as fine as the machine has them.
 */
#ifndef TOOLS_BENCH_CLOCK_H
#define TOOLS_BENCH_CLOCK_H

#include <time.h>

static inline double
seconds_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

#endif
