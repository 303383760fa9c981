/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/in-place.c - copies of what a graph writes: whoever reads it
 * after the write reads what was written, wherever it is computed.
 *
 * What is expected follows from the nodes' order alone.
 */
#include "tests/sched/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define DEVICE 0
#define CPU    1

/* How the memory is written that is read before and after. */
enum way { BY_RESULT, BY_VIEW, WAYS };

/* x = 2 x where it lies; by the tensor itself, or by another view of it. */
static struct ggml_tensor *
double_it(struct rig *rig, struct ggml_tensor *x, enum way way)
{
    struct ggml_tensor *at =
        way == BY_VIEW ? ggml_view_1d(rig->ctx, x, ggml_nelements(x), 0) : x;

    return rig_choose(rig, ggml_scale_inplace(rig->ctx, at, 2), DEVICE);
}

/* A read of X by BACKEND, with its place in the graph. */
static struct ggml_tensor *
read_it(struct rig *rig, struct ggml_tensor *x, int backend)
{
    struct ggml_tensor *y =
        rig_choose(rig, ggml_scale(rig->ctx, x, 3), backend);

    rig_expand(rig, y);
    return y;
}

/* A result of the device that the CPU reads, and the device writes. */
static void
a_result_is_copied_again_after_it_was_written(void **state)
{
    (void)state;
    for (enum way way = 0; way < WAYS; way++) {
        struct ggml_tensor *x, *r, *before, *between, *after, *w;
        struct rig rig;

        sim_reset();
        rig_open(&rig, 1, false);
        x = rig_input(&rig, 4);
        r = rig_choose(&rig, ggml_scale(rig.ctx, x, 5), DEVICE);
        before = read_it(&rig, r, CPU);
        w = double_it(&rig, r, way);
        rig_expand(&rig, w);
        between = read_it(&rig, r, CPU);
        rig_expand(&rig, double_it(&rig, w, way));
        after = read_it(&rig, r, CPU);
        rig_alloc(&rig);
        rig_set(x, 1);
        rig_compute(&rig);
        rig_expect(before, 15);
        rig_expect(between, 30);
        rig_expect(after, 60);
        rig_close(&rig);
    }
}

/* The write is known by its root, and so is the copy: of either, a view. */
static void
views_of_what_was_written_are_copied_again(void **state)
{
    struct ggml_tensor *x, *r, *v, *before, *after, *w, *w2, *result;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    r = rig_choose(&rig, ggml_scale(rig.ctx, x, 5), DEVICE);
    v = ggml_view_1d(rig.ctx, r, 2, 2 * sizeof(float));
    before = read_it(&rig, v, CPU);
    w = double_it(&rig, r, BY_RESULT);
    rig_expand(&rig, w);
    after = read_it(&rig, v, CPU);
    result = read_it(&rig, w, CPU);
    /* The result of the first write is what the second one leaves. */
    w2 = double_it(&rig, r, BY_RESULT);
    rig_expand(&rig, w2);
    w2 = read_it(&rig, w, CPU);
    rig_alloc(&rig);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(before, 15);
    rig_expect(after, 30);
    rig_expect(result, 30);
    rig_expect(w2, 60);
    rig_close(&rig);
}

/* Data that a graph changes: it is what the graph before left, each time. */
static void
weights_that_a_graph_writes_are_copied_again(void **state)
{
    (void)state;
    for (int usage = 0; usage < 2; usage++) {
        struct ggml_tensor *w, *before, *after;
        struct rig rig;

        sim_reset();
        rig_open(&rig, 1, false);
        w = rig_data(&rig,
                     ggml_backend_get_default_buffer_type(rig.backends[0]),
                     usage != 0 ? GGML_BACKEND_BUFFER_USAGE_WEIGHTS
                                : GGML_BACKEND_BUFFER_USAGE_ANY,
                     4, 1, 1);
        before = read_it(&rig, w, CPU);
        rig_expand(&rig, double_it(&rig, w, BY_RESULT));
        after = read_it(&rig, w, CPU);
        rig_alloc(&rig);
        for (int i = 1; i <= 4; i *= 2) {
            rig_compute(&rig);
            rig_expect(before, (float)(3 * i));
            rig_expect(after, (float)(6 * i));
            rig_expect(w, (float)(2 * i));
        }
        rig_close(&rig);
    }
}

/*
 * Inputs are copied at once, while the device still has work to do: not those
 * that this work writes.
 */
