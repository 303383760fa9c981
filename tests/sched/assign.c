/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/assign.c - which backend each tensor gets.
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

/* Device FIRST cannot run OP from now on. */
static void
take_away(int device, enum ggml_op op)
{
    struct gb_sim_config config;

    gb_sim_default(&config);
    config.without_op[op] = true;
    assert_true(gb_sim_configure(device, 1, &config));
}

/* y = W x with the weights on a backend; 4 numbers. */
static struct ggml_tensor *
product(struct rig *rig, int backend, struct ggml_tensor *x)
{
    return ggml_mul_mat(rig->ctx, rig_weights(rig, backend, 4, 4, 0.5f), x);
}

static void
data_stays_where_it_is(void **state)
{
    struct rig rig;
    struct ggml_tensor *a, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    a = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 3);
    y = ggml_scale(rig.ctx, a, 2);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, a), 1);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_compute(&rig);
    rig_expect(y, 6);
    rig_close(&rig);
}

static void
an_input_belongs_to_the_last_backend(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    y = product(&rig, 0, x);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, x), 2);
    assert_int_equal(rig_backend_of(&rig, y), 0);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(y, 2);
    rig_close(&rig);
}

static void
an_operation_goes_to_its_weight_and_others_follow_their_neighbours(
    void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *a, *b, *c, *d;

    (void)state;
    sim_reset();
    rig_open(&rig, 3, false);
    x = rig_input(&rig, 4);
    a = ggml_sqr(rig.ctx, x); /* above the first weight: upwards */
    b = product(&rig, 1, a);
    c = ggml_sqr(rig.ctx, b); /* below it: downwards */
    d = product(&rig, 2, c);
    rig_expand(&rig, d);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, a), 1);
    assert_int_equal(rig_backend_of(&rig, b), 1);
    assert_int_equal(rig_backend_of(&rig, c), 1);
    assert_int_equal(rig_backend_of(&rig, d), 2);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 2);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(d, 8);
    rig_close(&rig);
}

static void
what_a_device_cannot_run_is_passed_over(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *b, *c, *d;

    (void)state;
    sim_reset();
    take_away(0, GGML_OP_SQR);
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    b = product(&rig, 0, x);
    c = ggml_sqr(rig.ctx, b);
    d = ggml_scale(rig.ctx, c, 3); /* device 0 goes on here */
    rig_expand(&rig, d);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, b), 0);
    /* Neither neighbour's: the first one that can, of equal ones. */
    assert_int_equal(rig_backend_of(&rig, c), 1);
    assert_int_equal(rig_backend_of(&rig, d), 0);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(d, 12);
    rig_close(&rig);
}

/*
 * The weight's operation is not for the device that has it: it stays open, and
 * goes where it can be run.
 */
static void
a_weight_whose_operation_its_device_lacks_goes_elsewhere(void **state)
{
    struct rig rig;
    struct ggml_tensor *w, *y;

    (void)state;
    sim_reset();
    take_away(0, GGML_OP_SQR);
    rig_open(&rig, 1, false);
    w = rig_weights(&rig, 1, 4, 1, 3);
    y = ggml_sqr(rig.ctx, w);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_compute(&rig);
    rig_expect(y, 9);
    rig_close(&rig);
}

static void
rope_does_not_follow_its_frequencies(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *pos, *freq, *b, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    pos = ggml_new_tensor_1d(rig.ctx, GGML_TYPE_I32, 1);
    ggml_set_input(pos);
    freq = rig_weights(&rig, 2, 2, 1, 1);
    b = ggml_reshape_3d(rig.ctx, product(&rig, 0, x), 4, 1, 1);
    y = ggml_rope_ext(rig.ctx, b, pos, freq, 4, 0, 0, 10000, 1, 0, 1, 0, 0);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 0);
    rig_close(&rig);
}

static void
a_weight_of_the_host_is_offloaded_for_many_rows_only(void **state)
{
    (void)state;
    for (int lacks = 0; lacks < 2; lacks++) {
        for (int64_t rows = 31; rows <= 32; rows++) {
            struct gb_sim_config config;
            struct rig rig;
            struct ggml_tensor *x, *y;
            const bool offloads = rows == 32 && lacks == 0;

            sim_reset();
            gb_sim_default(&config);
            config.without[GB_SIM_OFFLOAD_OP] = lacks != 0;
            assert_true(gb_sim_configure(0, 2, &config));
            rig_open(&rig, 2, false);
            x = ggml_new_tensor_2d(rig.ctx, GGML_TYPE_F32, 4, rows);
            ggml_set_input(x);
            y = product(&rig, 2, x);
            rig_expand(&rig, y);
            rig_alloc(&rig);
            assert_int_equal(rig_backend_of(&rig, y), offloads ? 0 : 2);
            rig_set(x, 1);
            rig_compute(&rig);
            rig_expect(y, 2);
            rig_close(&rig);
        }
    }
}

