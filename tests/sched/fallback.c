/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/fallback.c - operations that nobody can run where their data
 * lies: they are computed all the same, with copies of what they read.
 *
 * The CPU says of an operation that it is not for it when a source lies in
 * memory of a device, and a simulated device says so of memory of another.
 */
#include "tests/sched/rig.h"
#include "tests/util/sink.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Four numbers VALUE in memory of the device, in the scheduler or not. */
static struct ggml_tensor *
data_on(struct rig *rig, int device, float value)
{
    return rig_data(rig, ggml_backend_dev_buffer_type(sim_device(device)),
                    GGML_BACKEND_BUFFER_USAGE_WEIGHTS, 4, 1, value);
}

static void
expect_on(const struct rig *rig, struct ggml_tensor *tensor, int backend,
          float value)
{
    assert_int_equal(rig_backend_of(rig, tensor), backend);
    rig_expect(tensor, value);
}

static void
what_only_the_cpu_runs_gets_a_copy_of_a_device_s_weight(void **state)
{
    (void)state;
    for (int is_view = 0; is_view < 2; is_view++) {
        struct ggml_tensor *w, *y, *z;
        struct rig rig;

        sim_reset();
        rig_open(&rig, 2, false);
        w = data_on(&rig, 1, 6);
        y = ggml_map_custom1(
            rig.ctx, is_view ? ggml_view_1d(rig.ctx, w, 2, 4) : w, rig_halve,
            1, NULL);
        z = ggml_sqr(rig.ctx, y);
        rig_expand(&rig, y);
        rig_expand(&rig, z);
        rig_alloc(&rig);
        rig_compute(&rig);
        expect_on(&rig, y, 2, 3);
        rig_expect(z, 9);
        rig_close(&rig);
    }
}

/* The weights lie on the first device, and only the second has products. */
static void
what_another_device_runs_goes_there(void **state)
{
    struct ggml_tensor *w, *v, *y;
    struct rig rig;

    (void)state;
    sim_reset();
    assert_true(sim_configure(0, 1, "without_ops=ADD"));
    rig_open(&rig, 2, false);
    w = data_on(&rig, 0, 6);
    v = data_on(&rig, 1, 1);
    y = ggml_add(rig.ctx, w, v);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    rig_compute(&rig);
    expect_on(&rig, y, 1, 7);
    rig_close(&rig);
}

static void
a_write_goes_to_what_it_writes_and_gets_a_copy_of_the_rest(void **state)
{
    struct ggml_tensor *w, *v, *y, *copied;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    w = data_on(&rig, 0, 6);
    v = data_on(&rig, 1, 1);
    y = rig_choose(&rig, ggml_add_inplace(rig.ctx, v, w), 0);
    copied = ggml_cpy(rig.ctx, w, y);
    rig_expand(&rig, y);
    rig_expand(&rig, copied);
    rig_alloc(&rig);
    rig_compute(&rig);
    expect_on(&rig, y, 1, 6);
    expect_on(&rig, copied, 1, 6);
    rig_expect(v, 6);
    rig_close(&rig);
}

/* Memory of a device that the scheduler does not have. */
static void
data_in_memory_of_nobody_is_copied(void **state)
{
    (void)state;
    for (int n_devices = 0; n_devices <= 2; n_devices++) {
        struct ggml_tensor *w, *v, *y, *z, *view;
        struct rig rig;

        sim_reset();
        rig_open(&rig, n_devices, n_devices == 2);
        w = data_on(&rig, 3, 3);
        v = ggml_reshape_2d(rig.ctx, w, 2, 2);
        y = ggml_sqr(rig.ctx, w);
        z = rig_choose(&rig, ggml_scale(rig.ctx, v, 2), n_devices);
        view = ggml_view_1d(rig.ctx, w, 2, 0);
        rig_expand(&rig, y);
        rig_expand(&rig, z);
        rig_expand(&rig, view);
        rig_alloc(&rig);
        for (int run = 0; run < 2; run++) {
            rig_compute(&rig);
            expect_on(&rig, y, 0, 9);
            expect_on(&rig, z, n_devices, 6);
        }
        expect_on(&rig, w, -1, 3);
        expect_on(&rig, view, -1, 3);
        rig_close(&rig);
    }
}

