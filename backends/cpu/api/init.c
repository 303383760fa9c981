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
#include "lib/base/log.h"
#include "lib/base/status.h"

#include <stdatomic.h>

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

int
ggmlbackend_n_cpus(void)
{
    const int quota = gb_cpu_quota("");
    const int n = gb_cpu_count();

    return quota > 0 && quota < n ? quota : n;
}

/* WANTED threads, or as many as there may be. */
static int
limited(int wanted)
{
    static atomic_bool is_said;

    if (wanted <= GGML_MAX_N_THREADS)
        return wanted;
    /* Relaxed: nothing else hangs on who of several threads says it. */
    if (!atomic_exchange_explicit(&is_said, true, memory_order_relaxed))
        gb_log(GGML_LOG_LEVEL_WARN,
               "GGMLBACKEND_N_THREADS: %d is more than %d, using %d", wanted,
               GGML_MAX_N_THREADS, GGML_MAX_N_THREADS);
    return GGML_MAX_N_THREADS;
}

int
ggmlbackend_default_n_threads(void)
{
    const int wanted = gb_env_int(GB_ENV_N_THREADS);
    const int n = ggmlbackend_n_cpus();

    if (wanted > 0)
        return limited(wanted);
    return n < GGML_DEFAULT_N_THREADS ? n : GGML_DEFAULT_N_THREADS;
}