/* The example that was tried on the reference. */
static void
the_cpu_stops_what_comes_down_from_a_device(void **state)
{
    (void)state;
    for (int chosen = 0; chosen < 2; chosen++) {
        struct rig rig;
        struct ggml_tensor *x, *y, *n, *a, *o;

        sim_reset();
        rig_open(&rig, 1, false);
        x = rig_input(&rig, 4);
        y = product(&rig, 0, x);
        n = ggml_norm(rig.ctx, y, 1);
        if (chosen)
            rig_choose(&rig, n, 1);
        a = ggml_add(rig.ctx, n, y);
        o = ggml_scale(rig.ctx, a, 2);
        rig_expand(&rig, o);
        rig_alloc(&rig);
        assert_int_equal(rig_backend_of(&rig, y), 0);
        assert_int_equal(rig_backend_of(&rig, n), chosen);
        assert_int_equal(rig_backend_of(&rig, a), chosen);
        assert_int_equal(rig_backend_of(&rig, o), chosen);
        assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched),
                         1 + chosen);
        rig_set(x, 1);
        rig_compute(&rig);
        rig_expect(o, 4); /* the norm of equal numbers is 0 */
        rig_close(&rig);
    }
}

static void
of_equal_backends_the_preferred_one_is_taken(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 3, false);
    x = rig_vector(&rig, 4);
    y = ggml_sqr(rig.ctx, x);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 0);
    assert_int_equal(rig_backend_of(&rig, x), 0); /* with its reader */
    rig_close(&rig);
}

static void
most_sources_decide_where_no_neighbour_does(void **state)
{
    struct rig rig;
    struct ggml_tensor *a, *b, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    a = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 1);
    b = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 2);
    y = ggml_add(rig.ctx, a, b);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_compute(&rig);
    rig_expect(y, 3);
    rig_close(&rig);
}

static void
a_view_lies_where_its_source_does(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y, *v, *z;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    y = product(&rig, 0, x);
    v = ggml_reshape_2d(rig.ctx, y, 2, 2);
    z = rig_choose(&rig, ggml_sqr(rig.ctx, v), 1);
    rig_expand(&rig, z);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, v), 0);
    assert_int_equal(rig_backend_of(&rig, z), 1);
    assert_string_equal(z->src[0]->name, "Sim1# (reshaped)#0");
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(z, 4);
    rig_close(&rig);
}

static void
what_works_in_place_is_computed_where_its_memory_is(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y, *z;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    y = product(&rig, 0, x);
    z = rig_choose(&rig, ggml_sqr_inplace(rig.ctx, y), 1);
    rig_expand(&rig, z);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, z), 0);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(z, 4);
    rig_close(&rig);
}

static void
leafs_that_nobody_reads_and_views_alone_find_a_place(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *v, *lone;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    lone = rig_vector(&rig, 4);
    x = rig_vector(&rig, 4);
    v = ggml_reshape_2d(rig.ctx, x, 2, 2);
    rig_expand(&rig, lone);
    rig_expand(&rig, v);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, lone), 1);
    assert_int_equal(rig_backend_of(&rig, v), 1);
    assert_int_equal(ggml_backend_sched_get_n_splits(rig.sched), 1);
    rig_set(x, 5);
    rig_compute(&rig);
    rig_expect(v, 5);
    rig_close(&rig);
}

static void
a_slice_of_a_graph_reads_what_lies_elsewhere(void **state)
{
    struct rig rig;
    struct ggml_tensor *w, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    w = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 3);
    y = rig_choose(&rig, ggml_sqr(rig.ctx, w), 0);
    ggml_set_output(y);
    ggml_graph_add_node(rig.graph, y); /* and no leaf */
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, w), 1);
    rig_compute(&rig);
    rig_expect(y, 9);
    rig_close(&rig);
}

/*
 * Sources of a slice: in memory that the chosen backend can use, in memory of
 * another, in memory of nobody here, and not in memory yet.
 */
