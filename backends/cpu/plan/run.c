/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/run.c - what each thread does with a plan: guided self-scheduling of
 * the tiles of each wave.
 *
 * A thread takes a chunk of a wave's tiles, in proportion to what is left: long
 * runs at the beginning, since memory is read faster in order, single tiles in
 * the end, so that nobody waits for long.  Source: Polychronopoulos and Kuck,
 * "Guided Self-Scheduling", IEEE Transactions on Computers C-36 (1987).
 *
 * One counter has the wave that is on, by the number of its first phase, in its
 * upper half and the next tile in its lower half.  A thread that raises it by
 * compare-and-swap owns those tiles.  Whoever finishes a wave's last tile
 * begins the next wave; nobody waits for a thread that has no tile, be it
 * asleep, late or without a processor.  Phases of one tile are done on the way
 * by the thread that gets there, so that runs of small steps need no one else.
 *
 * With a timeline or an abort callback each phase is a wave of its own.  With
 * an abort callback, waves are begun by thread 0 only: clients expect to be
 * asked on the thread that computes.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/plan/profile.h"
#include "backends/cpu/pool/pool.h"

#include "lib/base/attr.h"
#include "lib/base/status.h"
#include "lib/trace/trace.h"

#include <stdatomic.h>
#include <string.h>

/* Tiles are counted in grains, the least that a chunk has: of one tile, or of
 * so many that the number of grains fits half a word. */
#define MAX_GRAINS (INT64_C(1) << 31)

struct run {
    const struct gb_cpu_plan *plan;
    struct ggml_threadpool *pool; /* NULL: thread 0 is alone */
    struct gb_cpu_abort abort; /* looked at by thread 0 */
    bool is_asking;     /* there was a callback in the beginning */
    bool is_watched;    /* by a timeline or an abort callback */
    int track;          /* of the timeline; 0: there is none */
    int64_t step_start; /* then: of the step that is on */
    int64_t *times;     /* of a profile, by thread and phase; NULL without */
    _Atomic int status; /* the first that is not success */

    /* Each on a cache line of its own: all threads write them. */
    _Alignas(64) _Atomic uint64_t next; /* first phase << 32 | grain */
    _Alignas(64) _Atomic int64_t n_done; /* grains of the wave, counted
                                            by those who found no more */
};

/* Phases that are done together, the tiles of all chains, and how they are
 * counted. */
struct wave {
    int64_t n_phases;
    int64_t n_tiles;
    int64_t grain_size;
    int64_t n_grains;
};

static struct wave
wave_at(const struct run *run, int64_t index)
{
    const struct gb_cpu_phase *phases = &run->plan->phases[index];
    struct wave wave = {
        .n_phases = run->is_watched ? 1 : 1 + phases->n_more,
        .n_tiles = phases->n_tiles,
        .grain_size = 1,
    };

    for (int64_t i = 1; i < wave.n_phases; i++)
        wave.n_tiles += phases[i].is_chained ? 0 : phases[i].n_tiles;
    wave.n_grains = wave.n_tiles;
    if (wave.n_tiles > MAX_GRAINS) {
        wave.grain_size = wave.n_tiles / MAX_GRAINS + 1;
        wave.n_grains = (wave.n_tiles + wave.grain_size - 1) / wave.grain_size;
    }
    return wave;
}

static bool
has_failed(const struct run *run)
{
    return atomic_load_explicit(&run->status, memory_order_relaxed) !=
           GGML_STATUS_SUCCESS;
}

/* The status of a run is the first failure; others are dropped. */
static void
fail(struct run *run, enum ggml_status status)
{
    int expected = GGML_STATUS_SUCCESS;

    atomic_compare_exchange_strong_explicit(
        &run->status, &expected, (int)status, memory_order_relaxed,
        memory_order_relaxed);
}

/* What thread ITH is given for any phase. */
static inline struct gb_cpu_task
task_of_thread(const struct run *run, int ith)
{
    const struct gb_cpu_plan *plan = run->plan;

    return (struct gb_cpu_task){
        .k = plan->kernels,
        .scratch = plan->scratch + (size_t)ith * plan->scratch_size,
        .n_threads = plan->n_threads,
    };
}

/* TASK becomes one of PHASE. */
static inline void
set_phase(const struct run *run, const struct gb_cpu_phase *phase,
          struct gb_cpu_task *task)
{
    task->node = phase->node;
    task->tiling = phase->tiling;
    task->shared = run->plan->shared[phase->is_kept];
    task->n_tiles = phase->n_tiles;
}

static inline void
run_tile(struct run *run, const struct gb_cpu_phase *phase,
         const struct gb_cpu_task *task, int64_t tile)
{
    const enum ggml_status status = phase->tile(task, tile);

    if (status != GGML_STATUS_SUCCESS)
        fail(run, status);
}