/* The scheduler's only backend goes back and forth between graphs. */
static void
one_backend_copies_for_the_graphs_that_need_it(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    for (int i = 0; i < 4; i++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = i % 2 == 0 ? rig_input(&rig, 4) : data_on(&rig, 0, 2);
        y = ggml_sqr(rig.ctx, x);
        rig_expand(&rig, y);
        assert_true(ggml_backend_sched_reserve(rig.sched, rig.graph));
        rig_alloc(&rig);
        rig_set(x, (float)i);
        rig_compute(&rig);
        expect_on(&rig, y, 0, (float)(i * i));
        assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 1);
    }
    rig_close(&rig);
}

/* Nothing to compute, of nobody: the graph is one split all the same. */
static void
a_graph_of_nobody_s_views_is_computed(void **state)
{
    struct ggml_tensor *w;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    w = data_on(&rig, 3, 3);
    ggml_set_param(rig.ctx, w);
    rig_expand(&rig, ggml_reshape_2d(rig.ctx, w, 2, 2));
    rig_alloc(&rig);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 1);
    rig_compute(&rig);
    rig_close(&rig);
}

/* ---- what is written, and has no memory yet ---- */

/*
 * y = W x is the first device's, which lacks the operation that works in place:
 * then both are the other's, or the CPU's.
 */
static void
what_is_only_planned_moves_to_who_can_write_it(void **state)
{
    (void)state;
    for (int n_devices = 1; n_devices <= 2; n_devices++) {
        struct ggml_tensor *x, *y, *v, *z, *end;
        struct rig rig;

        sim_reset();
        assert_true(sim_configure(0, 1, "without_ops=SQR"));
        rig_open(&rig, n_devices, false);
        x = rig_input(&rig, 4);
        y = ggml_mul_mat(rig.ctx, rig_weights(&rig, 0, 4, 4, 0.5f), x);
        v = ggml_scale_inplace(rig.ctx, y, 3);
        z = ggml_sqr_inplace(rig.ctx, ggml_reshape_2d(rig.ctx, v, 2, 2));
        end = ggml_mul_mat(rig.ctx, rig_weights(&rig, 0, 4, 4, 0.5f), y);
        rig_expand(&rig, z);
        rig_expand(&rig, end);
        rig_alloc(&rig);
        rig_set(x, 1);
        rig_compute(&rig);
        expect_on(&rig, y, 1, 36);
        expect_on(&rig, v, 1, 36);
        expect_on(&rig, z, 1, 36);
        expect_on(&rig, end, 0, 72);
        rig_close(&rig);
    }
}

static void
an_input_moves_too(void **state)
{
    struct ggml_tensor *x, *y;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_choose(&rig, rig_input(&rig, 4), 0);
    y = ggml_map_custom1_inplace(rig.ctx, x, rig_halve, 1, NULL);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    rig_set(x, 5);
    rig_compute(&rig);
    expect_on(&rig, x, 1, 2.5f);
    expect_on(&rig, y, 1, 2.5f);
    rig_close(&rig);
}

/*
 * A step of the optimizer on parameters of WHERE[0], with moments that lie at
 * WHERE[1] and [2]; -1 is nowhere yet.  Is it computed?
 */
