/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/states.c - from graph to graph: new, reserve, alloc, compute,
 * reset, and what each gives when it is asked at the wrong time.
 */
#include "tests/sched/rig.h"
#include "tests/util/sink.h"

#include "ggmlbackend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* y = x * x + x, the square on the first backend and the sum on the last. */
struct square {
    struct ggml_tensor *x, *y;
};

static struct square
build(struct rig *rig, int64_t n)
{
    struct square s = { .x = rig_input(rig, n) };

    s.y = rig_choose(rig, ggml_sqr(rig->ctx, s.x), 0);
    s.y = rig_choose(rig, ggml_add(rig->ctx, s.y, s.x), rig->n_backends - 1);
    rig_expand(rig, s.y);
    return s;
}

static void
check(struct rig *rig, struct square s, float x)
{
    rig_set(s.x, x);
    rig_compute(rig);
    rig_expect(s.y, x * x + x);
}

/* A graph of its own. */
static void
check_new(struct rig *rig, int64_t n, float x)
{
    struct square s;

    rig_restart(rig);
    s = build(rig, n);
    rig_alloc(rig);
    check(rig, s, x);
}

static void
compute_allocates_what_nobody_did(void **state)
{
    struct rig rig;
    struct ggml_tensor *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    y = ggml_sqr(rig.ctx, rig_weights(&rig, 0, 4, 1, 3));
    rig_expand(&rig, y);
    rig_compute(&rig);
    rig_expect(y, 9);
    rig_close(&rig);
}

static void
an_allocated_graph_can_be_computed_again(void **state)
{
    (void)state;
    for (int parallel = 0; parallel < 2; parallel++) {
        struct rig rig;
        struct square s;

        sim_reset();
        rig_open(&rig, 2, parallel != 0);
        s = build(&rig, 4);
        rig_alloc(&rig);
        for (int i = 0; i < 6; i++)
            check(&rig, s, (float)i);
        rig_close(&rig);
    }
}

static void
one_graph_after_the_other_needs_no_new_buffer(void **state)
{
    struct gb_sim_counters before, after;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    check_new(&rig, 8, 2);
    gb_sim_count(&before);
    for (int i = 0; i < 5; i++)
        check_new(&rig, 8 - i, (float)i); /* smaller ones lie there too */
    gb_sim_count(&after);
    assert_int_equal(after.alloc, before.alloc);
    rig_close(&rig);
}

static void
reserving_makes_room_and_leaves_the_graph_as_it_was(void **state)
{
    struct rig rig;
    struct square s;
    struct gb_sim_counters before, after;
    size_t size;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    assert_int_equal(
        ggml_backend_sched_get_buffer_size(rig.sched, rig.backends[0]), 0);
    s = build(&rig, 1000);
    assert_true(ggml_backend_sched_reserve(rig.sched, rig.graph));
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 2);
    assert_null(s.y->data);
    assert_null(s.x->data);
    assert_ptr_equal(s.y->src[0]->src[0], s.x);
    assert_int_equal(rig_backend_of(&rig, s.y), -1); /* reset */
    size = ggml_backend_sched_get_buffer_size(rig.sched, rig.backends[0]);
    assert_true(size >= 4000);

    /* It is exactly what is needed then. */
    gb_sim_count(&before);
    check_new(&rig, 1000, 3);
    gb_sim_count(&after);
    assert_int_equal(after.alloc, before.alloc);
    assert_int_equal(
        ggml_backend_sched_get_buffer_size(rig.sched, rig.backends[0]), size);
    rig_close(&rig);
}

static void
buffers_never_shrink(void **state)
{
    struct rig rig;
    size_t size;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    build(&rig, 1000);
    assert_true(ggml_backend_sched_reserve(rig.sched, rig.graph));
    size = ggml_backend_sched_get_buffer_size(rig.sched, rig.backends[0]);
    rig_restart(&rig);
    build(&rig, 10);
    assert_true(ggml_backend_sched_reserve(rig.sched, rig.graph));
    assert_int_equal(
        ggml_backend_sched_get_buffer_size(rig.sched, rig.backends[0]), size);
    rig_close(&rig);
}