static void
inputs_that_a_graph_writes_are_copied_when_that_is_done(void **state)
{
    (void)state;
    for (int parallel = 0; parallel < 2; parallel++) {
        struct ggml_tensor *x, *before, *after;
        struct rig rig;

        sim_reset();
        rig_open(&rig, 1, parallel != 0);
        x = rig_choose(&rig, rig_input(&rig, 4), DEVICE);
        before = read_it(&rig, x, CPU);
        rig_expand(&rig, double_it(&rig, x, BY_RESULT));
        after = read_it(&rig, x, CPU);
        rig_alloc(&rig);
        rig_set(x, 1);
        rig_compute(&rig);
        rig_expect(before, 3);
        rig_expect(after, 6);
        rig_close(&rig);
    }
}

/* Each turn of a pipeline has copies of its own, and of each write. */
static void
a_pipeline_copies_again_what_was_written(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, true);
    for (int turn = 0; turn < 10; turn++) {
        struct ggml_tensor *x, *r, *before, *after;

        rig_restart(&rig);
        x = rig_input(&rig, 4);
        r = rig_choose(&rig, ggml_scale(rig.ctx, x, 5), DEVICE);
        before = read_it(&rig, r, 1);
        rig_expand(&rig, double_it(&rig, r, BY_RESULT));
        after = read_it(&rig, r, 1);
        rig_alloc(&rig);
        rig_set(x, (float)turn);
        assert_int_equal(
            ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
            GGML_STATUS_SUCCESS);
        if (turn % 3 == 2) {
            ggml_backend_sched_synchronize(rig.sched);
            rig_expect(before, (float)(15 * turn));
            rig_expect(after, (float)(30 * turn));
        }
    }
    rig_close(&rig);
}

static void
what_was_not_written_is_copied_once(void **state)
{
    struct gb_sim_counters before, after;
    struct ggml_tensor *x, *r, *other, *a, *b;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    r = rig_choose(&rig, ggml_scale(rig.ctx, x, 5), DEVICE);
    other = rig_choose(&rig, ggml_scale(rig.ctx, x, 7), DEVICE);
    a = read_it(&rig, r, CPU);
    rig_expand(&rig, double_it(&rig, other, BY_VIEW));
    b = read_it(&rig, r, CPU);
    rig_alloc(&rig);
    assert_ptr_equal(a->src[0], b->src[0]);
    rig_set(x, 1);
    gb_sim_count(&before);
    rig_compute(&rig);
    gb_sim_count(&after);
    assert_int_equal(after.get - before.get, 1);
    rig_expect(b, 15);
    rig_close(&rig);
}

/* ---- two backends, one memory ---- */

/* Sim0 for a backend that cannot work in place: all else is Sim0's answer. */
static bool
limited_supports_op(ggml_backend_dev_t dev, const struct ggml_tensor *op)
{
    (void)dev;
    return op->view_src == NULL &&
           ggml_backend_dev_supports_op(sim_device(0), op);
}

static bool
limited_supports_buft(ggml_backend_dev_t dev, ggml_backend_buffer_type_t buft)
{
    (void)dev;
    return ggml_backend_dev_supports_buft(sim_device(0), buft);
}

static ggml_backend_buffer_type_t
limited_get_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return ggml_backend_dev_buffer_type(sim_device(0));
}

static struct ggml_backend_device limited = {
    .iface = {
        .supports_op = limited_supports_op,
        .supports_buft = limited_supports_buft,
        .get_buffer_type = limited_get_buffer_type,
    },
};

/*
 * Two queues of one device: nothing is copied between them, and neither begins
 * before the other is done.
 */
static void
backends_with_the_same_memory_wait_for_each_other(void **state)
{
    ggml_backend_t backends[3];
    struct ggml_tensor *x, *a, *w, *b;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    backends[0] = sim_backend(0);
    backends[0]->device = &limited;
    backends[1] = sim_backend(0);
    backends[2] = rig.backends[0];
    ggml_backend_sched_free(rig.sched);
    rig.sched = ggml_backend_sched_new(backends, NULL, 3, 64, false);
    x = rig_input(&rig, 4);
    a = ggml_scale(rig.ctx, x, 3);
    ggml_backend_sched_set_tensor_backend(rig.sched, a, backends[0]);
    w = ggml_scale_inplace(rig.ctx, a, 5);
    b = ggml_scale(rig.ctx, a, 7);
    rig_expand(&rig, a);
    rig_expand(&rig, w);
    rig_expand(&rig, b);
    rig_expand(&rig, ggml_scale_inplace(rig.ctx, a, 2));
    rig_alloc(&rig);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 4);
    assert_ptr_equal(b->src[0], a);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(b, 105);
    rig_expect(a, 30);
    ggml_backend_sched_free(rig.sched);
    rig.sched = NULL;
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    rig_close(&rig);
}

