/* SPDX-License-Identifier: MIT */
/*
 * cpu/device/backend.c - the CPU as a backend: graphs are computed when the
 * call returns.
 *
 * A backend keeps one work buffer, which grows, and a thread pool of its own,
 * made when first needed; a client's pool takes its place while it is set.
 */
#include "config.h"

#include "backends/cpu/device/device.h"

#include "backends/cpu/isa/kernels.h"
#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "ggmlbackend.h"

#include "lib/base/mem.h"
#include "lib/base/status.h"

struct cpu_backend {
    int n_threads;
    struct ggml_threadpool *own_pool;
    struct ggml_threadpool *client_pool; /* NULL: the own one */
    struct gb_cpu_abort abort;
    void *work;
    size_t work_size;
};

/* What a client's handle for a plan points to. */
struct graph_plan {
    struct gb_cpu_plan plan;
    void *work;
};

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

static void
backend_free(ggml_backend_t backend)
{
    struct cpu_backend *cpu = backend->context;

    ggml_threadpool_free(cpu->own_pool);
    gb_mem_free(cpu->work);
    gb_mem_free(cpu);
    gb_mem_free(backend);
}

/* Threads for a graph: no more than the client's pool has. */
static int
threads_to_use(const struct cpu_backend *cpu)
{
    int n;

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

static enum ggml_status
grow_work(struct cpu_backend *cpu, size_t size)
{
    void *work = gb_mem_alloc(size);

    if (work == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "cpu: no memory for %zu bytes of scratch", size);
    gb_mem_free(cpu->work);
    cpu->work = work;
    cpu->work_size = size;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
run(struct cpu_backend *cpu, const struct gb_cpu_plan *plan)
{
    return gb_cpu_plan_run(
        plan, pool_to_use(cpu, plan->n_threads), cpu->abort);
}

static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    struct cpu_backend *cpu = backend->context;
    const int n = threads_to_use(cpu);
    struct gb_cpu_size size;
    struct gb_cpu_plan plan;

    GB_TRY(gb_cpu_plan_build(
        graph, n, cpu->work, cpu->work_size, &size, &plan));
    if (size.work > cpu->work_size) {
        GB_TRY(grow_work(cpu, size.work));
        GB_TRY(gb_cpu_plan_build(
            graph, n, cpu->work, cpu->work_size, &size, &plan));
    }
    return run(cpu, &plan);
}

static ggml_backend_graph_plan_t
backend_graph_plan_create(
    ggml_backend_t backend, const struct ggml_cgraph *graph)
{
    const int n = threads_to_use(backend->context);
    struct graph_plan *created = gb_mem_zalloc(1, sizeof(*created));
    struct gb_cpu_size size;

    if (created == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a plan");
        return NULL;
    }
    if (gb_cpu_plan_build(graph, n, NULL, 0, &size, &created->plan) !=
        GGML_STATUS_SUCCESS)
        goto free_created;
    if (size.work == 0)
        return created;
    created->work = gb_mem_alloc(size.work);
    if (created->work == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a plan");
        goto free_created;
    }
    if (gb_cpu_plan_build(graph, n, created->work, size.work, &size,
                          &created->plan) == GGML_STATUS_SUCCESS)
        return created;
    gb_mem_free(created->work);
free_created:
    gb_mem_free(created);
    return NULL;
}

static void
backend_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct graph_plan *created = plan;

    (void)backend;
    if (created == NULL)
        return;
    gb_mem_free(created->work);
    gb_mem_free(created);
}

static enum ggml_status
backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    const struct graph_plan *created = plan;

    return run(backend->context, &created->plan);
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
    ggml_backend_t backend = gb_mem_zalloc(1, sizeof(*backend));

    if (cpu == NULL || backend == NULL) {
        gb_mem_free(cpu);
        gb_mem_free(backend);
        gb_fail(GGML_STATUS_ALLOC_FAILED, "cpu: no memory for a backend");
        return NULL;
    }
    ggml_cpu_init();
    cpu->n_threads = ggmlbackend_default_n_threads();
    backend->guid = (ggml_guid_t)&guid;
    backend->iface = members;
    backend->device = GB_CPU_DEVICE;
    backend->context = cpu;
    return backend;
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
    cpu->abort = (struct gb_cpu_abort){ abort_callback, abort_callback_data };
}
