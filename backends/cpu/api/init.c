/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/init.c - what a process sets up for the CPU, and its usual thread
 * count.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/pool/cpus.h"
#include "backends/cpu/pool/numa.h"

#include "ggmlbackend.h"

#include "lib/base/env.h"
#include "lib/base/status.h"

/* There are no tables to fill, but the kernels are chosen, so that no graph
 * has to wait for that. */
void
ggml_cpu_init(void)
{
    gb_cpu_kernels();
}

void
ggml_numa_init(enum ggml_numa_strategy numa)
{
    GB_NEED_VOID((unsigned)numa < GGML_NUMA_STRATEGY_COUNT,
                 "numa_init: no strategy %d", (int)numa);
    gb_cpu_numa_init(numa);
}

bool
ggml_is_numa(void)
{
    return gb_cpu_numa_is_on();
}

/* GGMLBACKEND_N_THREADS, or the least of the interface's default, the CPUs that
 * this process may run on, and what its control group grants. */
int
ggmlbackend_default_n_threads(void)
{
    const int wanted = gb_env_int(GB_ENV_N_THREADS);
    const int quota = gb_cpu_quota("");
    int n = GGML_DEFAULT_N_THREADS;

    if (wanted > 0)
        return wanted < GGML_MAX_N_THREADS ? wanted : GGML_MAX_N_THREADS;
    if (gb_cpu_count() < n)
        n = gb_cpu_count();
    return quota > 0 && quota < n ? quota : n;
}