static void
a_slice_reads_what_lies_anywhere_or_nowhere(void **state)
{
    struct rig rig;
    struct ggml_tensor *own, *other, *nobodys, *none, *y[4];

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    own = rig_weights(&rig, 1, 4, 1, 2);
    other = rig_weights(&rig, 1, 4, 1, 3);
    nobodys = rig_data(&rig, ggml_backend_dev_buffer_type(sim_device(3)),
                       GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 4);
    none = rig_vector(&rig, 4);
    rig_choose(&rig, own, 1);
    rig_choose(&rig, other, 0); /* where it cannot be used */
    y[0] = rig_choose(&rig, ggml_sqr(rig.ctx, own), 1);
    y[1] = rig_choose(&rig, ggml_sqr(rig.ctx, other), 0);
    y[2] = rig_choose(&rig, ggml_sqr(rig.ctx, nobodys), 0);
    y[3] = rig_choose(&rig, ggml_sqr(rig.ctx, none), 1);
    for (int i = 0; i < 4; i++) {
        ggml_set_output(y[i]);
        ggml_graph_add_node(rig.graph, y[i]);
    }
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, own), 1);
    assert_int_equal(rig_backend_of(&rig, other), 1);
    assert_int_equal(rig_backend_of(&rig, nobodys), -1);
    assert_int_equal(rig_backend_of(&rig, none), 1);
    rig_set(none, 5);
    rig_compute(&rig);
    for (int i = 0; i < 4; i++)
        rig_expect(y[i], (float)((i + 2) * (i + 2)));
    rig_close(&rig);
}

/*
 * What works in place on a tensor that stands nowhere else; and a view without
 * an operation as a node.
 */
static void
a_slice_may_write_what_it_reads(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y, *v;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_vector(&rig, 4);
    y = ggml_sqr_inplace(rig.ctx, x);
    v = ggml_view_tensor(rig.ctx, y);
    ggml_set_output(y);
    ggml_graph_add_node(rig.graph, y);
    ggml_graph_add_node(rig.graph, v);
    rig_choose(&rig, y, 1);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, x), 1);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    assert_ptr_equal(v->data, x->data);
    rig_set(x, 3);
    rig_compute(&rig);
    rig_expect(y, 9);
    rig_expect(v, 9);
    rig_close(&rig);
}

/* An input that the graph itself changes is copied after that. */
static void
an_input_that_is_written_is_waited_for(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *w, *z;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_choose(&rig, rig_input(&rig, 4), 1);
    w = rig_choose(&rig, ggml_scale_inplace(rig.ctx, x, 2), 1);
    z = rig_choose(&rig, ggml_scale(rig.ctx, x, 3), 0);
    rig_expand(&rig, w);
    rig_expand(&rig, z);
    rig_alloc(&rig);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(z, 6);
    rig_close(&rig);
}

/* A source may be missing between others: places in the list are roles. */
static void
a_source_may_be_missing_between_others(void **state)
{
    (void)state;
    for (int backend = 0; backend < 3; backend++) {
        for (int64_t rows = 1; rows < 64; rows += 62) {
            struct rig rig;
            struct ggml_tensor *x, *a, *b;

            sim_reset();
            rig_open(&rig, 2, rows == 1);
            x = ggml_new_tensor_2d(rig.ctx, GGML_TYPE_F32, 4, rows);
            ggml_set_input(x);
            a = ggml_sqr(rig.ctx, x);
            a->src[2] = rig_weights(&rig, backend, 4, 1, 1);
            b = ggml_sqr(rig.ctx, a);
            b->src[2] = a->src[2];
            rig_expand(&rig, b);
            rig_alloc(&rig);
            assert_int_equal(rig_backend_of(&rig, b),
                             backend == 2 && rows > 32 ? 0 : backend);
            rig_set(x, 3);
            rig_compute(&rig);
            rig_expect(b, 81);
            rig_close(&rig);
        }
    }
}

/* The same without a weight: sources are counted. */
static void
missing_sources_are_not_counted(void **state)
{
    struct rig rig;
    struct ggml_tensor *a, *b, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    a = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 3);
    b = rig_data(&rig, ggml_backend_get_default_buffer_type(rig.backends[1]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 2);
    y = ggml_sqr(rig.ctx, a);
    y->src[2] = b;
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_compute(&rig);
    rig_expect(y, 9);
    rig_close(&rig);
}

/*
 * Two backends of one device, and a third: what the second of them would do
 * goes to the first, which is preferred, if that can do it.
 */
