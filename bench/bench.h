/* SPDX-License-Identifier: MIT */
/*
 * bench/bench.h - the middle one and the least of many times, and a line that
 * says them.
 */
#ifndef GB_BENCH_BENCH_H
#define GB_BENCH_BENCH_H

/* Microseconds of a steady clock. */
double bench_now(void);

/* The times of one thing that was done again and again. */
struct bench_times {
    double all[256];
    int n;
};

/* One more, while there is room: microseconds since BEGIN. */
void bench_add(struct bench_times *times, double begin);

/* In order: the least first. */
void bench_sort(struct bench_times *times);

/* "NAME MEDIAN UNIT LEAST": both divided by COUNT. */
void bench_print(
    const char *name, struct bench_times *times, double count,
    const char *unit);

/* Ends the program with a message. */
void bench_stop(const char *what);

#endif
