/* SPDX-License-Identifier: MIT */
/*
 * cpu/pool/pool.c - a pool of threads that do one job together.
 *
 * The caller publishes a job and works on it itself; workers join if they find
 * the time.  One atomic word says all about the job: its number, whether it can
 * still be joined, how many threads it takes and how many workers are inside:
 *
 *   63          32  31    30      16  15      0
 *   | job number | open | threads    | inside  |
 *
 * So joining is one compare-and-swap, and whoever has joined knows that the
 * job's other fields hold until it leaves.  The caller closes the job and waits
 * for "inside" to become 0.
 */
#include "config.h"

#include "backends/cpu/pool/pool.h"

#include "backends/cpu/pool/affinity.h"
#include "backends/cpu/pool/cpus.h"
#include "backends/cpu/pool/placement.h"

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define JOB_OPEN          (UINT64_C(1) << 31)
#define JOB_NUMBER(word)  ((uint32_t)((word) >> 32))
#define JOB_THREADS(word) ((int)((word) >> 16 & 0x7fff))
#define JOB_INSIDE(word)  ((int)((word) & 0xffff))

/*
 * Spins for each of the hundred steps of "poll".  At the usual 50 that takes 20
 * to 50 microseconds, longer than most steps of a graph and shorter than a time
 * slice.
 */
#define SPINS_PER_POLL 20

/* Client's functions may run on workers; musl gives them 128 KiB. */
#define MIN_STACK ((size_t)1 << 20)

struct worker {
    struct ggml_threadpool *pool;
    pthread_t thread;
    int index;
    uint32_t seen; /* number of the last job it joined */
};

struct ggml_threadpool {
    struct gb_cpu_event event;
    _Atomic uint64_t job;
    gb_cpu_work_fn work; /* of the job; constant while workers are inside */
    void *data;
    atomic_bool is_busy;
    atomic_bool is_paused;
    atomic_bool is_ending;
    atomic_bool has_warned; /* that a thread could not be put where asked */

    struct ggml_threadpool_params params;
    uint32_t spins;
    pid_t owner; /* the process that has the workers */
    bool is_pinned; /* the caller too runs where the parameters say */
    struct gb_cpu_set caller_home; /* where the caller ran before the job */
    int n_workers;
    struct worker workers[];
};

/* Put the calling thread, number INDEX, where the parameters want it. */
static void
settle(struct ggml_threadpool *pool, int index)
{
    struct gb_cpu_set set;
    const bool is_placed =
        !gb_cpu_placement(&pool->params, index, &set) ||
        gb_cpu_affinity_set(&set);
    const bool is_ranked = index == 0 || gb_cpu_priority_set(pool->params.prio);

    if ((!is_placed || !is_ranked) && !atomic_exchange(&pool->has_warned, true))
        gb_log(GGML_LOG_LEVEL_WARN, "thread pool: the system refuses the %s "
               "that was asked for", is_placed ? "priority" : "CPU mask");
}

/* Open, not joined by this worker before, and with a thread number for it. */
static bool
can_join(uint64_t job, const struct worker *worker)
{
    return (job & JOB_OPEN) != 0 && JOB_NUMBER(job) != worker->seen &&
           worker->index < JOB_THREADS(job);
}

/* What a worker waits for. */
static bool
has_something_to_do(const void *data)
{
    const struct worker *worker = data;
    struct ggml_threadpool *pool = worker->pool;

    return atomic_load_explicit(&pool->is_ending, memory_order_acquire) ||
           can_join(atomic_load_explicit(&pool->job, memory_order_acquire),
                    worker);
}

/* One compare-and-swap adds this worker to those inside.  Acquire: what the
 * caller wrote before it opened the job is seen. */
static bool
join_job(struct worker *worker)
{
    _Atomic uint64_t *const job = &worker->pool->job;
    uint64_t seen = atomic_load_explicit(job, memory_order_relaxed);

    while (can_join(seen, worker)) {
        if (atomic_compare_exchange_weak_explicit(
                job, &seen, seen + 1, memory_order_acquire,
                memory_order_relaxed)) {
            worker->seen = JOB_NUMBER(seen);
            return true;
        }
    }
    return false;
}

