/* SPDX-License-Identifier: MIT */
/*
 * tests/sched/split.c - where graphs are cut, and what is copied there.
 */
#include "tests/sched/rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int
n_splits(const struct rig *rig)
{
    return ggml_backend_sched_get_n_splits(rig->sched);
}

static void
a_copy_is_named_after_its_backend_source_and_turn(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    ggml_set_name(x, "x");
    y = rig_choose(&rig, ggml_sqr(rig.ctx, x), 0);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_ptr_not_equal(y->src[0], x);
    assert_string_equal(y->src[0]->name, "Sim0#x#0");
    assert_int_equal(y->src[0]->op, GGML_OP_NONE);
    rig_close(&rig);
}

static void
a_long_name_is_cut(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;
    char name[GGML_MAX_NAME];

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    memset(name, 'n', sizeof(name));
    name[sizeof(name) - 1] = '\0';
    ggml_set_name(x, name);
    y = rig_choose(&rig, ggml_sqr(rig.ctx, x), 0);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_memory_equal(y->src[0]->name, "Sim0#", 5);
    assert_memory_equal(y->src[0]->name + 5, name, GGML_MAX_NAME - 6);
    assert_int_equal(y->src[0]->name[GGML_MAX_NAME - 1], '\0');
    rig_close(&rig);
}

static void
what_two_splits_of_a_backend_read_is_copied_once(void **state)
{
    struct gb_sim_counters before, after;
    struct rig rig;
    struct ggml_tensor *x, *a, *b, *c;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    a = rig_choose(&rig, ggml_scale(rig.ctx, x, 2), 0);
    b = rig_choose(&rig, ggml_scale(rig.ctx, a, 2), 1);
    c = rig_choose(&rig, ggml_add(rig.ctx, b, x), 0);
    rig_expand(&rig, c);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 3);
    assert_ptr_equal(a->src[0], c->src[1]);
    rig_set(x, 1);
    gb_sim_count(&before);
    rig_compute(&rig);
    gb_sim_count(&after);
    assert_int_equal(after.set - before.set, 2); /* x, b */
    rig_expect(c, 5);
    rig_close(&rig);
}

/* N results of the CPU, all added up on the device. */
static int
splits_for(int n)
{
    struct rig rig;
    struct ggml_tensor *x, *sum = NULL, *parts[32];
    int result;

    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    for (int i = 0; i < n; i++) {
        parts[i] = rig_choose(&rig, ggml_scale(rig.ctx, x, (float)i), 1);
        ggml_build_forward_expand(rig.graph, parts[i]);
    }
    for (int i = 1; i < n; i++)
        sum = rig_choose(
            &rig, ggml_add(rig.ctx, i > 1 ? sum : parts[0], parts[i]), 0);
    rig_expand(&rig, sum);
    rig_alloc(&rig);
    result = n_splits(&rig);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(sum, (float)(n * (n - 1) / 2));
    rig_close(&rig);
    return result;
}

static void
a_split_with_ten_inputs_is_followed_by_another(void **state)
{
    (void)state;
    assert_int_equal(splits_for(9), 2);
    assert_int_equal(splits_for(10), 2);
    assert_int_equal(splits_for(11), 3);
    assert_int_equal(splits_for(20), 3);
    assert_int_equal(splits_for(21), 4);
}

/* Nine inputs, and then a node that needs three more at once. */
static void
a_node_that_needs_several_inputs_near_the_limit_gets_them(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *q, *k, *v, *sum = NULL, *y, *parts[9];

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 64);
    for (int i = 0; i < 9; i++) {
        parts[i] = rig_choose(&rig, ggml_scale(rig.ctx, x, (float)i), 1);
        ggml_build_forward_expand(rig.graph, parts[i]);
    }
    q = rig_choose(&rig, ggml_scale(rig.ctx, x, 1), 1);
    k = rig_choose(&rig, ggml_scale(rig.ctx, x, 2), 1);
    v = rig_choose(&rig, ggml_scale(rig.ctx, x, 3), 1);
    ggml_build_forward_expand(rig.graph, q);
    ggml_build_forward_expand(rig.graph, k);
    ggml_build_forward_expand(rig.graph, v);
    for (int i = 1; i < 9; i++)
        sum = rig_choose(
            &rig, ggml_add(rig.ctx, i > 1 ? sum : parts[0], parts[i]), 0);
    rig_expand(&rig, sum);
    y = rig_choose(&rig,
                   ggml_flash_attn_ext(rig.ctx, q, k,
                                       v, NULL, 1, 0, 0), 0);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 2);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(sum, 36);
    rig_expect(y, 3); /* there is one value to attend to */
    rig_close(&rig);
}

static void
each_offloaded_weight_begins_a_split(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = ggml_new_tensor_2d(rig.ctx, GGML_TYPE_F32, 4, 32);
    ggml_set_input(x);
    y = x;
    for (int i = 0; i < 3; i++)
        y = ggml_mul_mat(rig.ctx, rig_weights(&rig, 1, 4, 4, 0.5f), y);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 3);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(y, 8);
    rig_close(&rig);
}

