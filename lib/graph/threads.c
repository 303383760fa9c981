/* SPDX-License-Identifier: MIT */
/*
 * graph/threads.c - the parameters of pools of threads.
 */
#include "config.h"

#include "ggml.h"

#include "lib/base/status.h"

#include <string.h>

struct ggml_threadpool_params
ggml_threadpool_params_default(int n_threads)
{
    return (struct ggml_threadpool_params){
        .n_threads = n_threads,
        .prio = GGML_SCHED_PRIO_NORMAL,
        .poll = 50,
    };
}

void
ggml_threadpool_params_init(struct ggml_threadpool_params *p, int n_threads)
{
    GB_NEED_VOID(p != NULL, "threadpool_params_init: no parameters");
    *p = ggml_threadpool_params_default(n_threads);
}

bool
ggml_threadpool_params_match(const struct ggml_threadpool_params *p0,
                             const struct ggml_threadpool_params *p1)
{
    GB_NEED_OR(false, p0 != NULL && p1 != NULL,
               "threadpool_params_match: no parameters");
    return p0->n_threads == p1->n_threads && p0->prio == p1->prio &&
           p0->poll == p1->poll && p0->strict_cpu == p1->strict_cpu &&
           memcmp(p0->cpumask, p1->cpumask, sizeof(p0->cpumask)) == 0;
}
