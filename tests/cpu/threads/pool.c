/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/pool.c - thread pools: jobs, pausing, bad parameters, fork.
 */
#include "config.h"

#include "backends/cpu/pool/pool.h"

#include "tests/util/fault.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct meeting {
    struct ggml_threadpool *pool;
    atomic_int n_inside;
    int n_expected;
    atomic_bool was_here[GGML_MAX_N_THREADS];
};

static bool
all_are_here(const void *data)
{
    const struct meeting *meeting = data;

    return atomic_load_explicit(&meeting->n_inside, memory_order_acquire) >=
           meeting->n_expected;
}

/* Each thread waits until all have come. */
static void
meet(void *data, int ith)
{
    struct meeting *meeting = data;

    atomic_store(&meeting->was_here[ith], true);
    atomic_fetch_add_explicit(&meeting->n_inside, 1, memory_order_acq_rel);
    gb_cpu_pool_signal(meeting->pool);
    gb_cpu_pool_wait(meeting->pool, all_are_here, meeting);
}

static struct ggml_threadpool *
new_pool(int n_threads, uint32_t poll, bool is_paused)
{
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(n_threads);
    struct ggml_threadpool *pool;

    params.poll = poll;
    params.paused = is_paused;
    pool = gb_cpu_pool_new(&params, n_threads);
    assert_non_null(pool);
    return pool;
}

/* All N of the pool's threads take part in a job. */
static void
check_meeting(struct ggml_threadpool *pool, int n)
{
    struct meeting meeting;

    memset(&meeting, 0, sizeof(meeting));
    meeting.pool = pool;
    meeting.n_expected = n;
    assert_true(gb_cpu_pool_take(pool));
    gb_cpu_pool_begin(pool, n, meet, &meeting);
    meet(&meeting, 0);
    gb_cpu_pool_end(pool);
    assert_int_equal(atomic_load(&meeting.n_inside), n);
    for (int i = 0; i < n; i++)
        assert_true(atomic_load(&meeting.was_here[i]));
    assert_false(atomic_load(&meeting.was_here[n]));
}

static void
all_threads_take_part_and_can_wait_for_each_other(void **state)
{
    static const uint32_t polls[] = { 0, 50, 100 };

    (void)state;
    for (int n = 1; n <= 8; n++) {
        struct ggml_threadpool *pool = new_pool(n, polls[n % 3], false);

        assert_int_equal(ggml_threadpool_get_n_threads(pool), n);
        for (int round = 0; round < 50; round++)
            check_meeting(pool, 1 + round % n);
        ggml_threadpool_free(pool);
    }
}

static void
a_paused_pool_resumes_for_a_job(void **state)
{
    struct ggml_threadpool *pool = new_pool(3, 50, true);

    (void)state;
    check_meeting(pool, 3);
    ggml_threadpool_pause(pool);
    ggml_threadpool_pause(pool);
    check_meeting(pool, 3);
    ggml_threadpool_pause(pool);
    ggml_threadpool_resume(pool);
    ggml_threadpool_resume(pool);
    check_meeting(pool, 2);
    ggml_threadpool_pause(pool);
    ggml_threadpool_free(pool);
}

static void
do_nothing(void *data, int ith)
{
    (void)data;
    (void)ith;
}

static void
a_pool_does_one_job_at_a_time(void **state)
{
    struct ggml_threadpool *pool = new_pool(2, 50, false);

    (void)state;
    assert_true(gb_cpu_pool_take(pool));
    assert_false(gb_cpu_pool_take(pool));
    gb_cpu_pool_begin(pool, 2, do_nothing, NULL);
    assert_false(gb_cpu_pool_take(pool));
    gb_cpu_pool_end(pool);
    /* A job that never begins. */
    assert_true(gb_cpu_pool_take(pool));
    gb_cpu_pool_end(pool);
    check_meeting(pool, 2);
    ggml_threadpool_free(pool);
}

static void
jobs_end_when_their_workers_have_left(void **state)
{
    struct ggml_threadpool *pool = new_pool(4, 0, false);

    (void)state;
    for (int i = 0; i < 2000; i++) {
        assert_true(gb_cpu_pool_take(pool));
        gb_cpu_pool_begin(pool, 1 + i % 4, do_nothing, NULL);
        gb_cpu_pool_end(pool);
    }
    ggml_threadpool_free(pool);
}

static void
bad_parameters_give_no_pool(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(0);

    (void)state;
    assert_null(ggml_threadpool_new(NULL));
    assert_null(ggml_threadpool_new(&params));
    params.n_threads = GGML_MAX_N_THREADS + 1;
    assert_null(ggml_threadpool_new(&params));
    params.n_threads = 2;
    params.prio = (enum ggml_sched_priority)7;
    assert_null(ggml_threadpool_new(&params));
    ggml_threadpool_free(NULL);
    ggml_threadpool_pause(NULL);
    ggml_threadpool_resume(NULL);
    assert_int_equal(ggml_threadpool_get_n_threads(NULL), 0);
}

static void
masks_and_priorities_are_tried(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(2);

    (void)state;
    /* CPU 0 is not everybody's, and few may have a priority: a warning then. */
    params.cpumask[0] = true;
    for (int i = 0; i < 4; i++) {
        struct ggml_threadpool *pool;

        params.strict_cpu = i % 2;
        params.prio = i < 2 ? GGML_SCHED_PRIO_NORMAL : GGML_SCHED_PRIO_MEDIUM;
        pool = ggml_threadpool_new(&params);
        assert_non_null(pool);
        assert_int_equal(ggml_threadpool_get_n_threads(pool), 2);
        check_meeting(pool, 1);
        ggml_threadpool_free(pool);
    }
}

static void
make_pool(void *data)
{
    struct ggml_threadpool *pool = ggml_threadpool_new(data);

    assert_true((pool == NULL) == gb_fault_happened());
    ggml_threadpool_free(pool);
}

static void
no_memory_gives_no_pool(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(2);

    (void)state;
    assert_int_equal(gb_fault_each(make_pool, &params), 1);
}

/* A child has the pool but not its workers: it does jobs alone, and can free
 * it. */
static void
a_forked_child_can_use_and_free_the_pool(void **state)
{
    struct ggml_threadpool *pool = new_pool(3, 0, false);
    int status;
    pid_t child;

    (void)state;
    check_meeting(pool, 3);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const bool is_taken = gb_cpu_pool_take(pool);

        if (is_taken) {
            gb_cpu_pool_begin(pool, 3, do_nothing, NULL);
            gb_cpu_pool_end(pool);
        }
        ggml_threadpool_free(pool);
        _exit(is_taken ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_meeting(pool, 3);
    ggml_threadpool_free(pool);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_threads_take_part_and_can_wait_for_each_other),
        cmocka_unit_test(a_paused_pool_resumes_for_a_job),
        cmocka_unit_test(a_pool_does_one_job_at_a_time),
        cmocka_unit_test(jobs_end_when_their_workers_have_left),
        cmocka_unit_test(bad_parameters_give_no_pool),
        cmocka_unit_test(masks_and_priorities_are_tried),
        cmocka_unit_test(no_memory_gives_no_pool),
        cmocka_unit_test(a_forked_child_can_use_and_free_the_pool),
    };

    return cmocka_run_group_tests_name("thread pool", tests, NULL, NULL);
}