/* Where a profile adds up what thread ITH spends on PHASE. */
static int64_t *
time_of(const struct run *run, const struct gb_cpu_phase *phase, int ith)
{
    return run->times + ith * run->plan->n_phases +
           (phase - run->plan->phases);
}

/* Compute tiles [FIRST, LAST) of a phase.  After a failure there is no need
 * to. */
static void
run_tiles(struct run *run, const struct gb_cpu_phase *phase, int64_t first,
          int64_t last, int ith)
{
    struct gb_cpu_task task = task_of_thread(run, ith);
    const int64_t start = run->times != NULL ? gb_trace_now() : 0;

    set_phase(run, phase, &task);
    for (int64_t tile = first; tile < last && !has_failed(run); tile++)
        run_tile(run, phase, &task, tile);
    if (run->times != NULL)
        *time_of(run, phase, ith) += gb_trace_now() - start;
}

/* The same of N phases, which are a chain: each tile of all of them, then the
 * next. */
static void
run_chain(struct run *run, const struct gb_cpu_phase *phases, int64_t n,
          int64_t first, int64_t last, int ith)
{
    if (n == 1) {
        run_tiles(run, phases, first, last, ith);
        return;
    }
    for (int64_t tile = first; tile < last; tile++)
        for (int64_t i = 0; i < n; i++)
            run_tiles(run, &phases[i], tile, tile + 1, ith);
}

/* Phases from phase 0 of N on that are a chain; often it alone. */
static int64_t
chain_length(const struct gb_cpu_phase *phases, int64_t n)
{
    int64_t length = 1;

    while (length < n && phases[length].is_chained)
        length++;
    return length;
}

