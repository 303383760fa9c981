/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/compute.c - planning and computing a graph without a backend.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

struct ggml_cplan
ggml_graph_plan(const struct ggml_cgraph *cgraph, int n_threads,
                struct ggml_threadpool *threadpool)
{
    struct ggml_cplan cplan;
    struct gb_cpu_size size;
    struct gb_cpu_plan plan;

    memset(&cplan, 0, sizeof(cplan));
    if (n_threads <= 0)
        n_threads = threadpool != NULL
                        ? ggml_threadpool_get_n_threads(threadpool)
                        : GGML_DEFAULT_N_THREADS;
    if (n_threads > GGML_MAX_N_THREADS)
        n_threads = GGML_MAX_N_THREADS;
    cplan.threadpool = threadpool;
    cplan.n_threads = n_threads;
    if (gb_cpu_plan_build(cgraph, n_threads, NULL, 0, &size, &plan) !=
        GGML_STATUS_SUCCESS)
        return cplan;
    /* For fewer threads the same is enough. */
    cplan.work_size = size.work;
    cplan.n_threads = size.n_threads;
    return cplan;
}

/* Threads to use; a pool's size is the limit. */
static int
threads_to_use(const struct ggml_cplan *cplan)
{
    int n;

    if (cplan->threadpool == NULL)
        return cplan->n_threads;
    n = ggml_threadpool_get_n_threads(cplan->threadpool);
    if (cplan->n_threads <= n)
        return cplan->n_threads;
    gb_log(GGML_LOG_LEVEL_WARN,
           "graph_compute: the plan has %d threads, its pool %d",
           cplan->n_threads, n);
    return n;
}

static enum ggml_status
run(const struct gb_cpu_plan *plan, const struct ggml_cplan *cplan)
{
    const struct gb_cpu_abort abort = {
        cplan->abort_callback, cplan->abort_callback_data
    };
    struct ggml_threadpool_params params;
    struct ggml_threadpool *pool;
    enum ggml_status status;

    if (cplan->threadpool != NULL || plan->n_threads < 2)
        return gb_cpu_plan_run(plan, cplan->threadpool, abort);
    /* Without a pool, which is logged, the calling thread does it all. */
    params = ggml_threadpool_params_default(plan->n_threads);
    pool = ggml_threadpool_new(&params);
    status = gb_cpu_plan_run(plan, pool, abort);
    ggml_threadpool_free(pool);
    return status;
}

enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan)
{
    struct gb_cpu_size size;
    struct gb_cpu_plan plan;

    GB_NEED_OR(GGML_STATUS_FAILED, cplan != NULL, "graph_compute: no plan");
    GB_NEED_OR(GGML_STATUS_FAILED,
               cplan->n_threads >= 1 && cplan->n_threads <= GGML_MAX_N_THREADS,
               "graph_compute: the plan has %d threads", cplan->n_threads);
    GB_TRY(gb_cpu_plan_build(
        cgraph, threads_to_use(cplan), cplan->work_data,
        cplan->work_data != NULL ? cplan->work_size : 0, &size, &plan));
    GB_NEED_OR(GGML_STATUS_FAILED,
               size.work <= cplan->work_size &&
                   (size.work == 0 || cplan->work_data != NULL),
               "graph_compute: the plan has %zu bytes at %p, the graph needs "
               "%zu", cplan->work_size, (void *)cplan->work_data, size.work);
    return run(&plan, cplan);
}

enum ggml_status
ggml_graph_compute_with_ctx(
    struct ggml_context *ctx, struct ggml_cgraph *cgraph, int n_threads)
{
    struct ggml_cplan cplan;
    enum ggml_status status;

    GB_NEED_OR(GGML_STATUS_FAILED, ctx != NULL, "graph_compute: no context");
    cplan = ggml_graph_plan(cgraph, n_threads, NULL);
    if (cplan.work_size > 0) {
        cplan.work_data = gb_mem_alloc(cplan.work_size);
        if (cplan.work_data == NULL)
            return gb_fail(GGML_STATUS_ALLOC_FAILED,
                           "graph_compute: no memory for %zu bytes of scratch",
                           cplan.work_size);
    }
    status = ggml_graph_compute(cgraph, &cplan);
    gb_mem_free(cplan.work_data);
    return status;
}