static bool
step(const int *where, int chosen)
{
    static const float numbers[] = { 0.5f, 0.5f, 0.5f, 0, 0, 0.5f, 0.5f };
    struct ggml_tensor *t[3], *params, *node;
    struct gb_sink sink;
    struct rig rig;
    bool is_placed;

    sim_reset();
    rig_open(&rig, 2, false);
    for (int i = 0; i < 3; i++)
        t[i] = where[i] < 0 ? rig_input(&rig, 4)
                            : rig_weights(&rig, where[i], 4, 1, (float)i + 1);
    params = rig_weights(&rig, 2, 7, 1, 0);
    ggml_backend_tensor_set(params, numbers, 0, sizeof(numbers));
    ggml_set_param(rig.data, t[0]);
    node = ggml_opt_step_adamw(rig.ctx, t[0], rig_weights(&rig, 2, 4, 1, 4),
                               t[1], t[2], params);
    if (chosen >= 0)
        rig_choose(&rig, node, chosen);
    ggml_set_output(t[1]);
    ggml_set_output(t[2]);
    rig_expand(&rig, node);
    gb_sink_begin(&sink);
    is_placed = ggml_backend_sched_alloc_graph(rig.sched, rig.graph);
    gb_sink_end();
    if (is_placed) {
        for (int i = 0; i < 3; i++)
            if (where[i] < 0)
                rig_set(t[i], (float)i + 1);
        rig_compute(&rig);
        rig_expect(t[1], 3);    /* 2 / 2 + 4 / 2 */
        rig_expect(t[2], 9.5f); /* 3 / 2 + 16 / 2 */
    } else {
        assert_non_null(strstr(sink.text, "OPT_STEP_ADAMW"));
    }
    rig_close(&rig);
    return is_placed;
}

static void
a_step_of_the_optimizer_goes_where_all_moments_can_be_written(void **state)
{
    static const int together[][3] = { { 0, 0, 0 }, { 1, 1, 1 }, { 2, 2, 2 },
                                       { 1, -1, -1 }, { 1, 1, -1 } };
    static const int apart[][3] = { { 0, 0, 1 }, { 0, 1, 0 }, { 0, 2, 2 },
                                    { 2, 2, 0 }, { 2, 0, -1 } };

    (void)state;
    for (int i = 0; i < 5; i++) {
        for (int chosen = -1; chosen <= 2; chosen++) {
            assert_true(step(together[i], chosen));
            assert_false(step(apart[i], chosen));
        }
    }
}

/* ---- what is said of it ---- */

static void
it_is_said_once_at_debug(void **state)
{
    static struct gb_sink sink;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    gb_sink_begin(&sink);
    for (int i = 0; i < 3; i++) {
        struct ggml_tensor *y;

        rig_restart(&rig);
        y = ggml_map_custom1(rig.ctx, data_on(&rig, 0, 2), rig_halve, 1, NULL);
        ggml_set_name(y, "halves");
        rig_expand(&rig, y);
        rig_alloc(&rig);
        rig_compute(&rig);
        rig_expect(y, 1);
    }
    gb_sink_end();
    assert_int_equal(sink.n, 1);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_DEBUG);
    assert_non_null(strstr(sink.text, "MAP_CUSTOM1 of tensor halves"));
    rig_close(&rig);
}

/* Copies that somebody can do without are not made. */
static void
a_device_that_can_run_it_where_it_lies_is_asked_first(void **state)
{
    static struct gb_sink sink;
    struct ggml_tensor *w, *v, *y;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    gb_sink_begin(&sink);
    w = data_on(&rig, 1, 6);
    v = data_on(&rig, 1, 2);
    y = ggml_mul(rig.ctx, w, v);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    gb_sink_end();
    assert_int_equal(sink.n, 0);
    rig_compute(&rig);
    expect_on(&rig, y, 1, 12);
    rig_close(&rig);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            what_only_the_cpu_runs_gets_a_copy_of_a_device_s_weight),
        cmocka_unit_test(what_another_device_runs_goes_there),
        cmocka_unit_test(
            a_write_goes_to_what_it_writes_and_gets_a_copy_of_the_rest),
        cmocka_unit_test(data_in_memory_of_nobody_is_copied),
        cmocka_unit_test(one_backend_copies_for_the_graphs_that_need_it),
        cmocka_unit_test(a_graph_of_nobody_s_views_is_computed),
        cmocka_unit_test(what_is_only_planned_moves_to_who_can_write_it),
        cmocka_unit_test(an_input_moves_too),
        cmocka_unit_test(
            a_step_of_the_optimizer_goes_where_all_moments_can_be_written),
        cmocka_unit_test(it_is_said_once_at_debug),
        cmocka_unit_test(a_device_that_can_run_it_where_it_lies_is_asked_first),
    };

    return cmocka_run_group_tests_name("fallback copies", tests, NULL,
                                       NULL);
}
