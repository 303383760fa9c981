/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/profile.c - what the threads' time was spent on, for a client.
 */
#include "config.h"

#include "backends/cpu/plan/profile.h"

#include "lib/base/checked.h"
#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/trace/trace.h"

#include <stdatomic.h>

static struct {
    _Atomic(ggmlbackend_profile_callback) callback; /* released with DATA */
    void *data;
} client;

void
gb_cpu_set_profile(ggmlbackend_profile_callback callback, void *data)
{
    client.data = data;
    atomic_store_explicit(&client.callback, callback, memory_order_release);
}

int64_t *
gb_cpu_profile_begin(const struct gb_cpu_plan *plan)
{
    int64_t *times = NULL;
    size_t n;

    if (atomic_load_explicit(&client.callback, memory_order_relaxed) == NULL ||
        plan->n_phases == 0)
        return NULL;
    if (gb_mul_size((size_t)plan->n_phases, (size_t)plan->n_threads, &n))
        times = gb_mem_zalloc(n, sizeof(*times));
    if (times == NULL)
        gb_log(GGML_LOG_LEVEL_WARN, "cpu: no memory for a profile");
    return times;
}

static enum ggmlbackend_part
part_of(const struct gb_cpu_phase *phase)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(phase->node);

    return phase->tile == op->run    ? GGMLBACKEND_PART_RUN
         : phase->tile == op->finish ? GGMLBACKEND_PART_FINISH
                                     : GGMLBACKEND_PART_PREPARE;
}

void
gb_cpu_profile_end(const struct gb_cpu_plan *plan, int64_t *times,
                   int64_t start)
{
    const int64_t ns = gb_trace_now() - start;
    const ggmlbackend_profile_callback tell =
        atomic_load_explicit(&client.callback, memory_order_acquire);

    for (int64_t i = 0; tell != NULL && i < plan->n_phases; i++) {
        int64_t sum = 0;

        for (int t = 0; t < plan->n_threads; t++)
            sum += times[t * plan->n_phases + i];
        tell(client.data, plan->phases[i].node, part_of(&plan->phases[i]), sum);
    }
    if (tell != NULL)
        tell(client.data, NULL, GGMLBACKEND_PART_RUN, ns * plan->n_threads);
    gb_mem_free(times);
}
