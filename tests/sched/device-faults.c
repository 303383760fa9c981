/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/device-faults.c - a model over two devices in which every allocation,
 * copy and compute fails once: it is reported, or another way was found;
 * nothing is left behind; and the same scheduler then computes correctly.
 */
#include "config.h"

#include "tests/sched/model.h"
#include "tests/sim/sim.h"

#include "ggmlbackend.h"

#include "lib/base/status.h"
#include "tests/util/fault.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define TEXTS 2

static float expected[TEXTS][MODEL_LOGITS];

/* Devices with everything, and with less: other ways to copy and to wait. */
static const char *const members[] = {
    "", "cpy_async", "cpy_async+cpy_tensor+events", "synchronize+events",
    "set_async+get_async",
};
#define N_MEMBERS (sizeof(members) / sizeof(members[0]))

static struct setup {
    const char *what; /* for messages */
    bool is_parallel;
    ggml_backend_t backends[3];
    struct model model;
    ggml_backend_sched_t sched;
} setup;

static int
compute_expected(void **state)
{
    ggml_backend_t cpu = ggml_backend_cpu_init();

    (void)state;
    for (int text = 0; text < TEXTS; text++)
        model_reference(cpu, text, expected[text]);
    ggml_backend_free(cpu);
    return 0;
}

static void
open_backends(struct setup *s)
{
    s->backends[0] = sim_backend(0);
    s->backends[1] = sim_backend(1);
    s->backends[2] = ggml_backend_cpu_init();
    assert_true(s->backends[0] != NULL && s->backends[1] != NULL);
}

static void
close_backends(struct setup *s)
{
    for (int i = 0; i < 3; i++)
        ggml_backend_free(s->backends[i]);
}

static bool
open_sched(struct setup *s)
{
    s->sched =
        ggml_backend_sched_new(s->backends, NULL, 3, 256, s->is_parallel);
    return s->sched != NULL;
}

static void
open_setup(struct setup *s, const char *without, bool parallel)
{
    static char what[100];
    char settings[100];

    snprintf(what, sizeof(what), "without \"%s\", %s", without,
             parallel ? "parallel" : "one by one");
    snprintf(settings, sizeof(settings), "%s%s",
             without[0] != '\0' ? "without=" : "", without);
    s->what = what;
    s->is_parallel = parallel;
    sim_reset();
    assert_true(sim_configure(0, 2, settings));
    open_backends(s);
    assert_true(model_new(&s->model, s->backends[2], s->backends, 2));
}

static void
close_setup(struct setup *s)
{
    model_free(&s->model);
    close_backends(s);
    if (!sim_is_clean())
        fail_msg("%s", s->what);
}

/*
 * Compute the graph and read its logits; false where something failed, which a
 * status says except for the read.
 */
static bool
compute_graph(struct setup *s, struct model_graph *g, int text, float *out)
{
    uint64_t n_failures;

    ggml_backend_sched_reset(s->sched);
    if (!ggml_backend_sched_alloc_graph(s->sched, g->graph))
        return false;
    model_set_inputs(g, text);
    if (ggml_backend_sched_graph_compute(s->sched, g->graph) !=
        GGML_STATUS_SUCCESS)
        return false;
    n_failures = gb_failure_count();
    ggml_backend_tensor_get(g->logits, out, 0, MODEL_LOGITS * sizeof(*out));
    return gb_failure_count() == n_failures;
}

/* Does the model give the bits it should?  A wrong result ends the test. */
static bool
run_text(struct setup *s, int text)
{
    float out[MODEL_LOGITS];
    struct model_graph g;
    bool ok;

    ggmlbackend_clear_failure();
    if (!model_build(&s->model, &g))
        return false;
    ok = compute_graph(s, &g, text, out);
    ggml_backend_sched_reset(s->sched);
    model_graph_free(&g);
    if (ok && memcmp(out, expected[text], sizeof(out)) != 0)
        fail_msg("%s: a success with other bits, after: %s", s->what,
                 ggmlbackend_last_failure());
    if (!ok && ggmlbackend_last_failure()[0] == '\0')
        fail_msg("%s: a failure without a reason", s->what);
    return ok;
}

static void
must_run_text(struct setup *s, int text)
{
    if (!run_text(s, text))
        fail_msg("%s: it does not compute again: %s", s->what,
                 ggmlbackend_last_failure());
}

static uint64_t
count_failed(void)
{
    struct gb_sim_counters counters;

    gb_sim_count(&counters);
    return counters.failed;
}