static void
a_larger_graph_makes_the_buffers_grow(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    for (int64_t n = 1; n < 100000; n *= 7)
        check_new(&rig, n, 2);
    rig_close(&rig);
}

/* The same numbers of nodes, on other backends. */
static void
other_backends_need_another_plan(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    for (int i = 0; i < 9; i++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_input(&rig, 4);
        y = rig_choose(&rig, ggml_sqr(rig.ctx, x), i % 3);
        y = rig_choose(&rig, ggml_add(rig.ctx, y, x), i / 3);
        rig_expand(&rig, y);
        rig_alloc(&rig);
        assert_int_equal(rig_backend_of(&rig, y), i / 3);
        rig_set(x, 3);
        rig_compute(&rig);
        rig_expect(y, 12);
    }
    rig_close(&rig);
}

/* Of the same make, but what was data in the first one needs a place now. */
static void
data_instead_of_inputs_needs_another_plan(void **state)
{
    (void)state;
    for (int n_devices = 0; n_devices < 2; n_devices++) {
        struct rig rig;

        sim_reset();
        rig_open(&rig, n_devices, false);
        for (int i = 0; i < 4; i++) {
            struct ggml_tensor *x, *y;

            rig_restart(&rig);
            x = i % 2 == 0 ? rig_weights(&rig, 0, 4, 1, 0) : rig_input(&rig, 4);
            y = rig_choose(&rig, ggml_sqr(rig.ctx, x), 0);
            rig_expand(&rig, y);
            rig_alloc(&rig);
            rig_set(x, (float)i);
            rig_compute(&rig);
            rig_expect(y, (float)(i * i));
        }
        rig_close(&rig);
    }
}

static void
while_a_graph_is_allocated_no_other_is_computed(void **state)
{
    static struct gb_sink sink;
    struct rig rig;
    struct square s;
    struct ggml_cgraph *other;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    s = build(&rig, 4);
    rig_alloc(&rig);
    other = ggml_new_graph_custom(rig.ctx, 1, false);
    rig_set(s.x, 2);
    gb_sink_begin(&sink);
    assert_int_equal(ggml_backend_sched_graph_compute(rig.sched, other),
                     GGML_STATUS_SUCCESS);
    gb_sink_end();
    rig_expect(s.y, 6);
    assert_int_equal(sink.n, 1);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_WARN);
    rig_close(&rig);
}

static void
allocating_without_a_reset_forgets_the_graph_before(void **state)
{
    struct rig rig;
    struct square s;
    struct ggml_tensor *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    s = build(&rig, 4);
    rig_alloc(&rig);
    rig.graph = ggml_new_graph_custom(rig.ctx, 16, false);
    y = rig_choose(&rig, ggml_sqr(rig.ctx, rig_weights(&rig, 0, 4, 1, 2)), 1);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_compute(&rig);
    rig_expect(y, 4);
    /* Choices stay until the reset. */
    assert_int_equal(rig_backend_of(&rig, s.y), 1);
    rig_close(&rig);
}

static void
a_graph_that_reads_old_copies_is_refused(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    build(&rig, 4);
    rig_alloc(&rig);
    ggmlbackend_clear_failure();
    assert_false(ggml_backend_sched_alloc_graph(rig.sched, rig.graph));
    assert_non_null(strstr(ggmlbackend_last_failure(), "Sim0#"));
    check_new(&rig, 4, 2);
    rig_close(&rig);
}

static void
reset_neither_waits_nor_frees(void **state)
{
    struct gb_sim_counters before, after;
    struct rig rig;
    struct square s;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    s = build(&rig, 4);
    rig_alloc(&rig);
    rig_set(s.x, 2);
    assert_int_equal(
        ggml_backend_sched_graph_compute_async(rig.sched, rig.graph),
        GGML_STATUS_SUCCESS);
    gb_sim_count(&before);
    ggml_backend_sched_reset(rig.sched);
    ggml_backend_sched_reset(rig.sched);
    gb_sim_count(&after);
    assert_int_equal(after.synchronize, before.synchronize);
    assert_int_equal(after.buffers, before.buffers);
    ggml_backend_sched_synchronize(rig.sched);
    gb_sim_count(&after);
    assert_int_equal(after.synchronize, before.synchronize + 1);
    rig_expect(s.y, 6);
    rig_close(&rig);
}

