/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/pipeline.c - several graphs under way at once.
 *
 * The devices do their work only when somebody waits for it, so what is not
 * waited for is seen.
 */
#include "tests/sched/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define GRAPHS 11 /* more than twice the copies */

/* (3 x) on device 0, + x on device 1, and twice that. */
struct work {
    struct ggml_tensor *x, *y;
};

static struct work
begin(struct rig *rig)
{
    struct work w;

    rig_restart(rig);
    w.x = rig_input(rig, 64);
    ggml_set_name(w.x, "x");
    w.y = rig_choose(rig, ggml_scale(rig->ctx, w.x, 3), 0);
    w.y = rig_choose(rig, ggml_add(rig->ctx, w.y, w.x), 1);
    w.y = rig_choose(rig, ggml_scale(rig->ctx, w.y, 2), 1);
    rig_expand(rig, w.y);
    rig_alloc(rig);
    return w;
}

/* Queue all graphs, each with its number, before any result is looked at. */
static void
check_many(struct rig *rig)
{
    static float out[GRAPHS][64];

    memset(out, 0, sizeof(out));
    for (int i = 0; i < GRAPHS; i++) {
        struct work w = begin(rig);

        rig_set(w.x, (float)i);
        assert_int_equal(
            ggml_backend_sched_graph_compute_async(rig->sched, rig->graph),
            GGML_STATUS_SUCCESS);
        /* The input is the client's again. */
        rig_set(w.x, -1);
        ggml_backend_tensor_get_async(rig->backends[1], w.y, out[i], 0,
                                      sizeof(out[i]));
    }
    ggml_backend_sched_synchronize(rig->sched);
    for (int i = 0; i < GRAPHS; i++)
        for (int k = 0; k < 64; k++)
            if (out[i][k] != 8.0f * (float)i)
                fail_msg("graph %d, element %d: %g", i, k, (double)out[i][k]);
}

static void
graphs_follow_each_other_without_waiting(void **state)
{
    /* A bit for what the devices lack. */
    static const enum gb_sim_member members[] = {
        GB_SIM_EVENTS, GB_SIM_CPY_ASYNC, GB_SIM_CPY_TENSOR, GB_SIM_SET_ASYNC
    };

    (void)state;
    for (int mask = 0; mask < 16; mask++) {
        for (int parallel = 0; parallel < 2; parallel++) {
            struct gb_sim_config config;
            struct rig rig;

            sim_reset();
            gb_sim_default(&config);
            config.delay_us = -1;
            for (int i = 0; i < 4; i++)
                config.without[members[i]] = (mask >> i & 1) != 0;
            assert_true(gb_sim_configure(0, 2, &config));
            rig_open(&rig, 2, parallel != 0);
            check_many(&rig);
            rig_close(&rig);
        }
    }
}

/* Nothing but events of four graphs ago is waited for. */
static void
a_graph_of_the_same_make_waits_for_no_backend(void **state)
{
    struct gb_sim_counters before, after;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, true);
    for (int i = 0; i < GRAPHS; i++) {
        struct work w;

        if (i == 1)
            gb_sim_count(&before);
        w = begin(&rig);
        rig_set(w.x, 1);
        assert_int_equal(
            ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
            GGML_STATUS_SUCCESS);
    }
    gb_sim_count(&after);
    assert_int_equal(after.synchronize, before.synchronize);
    assert_true(after.event_synchronize > before.event_synchronize);
    ggml_backend_sched_synchronize(rig.sched);
    rig_close(&rig);
}

/* Inputs that the client has put on a device, which reads them late. */
static void
an_input_on_a_device_is_not_overwritten_before_it_is_read(void **state)
{
    static float out[GRAPHS][64];
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, true);
    for (int i = 0; i < GRAPHS; i++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_choose(&rig, rig_input(&rig, 64), 0);
        y = rig_choose(&rig, ggml_scale(rig.ctx, x, 3), 0);
        rig_expand(&rig, y);
        rig_alloc(&rig);
        rig_set(x, (float)i);
        assert_int_equal(
            ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
            GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get_async(rig.backends[0], y, out[i], 0,
                                      sizeof(out[i]));
    }
    ggml_backend_sched_synchronize(rig.sched);
    for (int i = 0; i < GRAPHS; i++)
        assert_true(out[i][0] == 3.0f * (float)i);
    rig_close(&rig);
}

static void
only_a_parallel_scheduler_keeps_several_copies(void **state)
{
    struct gb_sim_counters counters;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, true);
    assert_int_equal(ggml_backend_sched_get_n_copies(rig.sched), 4);
    gb_sim_count(&counters);
    assert_int_equal(counters.events, 8);
    rig_close(&rig);
    rig_open(&rig, 2, false);
    assert_int_equal(ggml_backend_sched_get_n_copies(rig.sched), 1);
    gb_sim_count(&counters);
    assert_int_equal(counters.events, 0);
    rig_close(&rig);
}