/* Release: the caller sees what was done here when it finds nobody inside. */
static void
leave_job(struct ggml_threadpool *pool)
{
    const uint64_t before =
        atomic_fetch_sub_explicit(&pool->job, 1, memory_order_release);

    if ((before & JOB_OPEN) == 0 && JOB_INSIDE(before) == 1)
        gb_cpu_event_signal(&pool->event);
}

/* A paused worker does not spin; a job wakes it all the same. */
static void *
worker_main(void *arg)
{
    struct worker *worker = arg;
    struct ggml_threadpool *pool = worker->pool;

    settle(pool, worker->index);
    while (!atomic_load_explicit(&pool->is_ending, memory_order_acquire)) {
        const bool is_paused =
            atomic_load_explicit(&pool->is_paused, memory_order_relaxed);

        gb_cpu_event_wait(&pool->event, is_paused ? 0 : pool->spins,
                          has_something_to_do, worker);
        if (join_job(worker)) {
            pool->work(pool->data, worker->index);
            leave_job(pool);
        }
    }
    return NULL;
}

/* Signals are the host's business: workers take those only that they cause
 * themselves, and the profiler's. */
static void
block_signals(sigset_t *old)
{
    static const int kept[] = {
        SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF
    };
    sigset_t set;

    sigfillset(&set);
    for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
        sigdelset(&set, kept[i]);
    pthread_sigmask(SIG_SETMASK, &set, old);
}

