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
        for (int parallel = 0; parallel < 2; parallel++) {
            bool failed = true;

            for (int n = 0; failed; n++) {
                struct rig rig;
                struct ggml_tensor *x;

                rig_open(&rig, 2, parallel != 0);
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
        cmocka_unit_test(a_choice_without_memory_is_not_made),
    };

    gb_mem_set_fault(is_its_turn, NULL);
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
