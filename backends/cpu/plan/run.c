/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/run.c - each thread's way through phases and tiles.
 *
 * One counter says which phase is on, in its upper half, and which tile is
 * next, in its lower.  A thread that raises it owns those tiles.  Whoever
 * finishes a phase's last tile begins the next phase; nobody waits for a thread
 * that has no tile, be it asleep, late or without a processor.  Phases of one
 * tile are done on the way by the thread that gets there, so runs of small
 * steps need no one else.
 *
 * With an abort callback, phases are begun by thread 0 only: clients expect to
 * be asked on the thread that computes.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "lib/base/status.h"
#include "lib/trace/trace.h"

#include <stdatomic.h>
#include <string.h>

/* A draw is so many tiles that all numbers fit half a word. */
#define MAX_DRAWS (INT64_C(1) << 31)

struct run {
    const struct gb_cpu_plan *plan;
    const struct gb_cpu_kernels *kernels;
    struct ggml_threadpool *pool; /* NULL: thread 0 is alone */
    struct gb_cpu_abort abort;
    int track;          /* of the timeline; 0: there is none */
    int64_t step_start; /* then: of the step that is on */
    _Atomic int status; /* the first that is not success */

    /* Each on a cache line of its own: all threads write them. */
    _Alignas(64) _Atomic uint64_t next; /* phase << 32 | draw */
    _Alignas(64) _Atomic int64_t n_done; /* draws of the phase */
};

static int64_t
draw_size(const struct gb_cpu_phase *phase)
{
    return phase->n_tiles / MAX_DRAWS + 1;
}

static int64_t
count_draws(const struct gb_cpu_phase *phase)
{
    const int64_t size = draw_size(phase);

    return (phase->n_tiles + size - 1) / size;
}

static bool
has_failed(const struct run *run)
{
    return atomic_load_explicit(&run->status, memory_order_relaxed) !=
           GGML_STATUS_SUCCESS;
}

static void
fail(struct run *run, enum ggml_status status)
{
    int expected = GGML_STATUS_SUCCESS;

    atomic_compare_exchange_strong_explicit(
        &run->status, &expected, (int)status, memory_order_relaxed,
        memory_order_relaxed);
}

/* Compute tiles [FIRST, LAST) of a phase.  After a failure there is no need
 * to. */
static void
run_tiles(struct run *run, const struct gb_cpu_phase *phase, int64_t first,
          int64_t last, int ith)
{
    const struct gb_cpu_plan *plan = run->plan;
    const struct gb_cpu_task task = {
        .node = phase->node,
        .k = run->kernels,
        .scratch = plan->scratch + (size_t)ith * plan->scratch_size,
        .shared = plan->shared[phase->is_kept],
        .n_tiles = phase->n_tiles,
        .n_threads = plan->n_threads,
    };

    for (int64_t tile = first; tile < last && !has_failed(run); tile++) {
        const enum ggml_status status = phase->tile(&task, tile);

        if (status != GGML_STATUS_SUCCESS)
            fail(run, status);
    }
}

/* The next step begins where this one has been written down. */
static void
trace_step(struct run *run, const struct gb_cpu_phase *phase)
{
    if (!has_failed(run))
        gb_trace_node(run->track, run->step_start, phase->node);
    run->step_start = gb_trace_now();
}

/* Phase PHASE is done: is the client content? */
static void
end_phase(struct run *run, const struct gb_cpu_phase *phase)
{
    if (phase->is_last && run->track != 0)
        trace_step(run, phase);
    if (phase->is_last && run->abort.ask != NULL && !has_failed(run) &&
        run->abort.ask(run->abort.data))
        fail(run, GGML_STATUS_ABORTED);
}

/*
 * Go on from phase INDEX: do what has one tile, and begin the next phase that
 * has more, or the end.  Release: who draws sees all that was computed before.
 */
static void
begin_next(struct run *run, int64_t index, int ith)
{
    const struct gb_cpu_plan *plan = run->plan;

    while (index < plan->n_phases && !has_failed(run)) {
        const struct gb_cpu_phase *phase = &plan->phases[index];

        if (phase->n_tiles > 1)
            break;
        run_tiles(run, phase, 0, phase->n_tiles, ith);
        end_phase(run, phase);
        index++;
    }
    if (has_failed(run))
        index = plan->n_phases;
    atomic_store_explicit(&run->n_done, 0, memory_order_relaxed);
    atomic_store_explicit(
        &run->next, (uint64_t)index << 32, memory_order_release);
    if (run->pool != NULL)
        gb_cpu_pool_signal(run->pool);
}

/* Which phase is on?  Acquire: with begin_next. */
static int64_t
phase_index(const struct run *run)
{
    return (int64_t)(atomic_load_explicit(
                         &run->next, memory_order_acquire) >> 32);
}

/* A thread that found no more tiles in a phase. */
struct waiter {
    const struct run *run;
    int64_t index;
    int64_t n_draws;
    bool is_asker; /* thread 0, when there is an abort callback */
};