static void
copies_take_turns(void **state)
{
    struct rig rig;
    void *places[8];

    (void)state;
    sim_reset();
    rig_open(&rig, 2, true);
    for (int i = 0; i < 8; i++) {
        const struct work w = begin(&rig);
        const struct ggml_tensor *copy = w.y->src[0]->src[1];
        char name[GGML_MAX_NAME];

        snprintf(name, sizeof(name), "Sim1#x#%d", i % 4);
        assert_string_equal(copy->name, name);
        assert_int_equal(copy->flags,
                         GGML_TENSOR_FLAG_INPUT | GGML_TENSOR_FLAG_OUTPUT);
        assert_true((w.x->flags & GGML_TENSOR_FLAG_OUTPUT) != 0);
        places[i] = copy->data;
        for (int k = 0; k < i; k++)
            assert_true((places[k] == places[i]) == (k % 4 == i % 4));
        rig_set(w.x, 1);
        rig_compute(&rig);
        rig_expect(w.y, 8);
    }
    rig_close(&rig);
}

static void
a_failed_compute_keeps_its_turn(void **state)
{
    struct rig rig;
    struct work w;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, true);
    w = begin(&rig);
    rig_set(w.x, 1);
    gb_sim_fail(GB_SIM_FAULT_COMPUTE, 2);
    assert_int_equal(
        ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
        GGML_STATUS_FAILED);
    w = begin(&rig);
    assert_string_equal(w.y->src[0]->src[1]->name, "Sim1#x#0");
    rig_set(w.x, 2);
    rig_compute(&rig);
    rig_expect(w.y, 16);
    check_many(&rig);
    rig_close(&rig);
}

/*
 * Device 1 has no input of the graph, so the host never waits for it: device 0
 * must not overwrite what device 1 has not read yet.
 */
static void
a_device_that_runs_ahead_waits_for_its_reader(void **state)
{
    static float out[GRAPHS][64];
    struct gb_sim_config config;
    struct rig rig;

    (void)state;
    sim_reset();
    gb_sim_default(&config);
    config.delay_us = 0; /* as soon as it can */
    assert_true(gb_sim_configure(0, 1, &config));
    config.delay_us = -1; /* as late as it can */
    assert_true(gb_sim_configure(1, 1, &config));
    rig_open(&rig, 2, true);
    for (int i = 0; i < GRAPHS; i++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_input(&rig, 64);
        y = rig_choose(&rig, ggml_scale(rig.ctx, x, 3), 0);
        y = rig_choose(&rig, ggml_scale(rig.ctx, y, 2), 1);
        rig_expand(&rig, y);
        rig_alloc(&rig);
        rig_set(x, (float)i);
        assert_int_equal(
            ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
            GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get_async(rig.backends[1], y, out[i], 0,
                                      sizeof(out[i]));
    }
    ggml_backend_sched_synchronize(rig.sched);
    for (int i = 0; i < GRAPHS; i++)
        assert_true(out[i][0] == 6.0f * (float)i);
    rig_close(&rig);
}

static void
a_single_backend_can_be_parallel(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, true);
    for (int i = 0; i < 6; i++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_input(&rig, 4);
        y = ggml_sqr(rig.ctx, x);
        rig_expand(&rig, y);
        rig_alloc(&rig);
        rig_set(x, (float)i);
        rig_compute(&rig);
        rig_expect(y, (float)(i * i));
    }
    rig_close(&rig);
}

static void
more_inputs_than_ten_can_be_pipelined(void **state)
{
    struct rig rig;
    struct ggml_tensor *x[24], *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, true);
    x[0] = rig_input(&rig, 4);
    y = x[0];
    for (int i = 1; i < 24; i++) {
        x[i] = rig_input(&rig, 4);
        y = rig_choose(&rig, ggml_add(rig.ctx, y, x[i]), 0);
    }
    rig_expand(&rig, y);
    rig_alloc(&rig);
    for (int i = 0; i < 24; i++)
        rig_set(x[i], (float)i);
    rig_compute(&rig);
    rig_expect(y, 276);
    rig_close(&rig);
}

/* Inputs that lie where the client put them, and views, take no turns. */
static void
inputs_with_data_or_that_are_views_have_no_copies_of_their_own(void **state)
{
    struct ggml_tensor *data, *x, *v, *y;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, true);
    data = rig_data(&rig, ggml_backend_cpu_buffer_type(),
                    GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 5);
    ggml_set_input(data);
    for (int i = 0; i < GRAPHS; i++) {
        rig_restart(&rig);
        x = rig_input(&rig, 4);
        v = ggml_reshape_2d(rig.ctx, x, 4, 1);
        ggml_set_input(v);
        y = rig_choose(&rig, ggml_add(rig.ctx, v, data), 0);
        rig_expand(&rig, y);
        rig_alloc(&rig);
        rig_set(x, (float)i);
        rig_compute(&rig);
        rig_expect(y, (float)(5 + i));
    }
    rig_close(&rig);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(graphs_follow_each_other_without_waiting),
        cmocka_unit_test(a_graph_of_the_same_make_waits_for_no_backend),
        cmocka_unit_test(
            an_input_on_a_device_is_not_overwritten_before_it_is_read),
        cmocka_unit_test(only_a_parallel_scheduler_keeps_several_copies),
        cmocka_unit_test(copies_take_turns),
        cmocka_unit_test(a_failed_compute_keeps_its_turn),
        cmocka_unit_test(a_device_that_runs_ahead_waits_for_its_reader),
        cmocka_unit_test(a_single_backend_can_be_parallel),
        cmocka_unit_test(more_inputs_than_ten_can_be_pipelined),
        cmocka_unit_test(
            inputs_with_data_or_that_are_views_have_no_copies_of_their_own),
    };

    return cmocka_run_group_tests_name("pipelines", tests, NULL, NULL);
}