/* ---- what an operation writes besides its result ---- */

/* A step of the optimizer writes two of its sources besides the parameters. */
static void
moments_of_an_optimizer_are_copied_again_after_a_step(void **state)
{
    struct ggml_tensor *w, *grad, *m, *v, *params, *step, *reads[2][3];
    static const float numbers[] = { 0.5f, 0.5f, 0.5f, 0, 0, 0.5f, 0.5f };
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    w = rig_weights(&rig, DEVICE, 4, 1, 1);
    m = rig_weights(&rig, DEVICE, 4, 1, 2);
    v = rig_weights(&rig, DEVICE, 4, 1, 3);
    grad = rig_weights(&rig, DEVICE, 4, 1, 4);
    params = rig_weights(&rig, DEVICE, 7, 1, 0);
    ggml_backend_tensor_set(params, numbers, 0, sizeof(numbers));
    ggml_set_param(rig.data, w);
    for (int i = 0; i < 2; i++) {
        reads[i][0] = read_it(&rig, w, CPU);
        reads[i][1] = read_it(&rig, m, CPU);
        reads[i][2] = read_it(&rig, v, CPU);
        step = ggml_opt_step_adamw(rig.ctx, w, grad, m, v, params);
        if (i == 0)
            rig_expand(&rig, rig_choose(&rig, step, DEVICE));
    }
    rig_alloc(&rig);
    rig_compute(&rig);
    rig_expect(reads[0][1], 6);
    rig_expect(reads[0][2], 9);
    rig_expect(m, 3);           /* 2 / 2 + 4 / 2 */
    rig_expect(reads[1][1], 9);
    rig_expect(v, 9.5f);        /* 3 / 2 + 16 / 2 */
    rig_expect(reads[1][2], 28.5f);
    rig_close(&rig);
}

/* ---- functions of the client's ---- */

static void
double_other(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
             int nth, void *userdata)
{
    struct ggml_tensor *other = userdata;

    rig_halve(dst, a, ith, nth, NULL);
    for (int64_t i = 0; i < ggml_nelements(other); i++)
        ((float *)other->data)[i] *= 2;
}

/* Copies of what it writes, which nobody is told, are made again behind it; and
 * an input of the graph is copied when it has been written. */
static void
all_is_copied_again_behind_a_function(void **state)
{
    struct ggml_tensor *w, *x, *z, *before[2], *after[2];
    struct rig rig;

    (void)state;
    for (int parallel = 0; parallel < 2; parallel++) {
        sim_reset();
        rig_open(&rig, 1, parallel != 0);
        w = rig_weights(&rig, CPU, 4, 1, 3);
        x = rig_choose(&rig, rig_input(&rig, 4), CPU);
        z = rig_input(&rig, 4);
        before[0] = read_it(&rig, w, DEVICE);
        before[1] = read_it(&rig, x, DEVICE);
        z = ggml_map_custom1(rig.ctx, z, double_other, 1, w);
        rig_expand(&rig, z);
        z = ggml_map_custom1(rig.ctx, z, double_other, 1, x);
        rig_expand(&rig, z);
        after[0] = read_it(&rig, w, DEVICE);
        after[1] = read_it(&rig, x, DEVICE);
        rig_alloc(&rig);
        rig_set(x, 5);
        rig_compute(&rig);
        rig_expect(before[0], 9);
        rig_expect(before[1], 15);
        rig_expect(after[0], 18);
        rig_expect(after[1], 30);
        rig_close(&rig);
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_is_copied_again_after_it_was_written),
        cmocka_unit_test(views_of_what_was_written_are_copied_again),
        cmocka_unit_test(weights_that_a_graph_writes_are_copied_again),
        cmocka_unit_test(
            inputs_that_a_graph_writes_are_copied_when_that_is_done),
        cmocka_unit_test(a_pipeline_copies_again_what_was_written),
        cmocka_unit_test(what_was_not_written_is_copied_once),
        cmocka_unit_test(backends_with_the_same_memory_wait_for_each_other),
        cmocka_unit_test(moments_of_an_optimizer_are_copied_again_after_a_step),
        cmocka_unit_test(all_is_copied_again_behind_a_function),
    };

    return cmocka_run_group_tests_name("copies of what is written", tests,
                                       NULL, NULL);
}