static void
a_strided_view_is_copied_with_its_strides(void **state)
{
    const float in[6] = { 1, 2, 3, 4, 5, 6 };
    const float expected[6] = { 2, 8, 4, 10, 6, 12 };
    float out[6];
    struct rig rig;
    struct ggml_tensor *x, *y, *t, *z;

    (void)state;
    sim_reset();
    rig_open(&rig, 2, false);
    x = ggml_new_tensor_2d(rig.ctx, GGML_TYPE_F32, 3, 2);
    ggml_set_input(x);
    y = rig_choose(&rig, ggml_scale(rig.ctx, x, 2), 0);
    t = ggml_transpose(rig.ctx, y);
    z = rig_choose(&rig, ggml_cont(rig.ctx, t), 1);
    rig_expand(&rig, z);
    rig_alloc(&rig);
    assert_int_equal(z->src[0]->nb[0], t->nb[0]);
    assert_int_equal(z->src[0]->nb[1], t->nb[1]);
    ggml_backend_tensor_set(x, in, 0, sizeof(in));
    rig_compute(&rig);
    ggml_backend_tensor_get(z, out, 0, sizeof(out));
    assert_memory_equal(out, expected, sizeof(out));
    rig_close(&rig);
}

static void
views_stay_in_the_split_that_they_fall_into(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *v, *a, *w, *b;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    x = rig_input(&rig, 4);
    v = ggml_reshape_2d(rig.ctx, x, 2, 2); /* before all that computes */
    a = rig_choose(&rig, ggml_scale(rig.ctx, v, 2), 0);
    w = ggml_reshape_1d(rig.ctx, x, 4);    /* of the CPU, between */
    b = rig_choose(&rig, ggml_add(rig.ctx, ggml_reshape_1d(rig.ctx, a, 4), w),
                   0);
    rig_expand(&rig, b);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 1);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(b, 3);
    rig_close(&rig);
}

static void
memory_that_both_can_use_is_not_copied(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;
    ggml_backend_t cpus[2];

    (void)state;
    sim_reset();
    rig_open(&rig, 0, false);
    cpus[0] = ggml_backend_cpu_init();
    cpus[1] = rig.backends[0];
    ggml_backend_sched_free(rig.sched);
    rig.sched = ggml_backend_sched_new(cpus, NULL, 2, 10, false);
    x = rig_input(&rig, 4);
    y = ggml_sqr(rig.ctx, x);
    rig_expand(&rig, y);
    /* What is chosen moves to the preferred backend in the same memory. */
    ggml_backend_sched_set_tensor_backend(rig.sched, y, cpus[1]);
    rig_alloc(&rig);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, y),
                     cpus[0]);
    assert_ptr_equal(ggml_backend_sched_get_tensor_backend(rig.sched, x),
                     cpus[1]);
    assert_ptr_equal(y->src[0], x);
    assert_int_equal(n_splits(&rig), 1);
    /* One buffer is enough, and counted once. */
    assert_int_not_equal(
        ggml_backend_sched_get_buffer_size(rig.sched, cpus[0]), 0);
    assert_int_equal(
        ggml_backend_sched_get_buffer_size(rig.sched, cpus[1]), 0);
    rig_set(x, 3);
    rig_compute(&rig);
    rig_expect(y, 9);
    ggml_backend_sched_free(rig.sched);
    rig.sched = NULL;
    ggml_backend_free(cpus[0]);
    rig_close(&rig);
}

static void
hundreds_of_splits_are_no_limit(void **state)
{
    struct rig rig;
    struct ggml_tensor *x, *y;

    (void)state;
    sim_reset();
    rig_open(&rig, 4, false);
    x = rig_input(&rig, 4);
    y = x;
    for (int i = 0; i < 200; i++)
        y = rig_choose(&rig, ggml_add(rig.ctx, y, x), i % 5);
    rig_expand(&rig, y);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 200);
    rig_set(x, 1);
    rig_compute(&rig);
    rig_expect(y, 201);
    rig_close(&rig);
}

static void
an_empty_graph_has_no_splits(void **state)
{
    struct rig rig;

    (void)state;
    sim_reset();
    rig_open(&rig, 1, false);
    rig_alloc(&rig);
    assert_int_equal(n_splits(&rig), 0);
    rig_compute(&rig);
    rig_close(&rig);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_is_named_after_its_backend_source_and_turn),
        cmocka_unit_test(a_long_name_is_cut),
        cmocka_unit_test(what_two_splits_of_a_backend_read_is_copied_once),
        cmocka_unit_test(a_split_with_ten_inputs_is_followed_by_another),
        cmocka_unit_test(
            a_node_that_needs_several_inputs_near_the_limit_gets_them),
        cmocka_unit_test(each_offloaded_weight_begins_a_split),
        cmocka_unit_test(a_strided_view_is_copied_with_its_strides),
        cmocka_unit_test(views_stay_in_the_split_that_they_fall_into),
        cmocka_unit_test(memory_that_both_can_use_is_not_copied),
        cmocka_unit_test(hundreds_of_splits_are_no_limit),
        cmocka_unit_test(an_empty_graph_has_no_splits),
    };

    return cmocka_run_group_tests_name("splits", tests, NULL, NULL);
}