static void
of_twins_the_preferred_one_works(void **state)
{
    ggml_backend_t backends[4];
    struct ggml_tensor *w, *x, *a, *b, *c, *d;
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    backends[0] = sim_backend(1);
    backends[1] = sim_backend(0);
    backends[2] = sim_backend(0);
    backends[3] = rig.backends[0];
    ggml_backend_sched_free(rig.sched);
    rig.sched = ggml_backend_sched_new(backends, NULL, 4, 64, false);
    assert_non_null(rig.sched);
    w = rig_data(&rig, ggml_backend_get_default_buffer_type(backends[2]),
                 GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 2);
    x = rig_input(&rig, 4);
    a = ggml_sqr(rig.ctx, w);
    a->src[2] = w;
    b = ggml_add(rig.ctx, a, x); /* what the twin cannot use either */
    c = ggml_sqr(rig.ctx, b);
    d = ggml_sqr(rig.ctx, c);
    ggml_backend_sched_set_tensor_backend(rig.sched, a, backends[2]);
    ggml_backend_sched_set_tensor_backend(rig.sched, b, backends[2]);
    ggml_backend_sched_set_tensor_backend(rig.sched, c, backends[1]);
    ggml_backend_sched_set_tensor_backend(rig.sched, d, backends[0]);
    rig_expand(&rig, d);
    rig_alloc(&rig);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, a),
                     backends[1]);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, b),
                     backends[2]);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, c),
                     backends[1]);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, d),
                     backends[0]);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(d, 625);
    ggml_backend_sched_free(rig.sched);
    rig.sched = NULL;
    for (int i = 0; i < 3; i++)
        ggml_backend_free(backends[i]);
    rig_close(&rig);
}

/* ---- the client's choices ---- */

static void
a_choice_stands_until_the_reset(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = rig_input(&rig, 4);
    y = product(&rig, 0, x);
    rig_choose(&rig, y, 0);
    rig_choose(&rig, y, 1); /* the last one counts */
    assert_int_equal(rig_backend_of(&rig, y), 1);
    assert_int_equal(rig_backend_of(&rig, x), -1);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(y, 2);
    ggml_backend_sched_reset(rig.sched);
    assert_int_equal(rig_backend_of(&rig, y), -1);
    rig_close(&rig);
}

static void
a_choice_holds_when_compute_allocates(void **state)
{
    struct rig rig;
    struct ggml_tensor *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    y = rig_choose(
        &rig, ggml_sqr(rig.ctx, rig_weights(&rig, 0, 4, 1, 3)), 1);
    rig_expand(&rig, y);
    rig_compute(&rig);
    assert_int_equal(rig_backend_of(&rig, y), 1);
    rig_expect(y, 9);
    rig_close(&rig);
}

static void
a_choice_of_an_unknown_backend_has_no_effect(void **state)
{
    struct rig rig;
    struct ggml_tensor *y;
    ggml_backend_t other;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    other = sim_backend(1);
    y = ggml_sqr(rig.ctx, rig_input(&rig, 4));
    ggmlbackend_clear_failure();
    ggml_backend_sched_set_tensor_backend(rig.sched, y, other);
    assert_non_null(strstr(ggmlbackend_last_failure(), "Sim1"));
    assert_int_equal(rig_backend_of(&rig, y), -1);
    ggml_backend_sched_set_tensor_backend(rig.sched, y, NULL);
    ggml_backend_sched_set_tensor_backend(rig.sched, NULL, rig.backends[0]);
    assert_null(ggml_backend_sched_get_tensor_backend(rig.sched, NULL));
    ggml_backend_free(other);
    rig_close(&rig);
}

/* ---- what cannot be assigned ---- */

static void
expect_refusal(struct rig *rig, const char *a, const char *b, const char *c)
{
    static struct gb_sink sink;

    gb_sink_begin(&sink);
    assert_false(ggml_backend_sched_alloc_graph(rig->sched, rig->graph));
    gb_sink_end();
    assert_int_equal(sink.n, 1);
    assert_int_equal(sink.level, GGML_LOG_LEVEL_ERROR);
    assert_non_null(strstr(sink.text, a));
    assert_non_null(strstr(sink.text, b));
    assert_non_null(strstr(sink.text, c));
    assert_false(ggml_backend_sched_reserve(rig->sched, rig->graph));
    assert_int_equal(
        ggml_backend_sched_graph_compute(rig->sched, rig->graph),
        GGML_STATUS_FAILED);
}

static void
nothing(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith, int nth,
        void *data)
{
    (void)dst;
    (void)a;
    (void)ith;
    (void)nth;
    (void)data;
}