/* ---- bad input ---- */

static void
a_scheduler_needs_backends_and_a_cpu_last(void **state)
{
    ggml_backend_t backends[2];
    ggml_backend_buffer_type_t bufts[2];

    (void)state;
    sim_reset();
    backends[0] = sim_backend(0);
    backends[1] = ggml_backend_cpu_init();
    assert_null(ggml_backend_sched_new(NULL, NULL, 1, 10, false));
    assert_null(ggml_backend_sched_new(backends, NULL, 0, 10, false));
    assert_null(ggml_backend_sched_new(backends, NULL, -1, 10, false));
    ggmlbackend_clear_failure();
    assert_null(ggml_backend_sched_new(backends, NULL, 1, 10, false));
    assert_non_null(strstr(ggmlbackend_last_failure(), "Sim0"));
    bufts[0] = ggml_backend_cpu_buffer_type();
    bufts[1] = ggml_backend_cpu_buffer_type();
    ggmlbackend_clear_failure();
    assert_null(ggml_backend_sched_new(backends, bufts, 2, 10, false));
    assert_non_null(strstr(ggmlbackend_last_failure(), "Sim0"));
    ggml_backend_free(backends[0]);
    backends[0] = NULL;
    assert_null(ggml_backend_sched_new(backends, NULL, 2, 10, false));
    ggml_backend_free(backends[1]);
    assert_true(sim_is_clean());
}

static ggml_backend_buffer_type_t
no_buffer_type(ggml_backend_dev_t dev)
{
    (void)dev;
    return NULL;
}

static void
a_scheduler_needs_devices_with_memory(void **state)
{
    struct ggml_backend_device bare;
    ggml_backend_t backends[2];
    ggml_backend_dev_t device;

    (void)state;
    sim_reset();
    backends[0] = sim_backend(0);
    backends[1] = ggml_backend_cpu_init();
    device = backends[0]->device;
    backends[0]->device = NULL;
    ggmlbackend_clear_failure();
    assert_null(ggml_backend_sched_new(backends, NULL, 2, 10, false));
    assert_non_null(strstr(ggmlbackend_last_failure(), "backend 0"));
    bare = *device;
    bare.iface.get_buffer_type = no_buffer_type;
    backends[0]->device = &bare;
    ggmlbackend_clear_failure();
    assert_null(ggml_backend_sched_new(backends, NULL, 2, 10, false));
    assert_non_null(strstr(ggmlbackend_last_failure(), "Sim0 cannot use"));
    backends[0]->device = device;
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    assert_true(sim_is_clean());
}

/* Of what events need, a device or its backend lacks one function. */
static void
without_a_function_for_events_there_are_none(void **state)
{
    (void)state;
    for (int lacks = 0; lacks < 4; lacks++) {
        struct ggml_backend_device less;
        struct gb_sim_counters counters;
        ggml_backend_sched_t sched;
        ggml_backend_dev_t device;
        struct rig rig;

        sim_reset();
        rig_open(&rig, 1, true);
        device = rig.backends[0]->device;
        less = *device;
        if (lacks == 1)
            rig.backends[0]->iface.event_record = NULL;
        if (lacks == 2)
            rig.backends[0]->iface.event_wait = NULL;
        if (lacks == 3)
            less.iface.event_synchronize = NULL;
        rig.backends[0]->device = &less;
        ggml_backend_sched_free(rig.sched);
        rig.sched = ggml_backend_sched_new(rig.backends, NULL, 2, 64, true);
        assert_non_null(rig.sched);
        gb_sim_count(&counters);
        assert_int_equal(counters.events, lacks == 0 ? 4 : 0);
        for (int i = 0; i < 6; i++)
            check_new(&rig, 16, (float)i);
        sched = rig.sched;
        rig.sched = NULL;
        ggml_backend_sched_free(sched);
        rig.backends[0]->device = device;
        rig_close(&rig);
    }
}

