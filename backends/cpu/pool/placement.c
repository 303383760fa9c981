/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/placement.c - which thread of a pool is bound to which CPUs.
 *
 * A mask of the client's comes before a NUMA strategy.  With strict_cpu each
 * thread is bound to one CPU of the mask, else all of them to the whole mask.
 */
#include "config.h"

#include "backends/cpu/pool/placement.h"

#include "backends/cpu/pool/numa.h"

#include <string.h>

/* The INDEX-th CPU of a mask that has N, beginning again behind the last. */
static int
nth_of_mask(const bool *mask, int n, int index)
{
    int left = index % n;

    for (int cpu = 0; cpu < GGML_MAX_N_THREADS; cpu++) {
        if (mask[cpu] && left-- == 0)
            return cpu;
    }
    return 0;
}

bool
gb_cpu_placement(const struct ggml_threadpool_params *params, int index,
                 struct gb_cpu_set *out)
{
    int n = 0;

    memset(out, 0, sizeof(*out));
    for (int cpu = 0; cpu < GGML_MAX_N_THREADS; cpu++) {
        if (params->cpumask[cpu]) {
            gb_cpu_set_add(out, cpu);
            n++;
        }
    }
    if (n == 0)
        return gb_cpu_numa_wanted(index, out);
    if (params->strict_cpu) {
        memset(out, 0, sizeof(*out));
        gb_cpu_set_add(out, nth_of_mask(params->cpumask, n, index));
    }
    return true;
}