static bool
is_complete(const struct waiter *waiter)
{
    return atomic_load_explicit(&waiter->run->n_done, memory_order_acquire) ==
           waiter->n_draws;
}

/* Thread 0 finds a complete phase before the others see the next one, since
 * nobody else begins it. */
static bool
can_go_on(const void *data)
{
    const struct waiter *waiter = data;

    return phase_index(waiter->run) != waiter->index ||
           (waiter->is_asker && is_complete(waiter));
}

static void
wait_for_phase(struct run *run, int64_t index, int ith)
{
    const struct waiter waiter = {
        .run = run,
        .index = index,
        .n_draws = count_draws(&run->plan->phases[index]),
        .is_asker = ith == 0 && run->abort.ask != NULL,
    };

    gb_cpu_pool_wait(run->pool, can_go_on, &waiter);
    if (waiter.is_asker) {
        end_phase(run, &run->plan->phases[index]);
        begin_next(run, index + 1, ith);
    }
}

/* The last tile of phase INDEX was computed by thread ITH. */
static void
finish_phase(struct run *run, int64_t index, int ith)
{
    if (run->abort.ask == NULL || ith == 0) {
        end_phase(run, &run->plan->phases[index]);
        begin_next(run, index + 1, ith);
    } else {
        gb_cpu_pool_signal(run->pool);
        wait_for_phase(run, index, ith);
    }
}

/* Draws that a thread takes at once when LEFT are left: long runs at first, for
 * memory is read faster in one piece, single ones in the end, so that nobody
 * waits for long. */
static int64_t
share_of(int64_t left, int n_threads)
{
    const int64_t share = 2 * left / (3 * n_threads);

    return share > 0 ? share : 1;
}

/* Some draws of a phase. */
struct share {
    int64_t index; /* of the phase */
    int64_t first, n;
};

/* Take the next draws; none where the phase has no more.  Phases are constant,
 * so looking one up by a number that is out of date is harmless. */
static struct share
take_share(struct run *run)
{
    uint64_t next = atomic_load_explicit(&run->next, memory_order_acquire);

    for (;;) {
        struct share share = { .index = (int64_t)(next >> 32) };
        int64_t left;

        if (share.index >= run->plan->n_phases)
            return share;
        share.first = (int64_t)(next & UINT32_MAX);
        left = count_draws(&run->plan->phases[share.index]) - share.first;
        if (left <= 0)
            return share;
        share.n = share_of(left, run->plan->n_threads);
        if (atomic_compare_exchange_weak_explicit(
                &run->next, &next, next + (uint64_t)share.n,
                memory_order_acquire, memory_order_acquire))
            return share;
    }
}

static void
work(void *data, int ith)
{
    struct run *run = data;

    for (;;) {
        const struct share share = take_share(run);
        const struct gb_cpu_phase *phase;
        int64_t size, first, last;

        if (share.index >= run->plan->n_phases)
            return;
        if (share.n == 0) {
            wait_for_phase(run, share.index, ith);
            continue;
        }
        phase = &run->plan->phases[share.index];
        size = draw_size(phase);
        first = share.first * size;
        last = first + share.n * size;
        run_tiles(run, phase, first,
                  last < phase->n_tiles ? last : phase->n_tiles, ith);
        /* Both orders: the last one sees the others' results and hands them
         * on. */
        if (atomic_fetch_add_explicit(
                &run->n_done, share.n, memory_order_acq_rel) + share.n ==
            count_draws(phase))
            finish_phase(run, share.index, ith);
    }
}

static int64_t
count_steps(const struct gb_cpu_plan *plan)
{
    int64_t n = 0;

    for (int64_t i = 0; i < plan->n_phases; i++)
        n += plan->phases[i].is_last;
    return n;
}

enum ggml_status
gb_cpu_plan_run(const struct gb_cpu_plan *plan, struct ggml_threadpool *pool,
                struct gb_cpu_abort abort)
{
    struct run run;
    int64_t start;

    GB_TRY(gb_cpu_plan_check_memory(plan));
    memset(&run, 0, sizeof(run));
    run.plan = plan;
    run.kernels = gb_cpu_kernels();
    run.abort = abort;
    atomic_init(&run.status, GGML_STATUS_SUCCESS);
    run.track = gb_trace_track("CPU");
    start = run.step_start = gb_trace_start(run.track);
    /* What needs no others, thread 0 does before it calls them. */
    begin_next(&run, 0, 0);
    if (phase_index(&run) < plan->n_phases) {
        if (pool != NULL && plan->n_threads > 1) {
            run.pool = pool;
            if (!gb_cpu_pool_begin(pool, plan->n_threads, work, &run))
                run.pool = NULL;
        }
        work(&run, 0);
        if (run.pool != NULL)
            gb_cpu_pool_end(pool);
    }
    if (run.track != 0) {
        gb_trace_graph(run.track, start, count_steps(plan), plan->n_threads);
        gb_trace_flush();
    }
    return (enum ggml_status)atomic_load_explicit(
        &run.status, memory_order_relaxed);
}
