/* SPDX-License-Identifier: MIT */
/*
 * bench/bench.c - the middle one and the least of many times, and a line that
 * says them.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double
bench_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

void
bench_add(struct bench_times *times, double begin)
{
    const double end = bench_now();

    if (times->n < (int)(sizeof(times->all) / sizeof(times->all[0])))
        times->all[times->n++] = end - begin;
}

static int
compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void
bench_sort(struct bench_times *times)
{
    qsort(times->all, (size_t)times->n, sizeof(times->all[0]), compare_times);
}

void
bench_print(
    const char *name, struct bench_times *times, double count,
    const char *unit)
{
    if (times->n == 0)
        bench_stop(name);
    bench_sort(times);
    printf("%s %.4f %s %.4f\n", name, times->all[times->n / 2] / count, unit,
           times->all[0] / count);
    fflush(stdout);
}

void
bench_stop(const char *what)
{
    fprintf(stderr, "bench: failed: %s\n", what);
    exit(1);
}