static void
start_workers(struct ggml_threadpool *pool, int n)
{
    pthread_attr_t attr;
    size_t stack;
    sigset_t old;

    if (pthread_attr_init(&attr) != 0)
        return;
    if (pthread_attr_getstacksize(&attr, &stack) == 0 && stack < MIN_STACK)
        pthread_attr_setstacksize(&attr, MIN_STACK);
    block_signals(&old);
    for (int i = 0; i < n; i++) {
        struct worker *worker = &pool->workers[i];

        worker->pool = pool;
        worker->index = i + 1;
        if (pthread_create(&worker->thread, &attr, worker_main, worker) != 0)
            break;
        pool->n_workers++;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    pthread_attr_destroy(&attr);
}

struct ggml_threadpool *
gb_cpu_pool_new(const struct ggml_threadpool_params *params, int n_cpus)
{
    const int n = params->n_threads < n_cpus ? params->n_threads : n_cpus;
    const int n_workers = n > 0 ? n - 1 : 0;
    struct gb_cpu_set set;
    struct ggml_threadpool *pool = gb_mem_zalloc(
        1, sizeof(*pool) + (size_t)n_workers * sizeof(pool->workers[0]));

    if (pool == NULL)
        goto fail;
    if (!gb_cpu_event_init(&pool->event))
        goto free_pool;
    pool->params = *params;
    pool->spins = (params->poll < 100 ? params->poll : 100) * SPINS_PER_POLL;
    pool->owner = getpid();
    pool->is_pinned = gb_cpu_placement(params, 0, &set) &&
                      gb_cpu_affinity_get(&pool->caller_home);
    atomic_init(&pool->is_paused, params->paused);
    start_workers(pool, n_workers);
    if (pool->n_workers < n_workers)
        gb_log(GGML_LOG_LEVEL_WARN, "thread pool: %d of %d threads started",
               pool->n_workers + 1, n_workers + 1);
    return pool;

free_pool:
    gb_mem_free(pool);
fail:
    gb_fail(GGML_STATUS_ALLOC_FAILED, "thread pool: no memory");
    return NULL;
}

/* The caller may be moved for the length of the job; where it ran before is
 * kept. */
bool
gb_cpu_pool_take(struct ggml_threadpool *pool)
{
    if (atomic_exchange_explicit(&pool->is_busy, true, memory_order_acquire))
        return false;
    atomic_store_explicit(&pool->is_paused, false, memory_order_relaxed);
    if (pool->is_pinned && gb_cpu_affinity_get(&pool->caller_home))
        settle(pool, 0);
    return true;
}

/* The fields are written before the word that opens the job: nobody is inside
 * who could read them. */
void
gb_cpu_pool_begin(struct ggml_threadpool *pool, int n_threads,
                  gb_cpu_work_fn work, void *data)
{
    uint64_t job;

    pool->work = work;
    pool->data = data;
    job = atomic_load_explicit(&pool->job, memory_order_relaxed);
    job = ((uint64_t)JOB_NUMBER(job) + 1) << 32 | JOB_OPEN |
          (uint64_t)(n_threads & 0x7fff) << 16;
    /* Release: with join_job. */
    atomic_store_explicit(&pool->job, job, memory_order_release);
    gb_cpu_event_signal(&pool->event);
}

static bool
nobody_is_inside(const void *data)
{
    const struct ggml_threadpool *pool = data;

    return JOB_INSIDE(atomic_load_explicit(
               &pool->job, memory_order_acquire)) == 0;
}

void
gb_cpu_pool_end(struct ggml_threadpool *pool)
{
    atomic_fetch_and_explicit(&pool->job, ~JOB_OPEN, memory_order_relaxed);
    gb_cpu_pool_wait(pool, nobody_is_inside, pool);
    if (pool->is_pinned)
        gb_cpu_affinity_set(&pool->caller_home);
    atomic_store_explicit(&pool->is_busy, false, memory_order_release);
}

void
gb_cpu_pool_signal(struct ggml_threadpool *pool)
{
    gb_cpu_event_signal(&pool->event);
}

void
gb_cpu_pool_wait(struct ggml_threadpool *pool, gb_cpu_ready_fn ready,
                 const void *data)
{
    gb_cpu_event_wait(&pool->event, pool->spins, ready, data);
}

/* CPUs that the pool's threads may run on: the mask's, or the process's. */
static int
count_cpus(const struct ggml_threadpool_params *params)
{
    int n = 0;

    for (int cpu = 0; cpu < GGML_MAX_N_THREADS; cpu++)
        n += params->cpumask[cpu];
    return n > 0 ? n : gb_cpu_count();
}

struct ggml_threadpool *
ggml_threadpool_new(struct ggml_threadpool_params *params)
{
    GB_NEED_OR(NULL, params != NULL, "thread pool: no parameters");
    GB_NEED_OR(NULL,
               params->n_threads >= 1 &&
                   params->n_threads <= GGML_MAX_N_THREADS,
               "thread pool: %d threads", params->n_threads);
    GB_NEED_OR(NULL, (unsigned)params->prio <= GGML_SCHED_PRIO_REALTIME,
               "thread pool: no priority %d", (int)params->prio);
    return gb_cpu_pool_new(params, count_cpus(params));
}

/* In a forked child the workers are not there to be waited for. */
void
ggml_threadpool_free(struct ggml_threadpool *threadpool)
{
    if (threadpool == NULL)
        return;
    GB_NEED_VOID(!atomic_exchange_explicit(
                     &threadpool->is_busy, true, memory_order_acquire),
                 "thread pool: it is at work and cannot be freed");
    atomic_store_explicit(&threadpool->is_ending, true, memory_order_release);
    if (threadpool->owner == getpid()) {
        gb_cpu_event_signal(&threadpool->event);
        for (int i = 0; i < threadpool->n_workers; i++)
            pthread_join(threadpool->workers[i].thread, NULL);
    }
    gb_cpu_event_clear(&threadpool->event);
    gb_mem_free(threadpool);
}

int
ggml_threadpool_get_n_threads(struct ggml_threadpool *threadpool)
{
    GB_NEED_OR(0, threadpool != NULL, "thread pool: none given");
    return threadpool->params.n_threads;
}

void
ggml_threadpool_pause(struct ggml_threadpool *threadpool)
{
    GB_NEED_VOID(threadpool != NULL, "thread pool: none given");
    atomic_store_explicit(&threadpool->is_paused, true, memory_order_relaxed);
}

/* Sleeping workers stay asleep until there is a job: they lose nothing by
 * it. */
void
ggml_threadpool_resume(struct ggml_threadpool *threadpool)
{
    GB_NEED_VOID(threadpool != NULL, "thread pool: none given");
    atomic_store_explicit(&threadpool->is_paused, false, memory_order_relaxed);
}