/* Compute tiles [FIRST, LAST) of a wave, counted through all its chains. */
static void
run_wave(struct run *run, const struct gb_cpu_phase *phases, int64_t n,
         int64_t first, int64_t last, int ith)
{
    int64_t length;

    for (; n > 0 && last > 0; phases += length, n -= length) {
        const int64_t n_tiles = phases->n_tiles;

        length = chain_length(phases, n);
        if (first < n_tiles)
            run_chain(run, phases, length, first > 0 ? first : 0,
                      last < n_tiles ? last : n_tiles, ith);
        first -= n_tiles;
        last -= n_tiles;
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

/* The callback may have gone since it was asked last. */
static bool
is_to_stop(const struct run *run)
{
    const ggml_abort_callback ask = *run->abort.ask;

    return ask != NULL && ask(*run->abort.data);
}

/* A step is done, and somebody wants to know: is the client content? */
static void
report_step(struct run *run, const struct gb_cpu_phase *phase)
{
    if (run->track != 0)
        trace_step(run, phase);
    if (run->is_asking && !has_failed(run) && is_to_stop(run))
        fail(run, GGML_STATUS_ABORTED);
}

static inline void
end_phase(struct run *run, const struct gb_cpu_phase *phase)
{
    if (run->is_watched && phase->is_last)
        report_step(run, phase);
}

/* Grains in the next chunk when LEFT are left: two thirds of a thread's equal
 * share, at least one. */
static int64_t
chunk_of(int64_t left, int n_threads)
{
    const int64_t chunk = 2 * left / (3 * n_threads);

    return chunk > 0 ? chunk : 1;
}

/* Some grains of a wave. */
struct chunk {
    int64_t index; /* of its first phase; behind the last one there is none */
    int64_t first, n;
};

/* Do phases of one tile, of which there may be many, from phase INDEX on; gives
 * the first that has more, or n_phases. */
static int64_t
run_singles(struct run *run, int64_t index, int ith)
{
    const struct gb_cpu_plan *plan = run->plan;
    struct gb_cpu_task task = task_of_thread(run, ith);

    for (; index < plan->n_phases && !has_failed(run); index++) {
        const struct gb_cpu_phase *phase = &plan->phases[index];
        const int64_t start = run->times != NULL ? gb_trace_now() : 0;

        if (phase->n_tiles > 1)
            return index;
        set_phase(run, phase, &task);
        if (phase->n_tiles == 1)
            run_tile(run, phase, &task, 0);
        if (run->times != NULL)
            *time_of(run, phase, ith) += gb_trace_now() - start;
        end_phase(run, phase);
    }
    return plan->n_phases;
}

/*
 * Go on from phase INDEX: do what has one tile, and begin the next wave, or the
 * end.  The first chunk is the caller's, so that nobody else has the counter's
 * cache line in between.  Release: who takes a chunk sees all that was
 * computed.
 */
static struct chunk
begin_next(struct run *run, int64_t index, int ith)
{
    const struct gb_cpu_plan *plan = run->plan;
    struct chunk chunk = { 0 };

    if (index < plan->n_phases)
        index = run_singles(run, index, ith);
    if (index < plan->n_phases)
        chunk.n = chunk_of(wave_at(run, index).n_grains, plan->n_threads);
    chunk.index = index;
    atomic_store_explicit(&run->n_done, 0, memory_order_relaxed);
    atomic_store_explicit(&run->next,
                          (uint64_t)index << 32 | (uint64_t)chunk.n,
                          memory_order_release);
    if (run->pool != NULL)
        gb_cpu_pool_signal(run->pool);
    return chunk;
}

/* Which wave is on?  Acquire: with begin_next. */
static int64_t
wave_index(const struct run *run)
{
    return (int64_t)(atomic_load_explicit(
                         &run->next, memory_order_acquire) >> 32);
}

/* Take the next chunk; empty where the wave has no more tiles.  Phases are
 * constant, so looking one up by a number that is out of date is harmless. */
static struct chunk
take_chunk(struct run *run)
{
    uint64_t next = atomic_load_explicit(&run->next, memory_order_acquire);

    for (;;) {
        struct chunk chunk = { .index = (int64_t)(next >> 32) };
        int64_t left;

        if (chunk.index >= run->plan->n_phases)
            return chunk;
        chunk.first = (int64_t)(next & UINT32_MAX);
        left = wave_at(run, chunk.index).n_grains - chunk.first;
        if (left <= 0)
            return chunk;
        chunk.n = chunk_of(left, run->plan->n_threads);
        if (atomic_compare_exchange_weak_explicit(
                &run->next, &next, next + (uint64_t)chunk.n,
                memory_order_acquire, memory_order_acquire))
            return chunk;
    }
}

/* Memory that a thread will want soon. */
struct prefetch {
    const char *at;
    size_t left;
};

/* Cache lines that a waiting thread prefetches between two questions, and the
 * most bytes in all. */
#define PREFETCH_LINES 8
#define PREFETCH_MOST  65536

/* The next wave's first phase from phase INDEX on; n_phases when there is
 * none. */
static int64_t
next_wave_index(const struct run *run, int64_t index)
{
    const struct gb_cpu_plan *plan = run->plan;

    while (index < plan->n_phases && plan->phases[index].n_tiles <= 1)
        index++;
    return index;
}

/* What thread ITH is likely to begin the next wave with, from phase INDEX on:
 * whoever begins that has the first chunk, and the others get theirs in any
 * order. */
static struct prefetch
next_prefetch(const struct run *run, int64_t index, int ith)
{
    const struct prefetch nothing = { NULL, 0 };
    const int64_t begin = next_wave_index(run, index);
    const struct gb_cpu_phase *phase = &run->plan->phases[begin];
    const struct gb_cpu_op *op;
    struct prefetch prefetch;
    int64_t tile, left;
    size_t bytes;

    if (begin == run->plan->n_phases || run->plan->n_threads < 2)
        return nothing;
    left = wave_at(run, begin).n_grains;
    tile = chunk_of(left, run->plan->n_threads);
    left -= tile;
    for (int i = ith % (run->plan->n_threads - 1); i > 0; i--) {
        const int64_t chunk = chunk_of(left, run->plan->n_threads);

        tile += chunk;
        left -= chunk;
    }
    op = gb_cpu_op_find(phase->node);
    if (op == NULL || op->reads_at == NULL || phase->tile != op->run ||
        tile >= phase->n_tiles)
        return nothing;
    prefetch.at = op->reads_at(phase->node, phase->tiling, tile, &bytes);
    if (prefetch.at == NULL)
        return nothing;
    prefetch.left = bytes < PREFETCH_MOST ? bytes : PREFETCH_MOST;
    return prefetch;
}

/* Prefetch the next lines. */
static void
fetch(struct prefetch *prefetch)
{
    for (int i = 0; i < PREFETCH_LINES && prefetch->left > 0; i++) {
        const size_t line = prefetch->left < 64 ? prefetch->left : 64;

        GB_PREFETCH(prefetch->at);
        prefetch->at += line;
        prefetch->left -= line;
    }
}

/* A thread that found no more tiles in a wave. */
struct waiter {
    const struct run *run;
    int64_t index;
    int64_t n_grains;
    bool is_asker; /* thread 0, when there is an abort callback */
    struct prefetch *prefetch;
};

static bool
is_complete(const struct waiter *waiter)
{
    return atomic_load_explicit(&waiter->run->n_done, memory_order_acquire) ==
           waiter->n_grains;
}

/* Thread 0 finds a complete wave before the others see the next one, since
 * nobody else begins it. */
static bool
can_go_on(const void *data)
{
    const struct waiter *waiter = data;

    if (wave_index(waiter->run) != waiter->index ||
        (waiter->is_asker && is_complete(waiter)))
        return true;
    fetch(waiter->prefetch);
    return false;
}

/* End the wave of phase INDEX and begin the next one; gives a chunk of that. */
static struct chunk
next_wave(struct run *run, int64_t index, int ith)
{
    end_phase(run, &run->plan->phases[index]);
    return begin_next(run, index + wave_at(run, index).n_phases, ith);
}

/* This thread may sleep, or is the client's again: it is to have no tiles, which
 * switches of threads and signals would have to save. */
static void
release_tiles(const struct gb_cpu_kernels *kernels)
{
    if (kernels->release_tiles != NULL)
        kernels->release_tiles();
}

/* Wait until another thread has begun the next wave, and prefetch what this one
 * will probably compute there. */
static struct chunk
wait_for_wave(struct run *run, int64_t index, int ith)
{
    const struct wave wave = wave_at(run, index);
    struct prefetch prefetch = next_prefetch(run, index + wave.n_phases, ith);
    const struct waiter waiter = {
        .run = run,
        .index = index,
        .n_grains = wave.n_grains,
        .is_asker = ith == 0 && run->is_asking,
        .prefetch = &prefetch,
    };

    release_tiles(run->plan->kernels);
    gb_cpu_pool_wait(run->pool, can_go_on, &waiter);
    return waiter.is_asker ? next_wave(run, index, ith) : take_chunk(run);
}

/* Thread ITH computed the last tile of the wave that begins at phase INDEX. */
static struct chunk
finish_wave(struct run *run, int64_t index, int ith)
{
    if (!run->is_asking || ith == 0)
        return next_wave(run, index, ith);
    gb_cpu_pool_signal(run->pool);
    return wait_for_wave(run, index, ith);
}

/* Compute CHUNK and what can be taken behind it; gives a chunk of the next
 * wave. */
static struct chunk
do_wave(struct run *run, struct chunk chunk, int ith)
{
    const int64_t index = chunk.index;
    const struct wave wave = wave_at(run, index);
    int64_t n_done = 0;

    /* The wave does not end before this thread's grains have been counted. */
    for (; chunk.n > 0; chunk = take_chunk(run)) {
        const int64_t first = chunk.first * wave.grain_size;

        run_wave(run, &run->plan->phases[index], wave.n_phases, first,
                 first + chunk.n * wave.grain_size, ith);
        n_done += chunk.n;
    }
    /* Both orders: the last one sees the others' results and hands them on. */
    if (n_done > 0 &&
        atomic_fetch_add_explicit(&run->n_done, n_done,
                                  memory_order_acq_rel) + n_done ==
            wave.n_grains)
        return finish_wave(run, index, ith);
    return wait_for_wave(run, index, ith);
}

/* All that thread ITH has to do from CHUNK on. */
static void
work_from(struct run *run, struct chunk chunk, int ith)
{
    while (chunk.index < run->plan->n_phases)
        chunk = do_wave(run, chunk, ith);
}

/* What a worker does: whatever the counter has. */
static void
work(void *data, int ith)
{
    struct run *run = data;

    work_from(run, take_chunk(run), ith);
    release_tiles(run->plan->kernels);
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
    struct chunk chunk;
    int64_t start, profile_start;

    GB_TRY(gb_cpu_plan_check_memory(plan));
    /* From the beginning on: the client's code may run before the workers. */
    if (pool != NULL && (plan->n_threads < 2 || !gb_cpu_pool_take(pool)))
        pool = NULL;
    memset(&run, 0, sizeof(run));
    run.plan = plan;
    run.abort = abort;
    run.is_asking = *abort.ask != NULL;
    atomic_init(&run.status, GGML_STATUS_SUCCESS);
    run.track = gb_trace_track("CPU");
    run.is_watched = run.track != 0 || run.is_asking;
    start = run.step_start = gb_trace_start(run.track);
    run.times = gb_cpu_profile_begin(plan);
    profile_start = run.times != NULL ? gb_trace_now() : 0;
    /* What needs no others, thread 0 does before it calls them. */
    chunk = begin_next(&run, 0, 0);
    if (chunk.index < plan->n_phases) {
        run.pool = pool;
        if (pool != NULL)
            gb_cpu_pool_begin(pool, plan->n_threads, work, &run);
        work_from(&run, chunk, 0);
    }
    release_tiles(plan->kernels);
    if (pool != NULL)
        gb_cpu_pool_end(pool);
    if (run.times != NULL)
        gb_cpu_profile_end(plan, run.times, profile_start);
    if (run.track != 0) {
        gb_trace_graph(run.track, start, count_steps(plan), plan->n_threads);
        gb_trace_flush();
    }
    return (enum ggml_status)atomic_load_explicit(
        &run.status, memory_order_relaxed);
}
