/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/run.c - threads' way through phases and tiles, with plans
 * made by hand: each tile once, each phase after the one before it.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_PHASES  600
#define MAX_THREADS 16

/* What the tiles of a plan write down; reached through the node's data. */
struct book {
    struct gb_cpu_phase phases[MAX_PHASES];
    struct ggml_tensor nodes[MAX_PHASES];
    _Atomic int64_t done[MAX_PHASES]; /* tiles of each phase */
    atomic_int n_wrong;               /* tiles begun too early, and the like */
    int64_t fail_phase;               /* at its third tile, or -1 */
    int64_t n_phases;
    int asked; /* how often the abort callback was asked */
    int stop_at;
    pthread_t asker;
    char scratch[MAX_THREADS][GB_CPU_WORK_ALIGN];
};

static struct book book;

/* What the client's variables for the abort callback hold. */
static ggml_abort_callback ask;
static void *ask_data = &book;
static const struct gb_cpu_abort abort_variables = { &ask, &ask_data };

/* Any tile of a plan may leave tiles of the processor (AMX) behind. */
static _Thread_local bool has_tiles;
static atomic_int n_have_tiles;

static void
have_tiles(void)
{
    if (!has_tiles)
        atomic_fetch_add(&n_have_tiles, 1);
    has_tiles = true;
}

static void
release_tiles(void)
{
    if (has_tiles)
        atomic_fetch_sub(&n_have_tiles, 1);
    has_tiles = false;
}

static const struct gb_cpu_kernels kernels = {
    .release_tiles = release_tiles,
};

static enum ggml_status
write_down(const struct gb_cpu_task *task, int64_t tile)
{
    const int64_t phase = task->node - book.nodes;

    have_tiles();

    /* Everything before is complete, and this tile is one of ours. */
    if (phase > 0 &&
        atomic_load_explicit(&book.done[phase - 1], memory_order_relaxed) !=
            book.phases[phase - 1].n_tiles)
        atomic_fetch_add(&book.n_wrong, 1);
    if (tile < 0 || tile >= task->n_tiles ||
        (char *)task->scratch < book.scratch[0] ||
        (char *)task->scratch > book.scratch[MAX_THREADS - 1])
        atomic_fetch_add(&book.n_wrong, 1);
    atomic_fetch_add_explicit(&book.done[phase], 1, memory_order_relaxed);
    return phase == book.fail_phase && tile == 2 ? GGML_STATUS_ALLOC_FAILED
                                                 : GGML_STATUS_SUCCESS;
}

/* N phases with tiles as COUNT says; all but every third are the last of a
 * step. */
static struct gb_cpu_plan
make_plan(int64_t n, int64_t (*count)(int64_t phase), int n_threads)
{
    memset(&book, 0, sizeof(book));
    ask = NULL;
    book.n_phases = n;
    book.fail_phase = -1;
    book.stop_at = -1;
    for (int64_t i = 0; i < n; i++) {
        book.nodes[i].data = &book;
        book.phases[i] = (struct gb_cpu_phase){
            .node = &book.nodes[i],
            .tile = write_down,
            .n_tiles = count(i),
            .is_last = i % 3 != 0,
        };
    }
    return (struct gb_cpu_plan){
        .kernels = &kernels,
        .phases = book.phases,
        .n_phases = n,
        .scratch = book.scratch[0],
        .scratch_size = sizeof(book.scratch[0]),
        .n_threads = n_threads,
    };
}

static int64_t
mixed_count(int64_t phase)
{
    static const int64_t counts[] = { 1, 5, 1, 1, 40, 2, 0, 17, 1, 3 };

    return counts[phase % 10];
}

static int64_t
single_count(int64_t phase)
{
    (void)phase;
    return 1;
}

static int64_t
five_count(int64_t phase)
{
    (void)phase;
    return 5;
}

/* More workers than this machine has CPUs, if need be. */
static struct ggml_threadpool *
new_pool(int n_threads, uint32_t poll)
{
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(n_threads);
    struct ggml_threadpool *pool;

    params.poll = poll;
    pool = gb_cpu_pool_new(&params, n_threads);
    assert_non_null(pool);
    return pool;
}

static void
assert_all_done_once(void)
{
    assert_int_equal(atomic_load(&book.n_wrong), 0);
    for (int64_t i = 0; i < book.n_phases; i++)
        assert_int_equal(atomic_load(&book.done[i]), book.phases[i].n_tiles);
    /* No thread keeps tiles of the processor, be it asleep or the client's. */
    assert_int_equal(atomic_load(&n_have_tiles), 0);
}

static void
each_tile_is_computed_once_and_in_its_phase(void **state)
{
    static const int threads[] = { 1, 2, 3, 7, 16 };
    static const uint32_t polls[] = { 0, 50 };

    (void)state;
    for (int t = 0; t < 10; t++) {
        const int n_threads = threads[t / 2];
        struct ggml_threadpool *pool = new_pool(n_threads, polls[t % 2]);

        for (int round = 0; round < 20; round++) {
            const struct gb_cpu_plan plan =
                make_plan(1 + round * 20, mixed_count, n_threads);

            assert_int_equal(gb_cpu_plan_run(&plan, pool, abort_variables),
                             GGML_STATUS_SUCCESS);
            assert_all_done_once();
        }
        ggml_threadpool_free(pool);
    }
}

