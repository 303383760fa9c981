/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/faults.c - no memory in the middle of each of the scheduler's
 * calls, with any of their allocations.
 */
#include "lib/base/mem.h"
#include "tests/sched/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Allocations of this thread before one fails; below 0 for none. */
static _Thread_local int left = -1;
static _Thread_local bool has_failed;

static bool
is_its_turn(void *data)
{
    (void)data;
    if (left < 0 || left-- > 0)
        return false;
    has_failed = true;
    return true;
}

/* From here on the allocation after N others fails. */
static void
arm(int n)
{
    left = n;
    has_failed = false;
}

static bool
disarm(void)
{
    left = -1;
    return has_failed;
}

/* Sums that alternate between the backends, so that there is much to copy. */
static struct ggml_tensor *
build(struct rig *rig, struct ggml_tensor **x)
{
    struct ggml_tensor *y;

    rig_restart(rig);
    *x = rig_input(rig, 16);
    y = *x;
    for (int i = 0; i < 40; i++)
        y = rig_choose(rig, ggml_add(rig->ctx, y, *x), i % rig->n_backends);
    rig_expand(rig, y);
    return y;
}

static void
check(struct rig *rig)
{
    struct ggml_tensor *x, *y = build(rig, &x);

    rig_alloc(rig);
    rig_set(x, 1);
    rig_compute(rig);
    rig_expect(y, 41);
}

static void
a_scheduler_without_memory_is_none(void **state)
{
    (void)state;
    sim_reset();
    for (int parallel = 0; parallel < 2; parallel++) {
        struct rig rig;
        bool failed = true;

        rig_open(&rig, 2, false);
        for (int n = 0; failed; n++) {
            ggml_backend_sched_t sched;

            arm(n);
            sched = ggml_backend_sched_new(rig.backends, NULL, 3, 100,
                                           parallel != 0);
            failed = disarm();
            assert_true((sched == NULL) == failed);
            ggml_backend_sched_free(sched);
        }
        rig_close(&rig);
    }
}

enum call { RESERVE, ALLOC, COMPUTE, N_CALLS };

/* What the call says: success, or no memory. */
static bool
do_call(struct rig *rig, enum call call)
{
    enum ggml_status status;

    switch (call) {
    case RESERVE:
        return ggml_backend_sched_reserve(rig->sched, rig->graph);
    case ALLOC:
        return ggml_backend_sched_alloc_graph(rig->sched, rig->graph);
    default:
        status = ggml_backend_sched_graph_compute(rig->sched, rig->graph);
        if (status != GGML_STATUS_SUCCESS)
            assert_int_equal(status, GGML_STATUS_ALLOC_FAILED);
        return status == GGML_STATUS_SUCCESS;
    }
}

static void
a_call_without_memory_fails_and_the_next_succeeds(void **state)
{
    (void)state;
    sim_reset();
    for (int call = 0; call < N_CALLS; call++) {
        for (int kind = 0; kind < 3; kind++) {
            bool failed = true;

            for (int n = 0; failed; n++) {
                struct rig rig;
                struct ggml_tensor *x;

                /* The CPU alone, two devices, and these in parallel. */
                rig_open(&rig, kind > 0 ? 2 : 0, kind == 2);
                build(&rig, &x);
                arm(n);
                if (do_call(&rig, (enum call)call) == disarm())
                    fail_msg("call %d, allocation %d", call, n);
                failed = has_failed;
                check(&rig);
                rig_close(&rig);
            }
        }
    }
}

/* Sums of views of data that stands in no list of the graph. */
#define SLICE_NODES 14

struct slice {
    struct rig rig;
    struct ggml_tensor *data[SLICE_NODES];
    struct ggml_tensor *y[SLICE_NODES];
};

/* The scheduler has room for one tensor at first; data lies on all backends. */
static void
open_slice(struct slice *s)
{
    struct rig *rig = &s->rig;

    rig_open(rig, 2, false);
    ggml_backend_sched_free(rig->sched);
    rig->sched = ggml_backend_sched_new(rig->backends, NULL, 3, 1, false);
    assert_non_null(rig->sched);
    for (int i = 0; i < SLICE_NODES; i++)
        s->data[i] = rig_weights(rig, i % 3, 4, 1, (float)i);
}

/* Y[I] is data I and the next; with N_PLAIN sources that are no views. */
static void
build_slice(struct slice *s, int n_plain)
{
    struct rig *rig = &s->rig;

    rig_restart(rig);
    for (int i = 0; i < SLICE_NODES; i++) {
        struct ggml_tensor *a = s->data[i];
        struct ggml_tensor *b = s->data[(i + 1) % SLICE_NODES];

        if (i >= n_plain)
            a = ggml_view_tensor(rig->ctx, a);
        b = ggml_view_tensor(rig->ctx, b);
        s->y[i] = ggml_add(rig->ctx, a, b);
        ggml_set_output(s->y[i]);
        ggml_graph_add_node(rig->graph, s->y[i]);
    }
}

/* Room for numbers runs out at each place where a tensor gets one. */
static void
a_slice_without_memory_fails_and_the_next_succeeds(void **state)
{
    (void)state;
    sim_reset();
    for (int n_plain = 0; n_plain < 2; n_plain++) {
        bool failed = true;
        int n;

        for (n = 0; failed; n++) {
            struct slice s;

            open_slice(&s);
            build_slice(&s, n_plain);
            arm(n);
            if (do_call(&s.rig, ALLOC) == disarm())
                fail_msg("%d plain sources, allocation %d", n_plain, n);
            failed = has_failed;
            build_slice(&s, n_plain);
            rig_alloc(&s.rig);
            rig_compute(&s.rig);
            for (int i = 0; i < SLICE_NODES; i++)
                rig_expect(s.y[i], (float)(i + (i + 1) % SLICE_NODES));
            rig_close(&s.rig);
        }
        assert_true(n > 20);
    }
}

static void
a_choice_without_memory_is_not_made(void **state)
{
    struct rig rig;
    bool failed = true;

    (void)state;
    sim_reset();
    for (int n = 0; failed; n++) {
        struct ggml_tensor *x[40];
        int n_missing = 0;

        rig_open(&rig, 1, false);
        for (int i = 0; i < 40; i++)
            x[i] = rig_vector(&rig, 4);
        arm(n);
        for (int i = 0; i < 40; i++)
            rig_choose(&rig, x[i], 0);
        failed = disarm();
        for (int i = 0; i < 40; i++)
            n_missing += rig_backend_of(&rig, x[i]) != 0;
        assert_int_equal(n_missing, failed);
        check(&rig);
        rig_close(&rig);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_scheduler_without_memory_is_none),
        cmocka_unit_test(a_call_without_memory_fails_and_the_next_succeeds),
        cmocka_unit_test(a_slice_without_memory_fails_and_the_next_succeeds),
        cmocka_unit_test(a_choice_without_memory_is_not_made),
    };

    gb_mem_set_fault(is_its_turn, NULL);
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
