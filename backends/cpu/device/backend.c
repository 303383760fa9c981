/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/backend.c - the CPU as a backend: graphs are computed when the
 * call returns.
 *
 * Making one costs next to nothing, since some clients make one for a single
 * question.  How many threads the process may have is found out when the first
 * graph is computed, or planned.  A backend keeps its memory, which grows, and
 * a thread pool of its own, made when first needed; a client's pool takes its
 * place while it is set.
 *
 * That memory serves one graph at a time.  The client's code runs while a graph
 * is computed (custom operations, the abort callback, the log's function), and
 * other threads do, so whoever comes with another graph then is refused.
 */
#include "config.h"

#include "backends/cpu/device/device.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <stdatomic.h>

/* Memory that is kept between graphs and grows with them. */
struct memory {
    void *bytes;
    size_t size;
};

struct cpu_backend {
    struct ggml_backend base;
    int n_threads;       /* 0: not found out yet */
    struct ggml_threadpool *own_pool;
    struct ggml_threadpool *client_pool; /* NULL: the own one */
    ggml_abort_callback abort;
    void *abort_data;
    struct memory list, work; /* of the graph at hand */
    atomic_bool is_busy;      /* with a graph, which may not be a whole one */
};

/* What a client's handle for a plan points to. */
struct graph_plan {
    struct gb_cpu_plan plan;
    void *list, *work;
    atomic_bool is_busy; /* being computed, by whatever backend */
};

/* The interface tells backends apart by this: clients compare it. */
static const uint8_t guid[16] = {
    0xaa, 0x67, 0xc7, 0x43, 0x96, 0xe6, 0xa3, 0x8a,
    0xe3, 0xaf, 0xea, 0x92, 0x36, 0xbc, 0xfc, 0x89
};

static const char *
backend_get_name(ggml_backend_t backend)
{
    (void)backend;
    return "CPU";
}

/*
 * Take what IS_BUSY stands for; false when somebody has it.  Acquire: with the
 * release of whoever had it before, perhaps in another thread.
 */
static bool
take(atomic_bool *is_busy)
{
    return !atomic_exchange_explicit(is_busy, true, memory_order_acquire);
}

static void
give_back(atomic_bool *is_busy)
{
    atomic_store_explicit(is_busy, false, memory_order_release);
}

static void
backend_free(ggml_backend_t backend)
{
    struct cpu_backend *cpu = backend->context;

    GB_NEED_VOID(take(&cpu->is_busy),
                 "cpu: the backend is at work and cannot be freed");
    ggml_threadpool_free(cpu->own_pool);
    gb_mem_free(cpu->list.bytes);
    gb_mem_free(cpu->work.bytes);
    gb_mem_free(cpu);
}

/* Threads for a graph: no more than the client's pool has. */
static int
threads_to_use(struct cpu_backend *cpu)
{
    int n;

    if (cpu->n_threads == 0)
        cpu->n_threads = ggmlbackend_default_n_threads();
    if (cpu->client_pool == NULL)
        return cpu->n_threads;
    n = ggml_threadpool_get_n_threads(cpu->client_pool);
    return cpu->n_threads < n ? cpu->n_threads : n;
}

/*
 * A pool for N_THREADS: the client's, or the own one, which is replaced when it
 * is too small.  NULL when one thread is enough, or when there can be no pool,
 * which is logged: the calling thread is enough then too.
 */
static struct ggml_threadpool *
pool_to_use(struct cpu_backend *cpu, int n_threads)
{
    struct ggml_threadpool_params params;

    if (cpu->client_pool != NULL)
        return cpu->client_pool;
    if (n_threads < 2)
        return NULL;
    if (cpu->own_pool != NULL &&
        ggml_threadpool_get_n_threads(cpu->own_pool) >= n_threads)
        return cpu->own_pool;
    params = ggml_threadpool_params_default(cpu->n_threads);
    ggml_threadpool_free(cpu->own_pool);
    cpu->own_pool = ggml_threadpool_new(&params);
    return cpu->own_pool;
}

/* The old contents are not needed: memory is filled for each graph. */
static enum ggml_status
grow(struct memory *memory, size_t size)
{
    void *bytes;

    if (size <= memory->size)
        return GGML_STATUS_SUCCESS;
    bytes = gb_mem_alloc(size);
    if (bytes == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "cpu: no memory for %zu bytes of scratch", size);
    gb_mem_free(memory->bytes);
    *memory = (struct memory){ bytes, size };
    return GGML_STATUS_SUCCESS;
}

/* Plan GRAPH in the backend's memory: once to measure and, where the list was
 * too small, again to fill it. */
static enum ggml_status
make_plan(struct cpu_backend *cpu, const struct ggml_cgraph *graph,
          struct gb_cpu_plan *plan)
{
    const int n = threads_to_use(cpu);
    struct gb_cpu_size size;

    GB_TRY(gb_cpu_plan_build(
        graph, n, cpu->list.bytes, cpu->list.size, &size, plan));
    if (size.list > cpu->list.size) {
        GB_TRY(grow(&cpu->list, size.list));
        GB_TRY(gb_cpu_plan_build(
            graph, n, cpu->list.bytes, cpu->list.size, &size, plan));
    }
    GB_TRY(gb_cpu_plan_check_memory(plan));
    GB_TRY(grow(&cpu->work, size.work));
    if (size.work > 0)
        gb_cpu_plan_set_work(plan, &size, cpu->work.bytes);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
run(struct cpu_backend *cpu, const struct gb_cpu_plan *plan)
{
    const struct gb_cpu_abort abort = { &cpu->abort, &cpu->abort_data };

    return gb_cpu_plan_run(plan, pool_to_use(cpu, plan->n_threads), abort);
}

/* The backend is taken for one graph; leave gives it back and hands the status
 * on. */
static enum ggml_status
enter(struct cpu_backend *cpu)
{
    GB_NEED_OR(GGML_STATUS_FAILED, take(&cpu->is_busy),
               "cpu: the backend is at work: it can compute nothing for its "
               "own graph's operations and callbacks, or for another thread");
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
leave(struct cpu_backend *cpu, enum ggml_status status)
{
    give_back(&cpu->is_busy);
    return status;
}

static enum ggml_status
compute(struct cpu_backend *cpu, const struct ggml_cgraph *graph)
{
    struct gb_cpu_plan plan;

    GB_TRY(make_plan(cpu, graph, &plan));
    return run(cpu, &plan);
}

static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    struct cpu_backend *cpu = backend->context;

    GB_TRY(enter(cpu));
    return leave(cpu, compute(cpu, graph));
}

/* Of a plan that may be half made. */
static void
free_plan(struct graph_plan *created)
{
    gb_mem_free(created->list);
    gb_mem_free(created->work);
    gb_mem_free(created);
}

/* Planned twice: to measure, then into memory of that size. */
static enum ggml_status
create_plan(struct graph_plan *created, const struct ggml_cgraph *graph,
            int n_threads)
{
    struct gb_cpu_size size;

    GB_TRY(gb_cpu_plan_build(graph, n_threads, NULL, 0, &size, &created->plan));
    if (size.n_phases == 0)
        return GGML_STATUS_SUCCESS;
    created->list = gb_mem_alloc(size.list);
    created->work = gb_mem_alloc(size.work);
    if (created->list == NULL || created->work == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a plan");
    GB_TRY(gb_cpu_plan_build(graph, n_threads, created->list, size.list, &size,
                             &created->plan));
    gb_cpu_plan_set_work(&created->plan, &size, created->work);
    return GGML_STATUS_SUCCESS;
}

/* A plan has memory of its own, and may be computed by any CPU backend. */
static ggml_backend_graph_plan_t
backend_graph_plan_create(
    ggml_backend_t backend, const struct ggml_cgraph *graph)
{
    const int n_threads = threads_to_use(backend->context);
    struct graph_plan *created = gb_mem_zalloc(1, sizeof(*created));

    if (created == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a plan");
        return NULL;
    }
    if (create_plan(created, graph, n_threads) == GGML_STATUS_SUCCESS)
        return created;
    free_plan(created);
    return NULL;
}

static void
backend_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct graph_plan *created = plan;

    (void)backend;
    if (created == NULL)
        return;
    GB_NEED_VOID(take(&created->is_busy),
                 "cpu: the plan is at work and cannot be freed");
    free_plan(created);
}

/* Two backends may be given the same plan, whose memory serves one at a
 * time. */
static enum ggml_status
compute_plan(struct cpu_backend *cpu, struct graph_plan *created)
{
    enum ggml_status status;

    GB_NEED_OR(GGML_STATUS_FAILED, take(&created->is_busy),
               "cpu: the plan is at work: it has memory for one at a time");
    status = run(cpu, &created->plan);
    give_back(&created->is_busy);
    return status;
}

static enum ggml_status
backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct cpu_backend *cpu = backend->context;

    GB_TRY(enter(cpu));
    return leave(cpu, compute_plan(cpu, plan));
}

static const struct ggml_backend_i members = {
    .get_name = backend_get_name,
    .free = backend_free,
    .graph_plan_create = backend_graph_plan_create,
    .graph_plan_free = backend_graph_plan_free,
    .graph_plan_compute = backend_graph_plan_compute,
    .graph_compute = backend_graph_compute,
};

ggml_backend_t
ggml_backend_cpu_init(void)
{
    struct cpu_backend *cpu = gb_mem_zalloc(1, sizeof(*cpu));

    if (cpu == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a backend");
        return NULL;
    }
    cpu->base.guid = (ggml_guid_t)&guid;
    cpu->base.iface = members;
    cpu->base.device = GB_CPU_DEVICE;
    cpu->base.context = cpu;
    return &cpu->base;
}

bool
ggml_backend_is_cpu(ggml_backend_t backend)
{
    return backend != NULL &&
           ggml_guid_matches(backend->guid, (ggml_guid_t)&guid);
}

void
ggml_backend_cpu_set_n_threads(ggml_backend_t backend_cpu, int n_threads)
{
    struct cpu_backend *cpu;

    GB_NEED_VOID(ggml_backend_is_cpu(backend_cpu),
                 "set_n_threads: not a CPU backend");
    GB_NEED_VOID(n_threads >= 1 && n_threads <= GGML_MAX_N_THREADS,
                 "set_n_threads: %d threads", n_threads);
    cpu = backend_cpu->context;
    cpu->n_threads = n_threads;
}

void
ggml_backend_cpu_set_threadpool(
    ggml_backend_t backend_cpu, ggml_threadpool_t threadpool)
{
    struct cpu_backend *cpu;

    GB_NEED_VOID(ggml_backend_is_cpu(backend_cpu),
                 "set_threadpool: not a CPU backend");
    cpu = backend_cpu->context;
    if (cpu->client_pool != NULL && cpu->client_pool != threadpool)
        ggml_threadpool_pause(cpu->client_pool);
    cpu->client_pool = threadpool;
}

void
ggml_backend_cpu_set_abort_callback(
    ggml_backend_t backend_cpu, ggml_abort_callback abort_callback,
    void *abort_callback_data)
{
    struct cpu_backend *cpu;

    GB_NEED_VOID(ggml_backend_is_cpu(backend_cpu),
                 "set_abort_callback: not a CPU backend");
    cpu = backend_cpu->context;
    cpu->abort = abort_callback;
    cpu->abort_data = abort_callback_data;
}