/* Graphs that differ in which of two backends of one device computes what. */
static void
twins_share_a_plan(void **state)
{
    ggml_backend_t backends[3];
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    backends[0] = sim_backend(0);
    backends[1] = sim_backend(0);
    backends[2] = rig.backends[0];
    ggml_backend_sched_free(rig.sched);
    rig.sched = ggml_backend_sched_new(backends, NULL, 3, 64, false);
    assert_non_null(rig.sched);
    for (int i = 0; i < 4; i++) {
        struct gb_sim_counters before, after;
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_input(&rig, 16);
        y = ggml_sqr(rig.ctx, x);
        /* The last is of the CPU. */
        ggml_backend_sched_set_tensor_backend(rig.sched, y,
                                              backends[i < 3 ? i % 2 : 2]);
        rig_expand(&rig, y);
        gb_sim_count(&before);
        rig_alloc(&rig);
        gb_sim_count(&after);
        if (i > 0)
            assert_int_equal(after.buffers, before.buffers);
        assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, y),
                         backends[i < 3 ? i % 2 : 2]);
        rig_set(x, (float)i);
        rig_compute(&rig);
        rig_expect(y, (float)(i * i));
    }
    ggml_backend_sched_free(rig.sched);
    rig.sched = NULL;
    ggml_backend_free(backends[0]);
    ggml_backend_free(backends[1]);
    rig_close(&rig);
}

/* A leaf that nobody reads may be anywhere; the plan says where. */
static void
a_leaf_that_moves_needs_a_plan_of_its_own(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    for (int i = 0; i < 4; i++) {
        struct ggml_tensor *lone;
        struct square s;

        rig_restart(&rig);
        s = build(&rig, 16);
        lone = rig_choose(&rig, rig_vector(&rig, 16), i / 2);
        rig_expand(&rig, lone);
        rig_alloc(&rig);
        assert_int_equal(rig_backend_of(&rig, lone), i / 2);
        assert_ptr_equal(
            ggml_backend_buffer_get_type(lone->buffer),
            ggml_backend_get_default_buffer_type(rig.backends[i / 2]));
        check(&rig, s, (float)i);
    }
    rig_close(&rig);
}

/* Memory of a device that does not keep to what it said. */
static struct {
    ggml_backend_buffer_t (*alloc_buffer)(
        ggml_backend_buffer_type_t buft, size_t size);
    size_t n_asked;
    bool refuses;
} fickle;

static size_t
more_each_time(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    (void)buft;
    return ggml_nbytes(tensor) + 128 * ++fickle.n_asked;
}

static enum ggml_status
refuse_or_not(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    (void)buffer;
    (void)tensor;
    return fickle.refuses ? GGML_STATUS_FAILED : GGML_STATUS_SUCCESS;
}

static ggml_backend_buffer_t
alloc_fickle(ggml_backend_buffer_type_t buft, size_t size)
{
    ggml_backend_buffer_t buffer = fickle.alloc_buffer(buft, size);

    if (buffer != NULL)
        buffer->iface.init_tensor = refuse_or_not;
    return buffer;
}

static void
memory_that_changes_its_mind_is_refused(void **state)
{
    struct ggml_backend_buffer_type before;
    ggml_backend_buffer_type_t buft;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    buft = ggml_backend_get_default_buffer_type(rig.backends[0]);
    before = *buft;
    buft->iface.get_alloc_size = more_each_time;
    build(&rig, 16);
    ggmlbackend_clear_failure();
    assert_false(ggml_backend_sched_alloc_graph(rig.sched, rig.graph));
    assert_non_null(strstr(ggmlbackend_last_failure(), "sizes of tensors"));
    *buft = before;
    check_new(&rig, 16, 2);

    /* A tensor is refused: in a new plan, and in one that is there. */
    fickle.alloc_buffer = before.iface.alloc_buffer;
    buft->iface.alloc_buffer = alloc_fickle;
    for (int i = 0; i < 2; i++) {
        fickle.refuses = true;
        rig_restart(&rig);
        build(&rig, 1024);
        assert_false(ggml_backend_sched_alloc_graph(rig.sched, rig.graph));
        assert_int_equal(
            ggml_backend_sched_graph_compute(rig.sched, rig.graph),
            GGML_STATUS_FAILED);
        fickle.refuses = false;
        check_new(&rig, 1024, 3);
    }
    *buft = before;
    rig_close(&rig);
}

