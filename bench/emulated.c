/* SPDX-License-Identifier: MIT */
/*
 * bench/emulated.c - counters of the emulated driver, and the lines that say
 * them.
 */
#include "emulated.h"

#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>

struct bench_emulated
bench_find_emulated(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    struct bench_emulated e;

    if (driver == NULL || dlsym(driver, "emu_watch") == NULL)
        bench_stop("the emulated driver");
    *(void **)&e.count = dlsym(driver, "emu_count");
    *(void **)&e.costs_of = dlsym(driver, "emu_costs_of");
    *(void **)&e.watch = dlsym(driver, "emu_watch");
    return e;
}

void
bench_figure(const char *what, const char *type, const char *figure,
             double value, const char *sign, double target)
{
    printf("%s\t%s\t%s\t%.3f\t", what, type, figure, value);
    if (sign == NULL)
        printf("\t\n");
    else
        printf("%s %g\t%s\n", sign, target,
               (*sign == '<' ? value <= target : value >= target) ? "met"
                                                                  : "missed");
    fflush(stdout);
}