static void
an_empty_plan_is_done_at_once(void **state)
{
    const struct gb_cpu_plan plan = make_plan(0, mixed_count, 2);

    (void)state;
    assert_int_equal(gb_cpu_plan_run(&plan, NULL, abort_variables),
                     GGML_STATUS_SUCCESS);
}

static void
one_thread_needs_no_pool(void **state)
{
    const struct gb_cpu_plan plan = make_plan(100, mixed_count, 1);

    (void)state;
    assert_int_equal(gb_cpu_plan_run(&plan, NULL, abort_variables),
                     GGML_STATUS_SUCCESS);
    assert_all_done_once();
}

static void
a_failing_tile_ends_the_graph_with_its_status(void **state)
{
    static const int threads[] = { 1, 3 };

    (void)state;
    for (int t = 0; t < 2; t++) {
        struct ggml_threadpool *pool = new_pool(threads[t], 50);
        const struct gb_cpu_plan plan = make_plan(100, mixed_count, threads[t]);

        book.fail_phase = 44;
        assert_int_equal(gb_cpu_plan_run(&plan, pool, abort_variables),
                         GGML_STATUS_ALLOC_FAILED);
        for (int64_t i = 45; i < 100; i++)
            assert_int_equal(atomic_load(&book.done[i]), 0);
        ggml_threadpool_free(pool);
    }
}

static bool
stop_after_some(void *data)
{
    struct book *asked = data;

    if (!pthread_equal(pthread_self(), asked->asker))
        atomic_fetch_add(&asked->n_wrong, 1);
    asked->asked++;
    return asked->asked == asked->stop_at;
}

static void
the_caller_is_asked_after_each_step(void **state)
{
    static const int threads[] = { 1, 2, 7 };
    static int64_t (*const counts[])(int64_t) = {
        mixed_count, single_count, five_count
    };

    (void)state;
    for (int t = 0; t < 9; t++) {
        const int n_threads = threads[t / 3];
        struct ggml_threadpool *pool = new_pool(n_threads, 50);
        const struct gb_cpu_plan plan =
            make_plan(300, counts[t % 3], n_threads);

        book.asker = pthread_self();
        ask = stop_after_some;
        assert_int_equal(gb_cpu_plan_run(&plan, pool, abort_variables),
                         GGML_STATUS_SUCCESS);
        assert_int_equal(book.asked, 200);
        assert_all_done_once();
        ggml_threadpool_free(pool);
    }
}

static void
nothing_is_computed_after_the_caller_said_stop(void **state)
{
    static const int threads[] = { 1, 2, 7 };

    (void)state;
    for (int t = 0; t < 3; t++) {
        struct ggml_threadpool *pool = new_pool(threads[t], 50);
        const struct gb_cpu_plan plan = make_plan(300, mixed_count, threads[t]);

        book.asker = pthread_self();
        book.stop_at = 20;
        ask = stop_after_some;
        assert_int_equal(gb_cpu_plan_run(&plan, pool, abort_variables),
                         GGML_STATUS_ABORTED);
        assert_int_equal(book.asked, 20);
        /* Steps end at phases 1, 2, 4, 5, …: the twentieth at 29. */
        assert_int_equal(atomic_load(&book.done[29]), book.phases[29].n_tiles);
        for (int64_t i = 30; i < 300; i++)
            assert_int_equal(atomic_load(&book.done[i]), 0);
        ggml_threadpool_free(pool);
    }
}

static void
tensors_without_memory_are_refused(void **state)
{
    const struct gb_cpu_plan plan = make_plan(5, mixed_count, 1);

    (void)state;
    book.nodes[2].data = NULL;
    book.nodes[2].op = GGML_OP_ADD;
    assert_int_equal(gb_cpu_plan_run(&plan, NULL, abort_variables),
                     GGML_STATUS_FAILED);
    assert_int_equal(atomic_load(&book.done[0]), 0);
}

/* A worker that comes late, or not at all, is not waited for: the pool has been
 * asked for fewer threads than it has, and for more. */
static void
any_number_of_threads_will_do(void **state)
{
    struct ggml_threadpool *pool = new_pool(3, 0);

    (void)state;
    for (int n_threads = 1; n_threads <= MAX_THREADS; n_threads++) {
        const struct gb_cpu_plan plan = make_plan(60, mixed_count, n_threads);

        assert_int_equal(gb_cpu_plan_run(&plan, pool, abort_variables),
                         GGML_STATUS_SUCCESS);
        assert_all_done_once();
    }
    ggml_threadpool_free(pool);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tile_is_computed_once_and_in_its_phase),
        cmocka_unit_test(an_empty_plan_is_done_at_once),
        cmocka_unit_test(one_thread_needs_no_pool),
        cmocka_unit_test(a_failing_tile_ends_the_graph_with_its_status),
        cmocka_unit_test(the_caller_is_asked_after_each_step),
        cmocka_unit_test(nothing_is_computed_after_the_caller_said_stop),
        cmocka_unit_test(tensors_without_memory_are_refused),
        cmocka_unit_test(any_number_of_threads_will_do),
    };

    return cmocka_run_group_tests_name("phases and tiles", tests, NULL, NULL);
}
