/* SPDX-License-Identifier: MIT */
/*
 * cpu/api/compute.c - planning and computing a graph without a backend.
 *
 * Clients are asked for no work memory: what they would have to give is the
 * library's business, and where other libraries of this interface ask for none,
 * they do not look whether there is any.  It is taken when a graph is computed,
 * so that graphs may be computed from within others with the same plan.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <string.h>

/* What a plan begins with: threads as asked for, or as the pool has. */
static struct ggml_cplan
plan_for(int n_threads, struct ggml_threadpool *threadpool)
{
    struct ggml_cplan cplan;

    memset(&cplan, 0, sizeof(cplan));
    if (n_threads <= 0)
        n_threads = threadpool != NULL
                        ? ggml_threadpool_get_n_threads(threadpool)
                        : GGML_DEFAULT_N_THREADS;
    if (n_threads > GGML_MAX_N_THREADS)
        n_threads = GGML_MAX_N_THREADS;
    cplan.threadpool = threadpool;
    cplan.n_threads = n_threads;
    return cplan;
}

/* The plan itself is not kept: it is made to know how many threads find
 * something to do. */
struct ggml_cplan
ggml_graph_plan(const struct ggml_cgraph *cgraph, int n_threads,
                struct ggml_threadpool *threadpool)
{
    struct ggml_cplan cplan = plan_for(n_threads, threadpool);
    struct gb_cpu_size size;
    struct gb_cpu_plan plan;

    if (gb_cpu_plan_build(cgraph, cplan.n_threads, NULL, 0, &size, &plan) ==
        GGML_STATUS_SUCCESS)
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

/* Without a pool of the client's one is made for this graph, which costs more
 * than a backend that keeps its own. */
static enum ggml_status
run(const struct gb_cpu_plan *plan, const struct ggml_cplan *cplan)
{
    const struct gb_cpu_abort abort = {
        &cplan->abort_callback, &cplan->abort_callback_data
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

/* Bytes on the stack for the list of phases, and as many for the work memory:
 * enough for some forty nodes, so that small graphs allocate nothing. */
#define SMALL ((size_t)10240)

/* SIZE bytes: those at SMALL where they are enough, or others that give_back
 * frees.  NULL, with the reason recorded, when there is no memory. */
static void *
memory_for(size_t size, void *small)
{
    void *bytes;

    if (size <= SMALL)
        return small;
    bytes = gb_mem_alloc(size);
    if (bytes == NULL)
        gb_fail(GGML_STATUS_ALLOC_FAILED,
                "graph_compute: no memory for %zu bytes of work", size);
    return bytes;
}

static void
give_back(void *bytes, void *small)
{
    if (bytes != small)
        gb_mem_free(bytes);
}

/* In LIST, which is large enough for any plan of this graph. */
static enum ggml_status
compute_with(struct ggml_cgraph *graph, const struct ggml_cplan *cplan,
             void *list, size_t list_size)
{
    _Alignas(GB_CPU_WORK_ALIGN) char small[SMALL];
    struct gb_cpu_size size;
    struct gb_cpu_plan plan;
    enum ggml_status status;
    void *work;

    GB_TRY(gb_cpu_plan_build(
        graph, threads_to_use(cplan), list, list_size, &size, &plan));
    GB_TRY(gb_cpu_plan_check_memory(&plan));
    work = memory_for(size.work, small);
    if (work == NULL)
        return GGML_STATUS_ALLOC_FAILED;
    if (size.work > 0)
        gb_cpu_plan_set_work(&plan, &size, work);
    status = run(&plan, cplan);
    give_back(work, small);
    return status;
}

enum ggml_status
ggml_graph_compute(struct ggml_cgraph *cgraph, struct ggml_cplan *cplan)
{
    const size_t list_size = gb_cpu_plan_list_limit(cgraph);
    _Alignas(GB_CPU_WORK_ALIGN) char small[SMALL];
    enum ggml_status status;
    void *list;

    GB_NEED_OR(GGML_STATUS_FAILED, cplan != NULL, "graph_compute: no plan");
    GB_NEED_OR(GGML_STATUS_FAILED,
               cplan->n_threads >= 1 && cplan->n_threads <= GGML_MAX_N_THREADS,
               "graph_compute: the plan has %d threads", cplan->n_threads);
    list = memory_for(list_size, small);
    if (list == NULL)
        return GGML_STATUS_ALLOC_FAILED;
    status = compute_with(cgraph, cplan, list, list_size);
    give_back(list, small);
    return status;
}

enum ggml_status
ggml_graph_compute_with_ctx(
    struct ggml_context *ctx, struct ggml_cgraph *cgraph, int n_threads)
{
    struct ggml_cplan cplan;

    GB_NEED_OR(GGML_STATUS_FAILED, ctx != NULL, "graph_compute: no context");
    cplan = plan_for(n_threads, NULL);
    return ggml_graph_compute(cgraph, &cplan);
}