/* A choice after the graph was taken in is what the graph then has. */
static void
a_choice_for_a_graph_that_has_its_places_shows(void **state)
{
    (void)state;
    for (int n_devices = 0; n_devices < 2; n_devices++) {
        struct ggml_tensor *other;
        struct square s;
        struct rig rig;

        sim_reset();
        rig_open(&rig, n_devices, false);
        s = build(&rig, 16);
        rig_alloc(&rig);
        assert_int_equal(rig_backend_of(&rig, s.y), n_devices);
        rig_choose(&rig, s.y, 0);
        assert_int_equal(rig_backend_of(&rig, s.y), 0);
        other = rig_choose(&rig, rig_vector(&rig, 3), n_devices);
        assert_int_equal(rig_backend_of(&rig, other), n_devices);
        check_new(&rig, 16, 3);
        rig_close(&rig);
    }
}

static void
memory_can_be_chosen_for_each_backend(void **state)
{
    ggml_backend_buffer_type_t bufts[2] = { NULL, NULL };
    struct rig rig;
    struct square s;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    bufts[1] = ggml_backend_dev_host_buffer_type(sim_device(0));
    assert_non_null(bufts[1]);
    ggml_backend_sched_free(rig.sched);
    rig.sched = ggml_backend_sched_new(rig.backends, bufts, 2, 10, false);
    assert_non_null(rig.sched);
    s = build(&rig, 4);
    rig_alloc(&rig);
    assert_ptr_equal(ggml_backend_buffer_get_type(s.y->buffer), bufts[1]);
    check(&rig, s, 3);
    rig_close(&rig);
}

static void
questions_have_answers(void **state)
{
    struct rig rig;
    ggml_backend_t other;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    other = sim_backend(0);
    assert_int_equal(ggml_backend_sched_get_n_backends(rig.sched), 3);
    assert_int_equal(ggml_backend_sched_get_n_copies(rig.sched), 1);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 0);
    for (int i = 0; i < 3; i++)
        assert_ptr_equal(ggml_backend_sched_get_backend(rig.sched, i),
                         rig.backends[i]);
    assert_null(ggml_backend_sched_get_backend(rig.sched, 3));
    assert_null(ggml_backend_sched_get_backend(rig.sched, -1));
    assert_int_equal(ggml_backend_sched_get_buffer_size(rig.sched, other), 0);
    assert_int_equal(ggml_backend_sched_get_buffer_size(rig.sched, NULL), 0);
    ggml_backend_free(other);
    rig_close(&rig);
}

static void
without_a_scheduler_or_a_graph_nothing_happens(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    ggml_backend_sched_free(NULL);
    ggml_backend_sched_reset(NULL);
    ggml_backend_sched_synchronize(NULL);
    ggml_backend_sched_set_eval_callback(NULL, NULL, NULL);
    ggml_backend_sched_set_tensor_backend(NULL, NULL, NULL);
    assert_null(ggml_backend_sched_get_tensor_backend(NULL, NULL));
    assert_null(ggml_backend_sched_get_backend(NULL, 0));
    assert_int_equal(ggml_backend_sched_get_n_backends(NULL), 0);
    assert_int_equal(ggml_backend_sched_get_n_copies(NULL), 0);
    assert_int_equal(ggml_backend_sched_get_n_splits(NULL), 0);
    assert_int_equal(ggml_backend_sched_get_buffer_size(NULL, NULL), 0);
    assert_false(ggml_backend_sched_alloc_graph(NULL, rig.graph));
    assert_false(ggml_backend_sched_reserve(NULL, rig.graph));
    assert_false(ggml_backend_sched_alloc_graph(rig.sched, NULL));
    assert_false(ggml_backend_sched_reserve(rig.sched, NULL));
    assert_int_equal(ggml_backend_sched_graph_compute(NULL, rig.graph),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_sched_graph_compute_async(NULL, rig.graph),
                     GGML_STATUS_FAILED);
    assert_int_equal(ggml_backend_sched_graph_compute(rig.sched, NULL),
                     GGML_STATUS_FAILED);
    rig_close(&rig);
}

