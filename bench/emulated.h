/* SPDX-License-Identifier: MIT */
/*
 * bench/emulated.h - counters of the emulated driver, and the lines that say
 * them.
 */
#ifndef GB_BENCH_EMULATED_H
#define GB_BENCH_EMULATED_H

#include "tests/gpu-emulator/control.h"

struct bench_emulated {
    uint64_t (*count)(enum emu_counter which);
    void (*costs_of)(const char *kernel, struct emu_costs *costs_out);
    void (*watch)(const void *address, uint64_t size);
};

/* Of the driver that this process runs on; ends the program where that is
 * another one. */
struct bench_emulated bench_find_emulated(void);

/* A line of tests/cuda/counters.tsv.  SIGN is "<=" or ">=", and what the value
 * should be of TARGET; NULL: there is no target. */
void bench_figure(const char *what, const char *type, const char *figure,
                  double value, const char *sign, double target);

#endif