/* A fault on the way, and then none.  Was there one? */
static bool
run_with_fault(struct setup *s, enum gb_sim_fault fault, uint64_t nth)
{
    const uint64_t n_failed = count_failed();

    gb_sim_fail(fault, nth);
    run_text(s, 0);
    gb_sim_fail(fault, 0);
    must_run_text(s, 1);
    must_run_text(s, 0);
    return count_failed() != n_failed;
}

/* Call RUN for each kind of device and of scheduler. */
static void
with_each_setup(void (*run)(struct setup *s))
{
    for (size_t i = 0; i < N_MEMBERS; i++) {
        for (int parallel = 0; parallel < 2; parallel++) {
            open_setup(&setup, members[i], parallel);
            run(&setup);
            close_setup(&setup);
        }
    }
}

static void
fail_each(struct setup *s, enum gb_sim_fault fault, uint64_t at_least)
{
    uint64_t nth = 0;

    assert_true(open_sched(s));
    while (run_with_fault(s, fault, nth + 1))
        nth++;
    if (nth < at_least)
        fail_msg("%s: %d failures only", s->what, (int)nth);
    ggml_backend_sched_free(s->sched);
}

static void
fail_copies(struct setup *s)
{
    fail_each(s, GB_SIM_FAULT_COPY, 10);
}

static void
every_copy_may_fail_once(void **state)
{
    (void)state;
    with_each_setup(fail_copies);
}

static void
fail_computes(struct setup *s)
{
    fail_each(s, GB_SIM_FAULT_COMPUTE, 3);
    fail_each(s, GB_SIM_FAULT_RUN, 3);
}

static void
every_compute_may_fail_once(void **state)
{
    (void)state;
    with_each_setup(fail_computes);
}

/* With a new scheduler each time, so that its buffers are among them. */
static void
fail_allocations(struct setup *s)
{
    bool has_failed = true;

    for (uint64_t nth = 1; has_failed; nth++) {
        const uint64_t n_failed = count_failed();

        gb_sim_fail(GB_SIM_FAULT_ALLOC, nth);
        if (!open_sched(s)) {
            gb_sim_fail(GB_SIM_FAULT_ALLOC, 0);
            assert_true(open_sched(s));
        }
        run_text(s, 0);
        gb_sim_fail(GB_SIM_FAULT_ALLOC, 0);
        must_run_text(s, 1);
        ggml_backend_sched_free(s->sched);
        has_failed = count_failed() != n_failed;
    }
}

static void
every_allocation_of_a_device_may_fail_once(void **state)
{
    (void)state;
    with_each_setup(fail_allocations);
}

/* One allocation fails, wherever it is; all that follow succeed. */
static void
run_all(void *data)
{
    struct setup *s = data;

    if (!open_sched(s))
        assert_true(open_sched(s));
    for (int text = 0; text < TEXTS; text++) {
        if (!run_text(s, text))
            must_run_text(s, text);
    }
    ggml_backend_sched_free(s->sched);
}

static void
fail_host_allocations(struct setup *s)
{
    assert_true(gb_fault_each(run_all, s) > 20);
}

static void
every_allocation_of_the_host_may_fail_once(void **state)
{
    (void)state;
    with_each_setup(fail_host_allocations);
}

/* What is lost is there again when the backends were freed and made anew. */
static void
lose_device(struct setup *s)
{
    bool has_failed = true;

    for (uint64_t nth = 1; has_failed; nth += 5) {
        const uint64_t n_failed = count_failed();

        assert_true(open_sched(s));
        gb_sim_fail(GB_SIM_FAULT_LOST, nth);
        run_text(s, 0);
        has_failed = count_failed() != n_failed;
        if (has_failed)
            assert_false(run_text(s, 1));
        ggml_backend_sched_free(s->sched);
        close_backends(s);
        gb_sim_fail(GB_SIM_FAULT_LOST, 0);

        open_backends(s);
        assert_true(open_sched(s));
        must_run_text(s, 1);
        ggml_backend_sched_free(s->sched);
    }
}

static void
a_device_may_be_lost_anywhere(void **state)
{
    (void)state;
    with_each_setup(lose_device);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_copy_may_fail_once),
        cmocka_unit_test(every_compute_may_fail_once),
        cmocka_unit_test(every_allocation_of_a_device_may_fail_once),
        cmocka_unit_test(every_allocation_of_the_host_may_fail_once),
        cmocka_unit_test(a_device_may_be_lost_anywhere),
    };

    ggml_log_set(gb_sink_ignore, NULL); /* thousands of reasons */
    return cmocka_run_group_tests_name("faults", tests, compute_expected,
                                       NULL);
}