/* The scheduler works as before afterwards. */
static void
expect_works(struct rig *rig)
{
    struct ggml_tensor *x, *y;

    rig_restart(rig);
    x = rig_input(rig, 4);
    y = ggml_sqr(rig->ctx, x);
    rig_expand(rig, y);
    rig_alloc(rig);
    rig_set(x, 3);
    rig_compute(rig);
    rig_expect(y, 9);
}

static void
a_node_that_no_backend_supports_is_refused(void **state)
{
    struct rig rig;
    struct ggml_tensor *w, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    /* Only the host runs it, and the host cannot write to the device. */
    w = rig_weights(&rig, 0, 4, 1, 1);
    y = ggml_map_custom1_inplace(rig.ctx, w, nothing, 1, NULL);
    ggml_set_name(y, "mapped");
    rig_expand(&rig, y);
    expect_refusal(&rig, "mapped", "MAP_CUSTOM1", "Sim0, Sim1 and CPU");
    expect_works(&rig);
    rig_close(&rig);
}

static void
data_that_no_backend_can_write_is_not_written(void **state)
{
    (void)state;
    for (int n_devices = 0; n_devices <= 1; n_devices++) {
        struct rig rig;
        struct ggml_tensor *w, *y;

        sim_reset();
        rig_open(&rig, n_devices, false);
        w = rig_data(&rig, ggml_backend_dev_buffer_type(sim_device(3)),
                     GGML_BACKEND_BUFFER_USAGE_ANY, 4, 1, 1);
        y = ggml_sqr_inplace(rig.ctx, w);
        ggml_set_name(y, "far away");
        rig_expand(&rig, y);
        expect_refusal(&rig, "far away", "Sim3",
                       n_devices == 0 ? "none of CPU" : "Sim0 and CPU");
        expect_works(&rig);
        rig_close(&rig);
    }
}

static void
a_single_backend_is_asked_too(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    /* Without a plan, and with that of a graph of the same make. */
    for (int round = 0; round < 2; round++) {
        struct ggml_tensor *x, *y;

        rig_restart(&rig);
        x = rig_input(&rig, 4);
        /* An operation that the CPU does not have for these types. */
        y = ggml_sqr(rig.ctx, x);
        x->type = GGML_TYPE_I32;
        ggml_set_name(y, "odd");
        rig_expand(&rig, y);
        expect_refusal(&rig, "odd", "SQR", "none of CPU");
        assert_null(x->data);
        assert_null(y->data);
        expect_works(&rig);
    }
    rig_close(&rig);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_stays_where_it_is),
        cmocka_unit_test(an_input_belongs_to_the_last_backend),
        cmocka_unit_test(
            an_operation_goes_to_its_weight_and_others_follow_their_neighbours),
        cmocka_unit_test(what_a_device_cannot_run_is_passed_over),
        cmocka_unit_test(
            a_weight_whose_operation_its_device_lacks_goes_elsewhere),
        cmocka_unit_test(rope_does_not_follow_its_frequencies),
        cmocka_unit_test(a_weight_of_the_host_is_offloaded_for_many_rows_only),
        cmocka_unit_test(the_cpu_stops_what_comes_down_from_a_device),
        cmocka_unit_test(of_equal_backends_the_preferred_one_is_taken),
        cmocka_unit_test(most_sources_decide_where_no_neighbour_does),
        cmocka_unit_test(a_view_lies_where_its_source_does),
        cmocka_unit_test(what_works_in_place_is_computed_where_its_memory_is),
        cmocka_unit_test(leafs_that_nobody_reads_and_views_alone_find_a_place),
        cmocka_unit_test(a_slice_of_a_graph_reads_what_lies_elsewhere),
        cmocka_unit_test(a_slice_reads_what_lies_anywhere_or_nowhere),
        cmocka_unit_test(a_slice_may_write_what_it_reads),
        cmocka_unit_test(an_input_that_is_written_is_waited_for),
        cmocka_unit_test(a_source_may_be_missing_between_others),
        cmocka_unit_test(missing_sources_are_not_counted),
        cmocka_unit_test(of_twins_the_preferred_one_works),
        cmocka_unit_test(a_choice_stands_until_the_reset),
        cmocka_unit_test(a_choice_holds_when_compute_allocates),
        cmocka_unit_test(a_choice_of_an_unknown_backend_has_no_effect),
        cmocka_unit_test(a_node_that_no_backend_supports_is_refused),
        cmocka_unit_test(data_that_no_backend_can_write_is_not_written),
        cmocka_unit_test(a_single_backend_is_asked_too),
    };

    return cmocka_run_group_tests_name("assignment", tests, NULL, NULL);
}