static void
a_failed_graph_is_refused_with_its_reason(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    ggml_build_forward_expand(
        rig.graph,
        ggml_add(rig.ctx, rig_vector(&rig, 3), rig_vector(&rig, 4)));
    ggmlbackend_clear_failure();
    assert_false(ggml_backend_sched_reserve(rig.sched, rig.graph));
    assert_int_equal(ggml_backend_sched_graph_compute(rig.sched, rig.graph),
                     GGML_STATUS_FAILED);
    assert_non_null(strstr(ggmlbackend_last_failure(), "add"));
    check_new(&rig, 4, 2);
    rig_close(&rig);
}

static void
a_buffer_that_cannot_be_had_is_a_matter_of_memory(void **state)
{
    struct gb_sim_config config;
    struct rig rig;
    struct square s;

    (void)state;
    sim_reset();
    gb_sim_default(&config);
    config.memory = 4096;
    assert_true(gb_sim_configure(0, 1, &config));
    rig_open(&rig, 1, false);
    s = build(&rig, 100000);
    assert_false(ggml_backend_sched_alloc_graph(rig.sched, rig.graph));
    /* The graph is as it was; and reserving resets what was chosen. */
    assert_ptr_equal(s.y->src[0]->src[0], s.x);
    assert_false(ggml_backend_sched_reserve(rig.sched, rig.graph));
    assert_int_equal(rig_backend_of(&rig, s.y), -1);
    rig_choose(&rig, s.y->src[0], 0);
    rig_choose(&rig, s.y, 1);
    assert_int_equal(ggml_backend_sched_graph_compute(rig.sched, rig.graph),
                     GGML_STATUS_ALLOC_FAILED);
    check_new(&rig, 100, 3);
    rig_close(&rig);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(compute_allocates_what_nobody_did),
        cmocka_unit_test(an_allocated_graph_can_be_computed_again),
        cmocka_unit_test(one_graph_after_the_other_needs_no_new_buffer),
        cmocka_unit_test(reserving_makes_room_and_leaves_the_graph_as_it_was),
        cmocka_unit_test(buffers_never_shrink),
        cmocka_unit_test(a_larger_graph_makes_the_buffers_grow),
        cmocka_unit_test(other_backends_need_another_plan),
        cmocka_unit_test(data_instead_of_inputs_needs_another_plan),
        cmocka_unit_test(while_a_graph_is_allocated_no_other_is_computed),
        cmocka_unit_test(allocating_without_a_reset_forgets_the_graph_before),
        cmocka_unit_test(a_graph_that_reads_old_copies_is_refused),
        cmocka_unit_test(reset_neither_waits_nor_frees),
        cmocka_unit_test(a_scheduler_needs_backends_and_a_cpu_last),
        cmocka_unit_test(a_scheduler_needs_devices_with_memory),
        cmocka_unit_test(without_a_function_for_events_there_are_none),
        cmocka_unit_test(twins_share_a_plan),
        cmocka_unit_test(a_leaf_that_moves_needs_a_plan_of_its_own),
        cmocka_unit_test(memory_that_changes_its_mind_is_refused),
        cmocka_unit_test(a_choice_for_a_graph_that_has_its_places_shows),
        cmocka_unit_test(memory_can_be_chosen_for_each_backend),
        cmocka_unit_test(questions_have_answers),
        cmocka_unit_test(without_a_scheduler_or_a_graph_nothing_happens),
        cmocka_unit_test(a_failed_graph_is_refused_with_its_reason),
        cmocka_unit_test(a_buffer_that_cannot_be_had_is_a_matter_of_memory),
    };

    return cmocka_run_group_tests_name("states", tests, NULL, NULL);
}
