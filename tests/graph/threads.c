/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/threads.c - the parameters of pools of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "ggml.h"

#include "tests/util/sink.h"

static void
pool_parameters_have_their_defaults(void **state)
{
    static struct gb_sink sink;
    struct ggml_threadpool_params p = ggml_threadpool_params_default(3), q;

    (void)state;
    gb_sink_begin(&sink);
    assert_int_equal(p.n_threads, 3);
    assert_int_equal(p.prio, GGML_SCHED_PRIO_NORMAL);
    assert_int_equal(p.poll, 50);
    assert_false(p.strict_cpu || p.paused);
    for (int i = 0; i < GGML_MAX_N_THREADS; i++)
        assert_false(p.cpumask[i]);
    ggml_threadpool_params_init(&q, 3);
    assert_true(ggml_threadpool_params_match(&p, &q));
    ggml_threadpool_params_init(NULL, 3);
    assert_false(ggml_threadpool_params_match(&p, NULL));
    gb_sink_end();
    assert_int_equal(sink.n, 2);
}

static void
pools_match_in_all_but_being_paused(void **state)
{
    const struct ggml_threadpool_params p = ggml_threadpool_params_default(3);
    struct ggml_threadpool_params q = p;

    (void)state;
    q.paused = true;
    assert_true(ggml_threadpool_params_match(&p, &q));
    q = p, q.n_threads = 4;
    assert_false(ggml_threadpool_params_match(&p, &q));
    q = p, q.prio = GGML_SCHED_PRIO_HIGH;
    assert_false(ggml_threadpool_params_match(&p, &q));
    q = p, q.poll = 0;
    assert_false(ggml_threadpool_params_match(&p, &q));
    q = p, q.strict_cpu = true;
    assert_false(ggml_threadpool_params_match(&p, &q));
    q = p, q.cpumask[511] = true;
    assert_false(ggml_threadpool_params_match(&p, &q));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pool_parameters_have_their_defaults),
        cmocka_unit_test(pools_match_in_all_but_being_paused),
    };

    return cmocka_run_group_tests_name("pool parameters", tests, NULL, NULL);
}
