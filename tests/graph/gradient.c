/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/gradient.c - what a graph keeps for training, and resets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/graph/graph.h"

#include "tests/graph/node.h"
#include "tests/util/sink.h"

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    ctx = tensors_context(100, 1 << 20);
    ggml_set_no_alloc(ctx, false);
    return ctx == NULL;
}

static int
end(void **state)
{
    (void)state;
    gb_sink_end();
    ggml_free(ctx);
    return 0;
}

static struct ggml_tensor *
filled(int64_t n, float value)
{
    struct ggml_tensor *t = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n);

    for (int64_t i = 0; i < n; i++)
        ((float *)t->data)[i] = value;
    return t;
}

static void
set_acc(struct ggml_cgraph *g, struct ggml_tensor *t, struct ggml_tensor *acc)
{
    g->grad_accs[ggml_hash_find(&g->visited_hash_set, t)] = acc;
}

static float
at(const struct ggml_tensor *t, int i)
{
    return ((const float *)t->data)[i];
}

static void
accumulators_become_zero_and_those_of_losses_one(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_tensor *p = filled(3, 5), *loss = node(ctx, p, NULL);
    struct ggml_tensor *p_acc = filled(3, 7), *loss_acc = filled(1, 7);

    (void)state;
    ggml_set_param(ctx, p);
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    set_acc(g, p, p_acc);
    set_acc(g, loss, loss_acc);
    ggml_graph_reset(g);
    for (int i = 0; i < 3; i++) {
        assert_true(at(p_acc, i) == 0.0f);
        assert_true(at(p, i) == 5.0f);
    }
    assert_true(at(loss_acc, 0) == 1.0f);
    assert_int_equal(sink.n, 0);
}

static void
moments_of_a_step_become_zero(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_tensor *step = node(ctx, filled(2, 1), filled(2, 2));

    (void)state;
    step->op = GGML_OP_OPT_STEP_ADAMW;
    step->src[2] = filled(2, 3);
    step->src[3] = filled(2, 4);
    ggml_build_forward_expand(g, step);
    ggml_graph_reset(g);
    assert_true(at(step->src[0], 1) == 1.0f && at(step->src[1], 1) == 2.0f);
    assert_true(at(step->src[2], 1) == 0.0f && at(step->src[3], 1) == 0.0f);
}

static void
a_graph_without_gradients_is_not_reset(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    (void)state;
    ggml_graph_reset(g);
    assert_int_equal(sink.n, 1);
}

static void
a_tensor_outside_has_no_gradient(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_cgraph *plain = ggml_new_graph(ctx);
    struct ggml_tensor *t = filled(1, 1);

    (void)state;
    assert_null(ggml_graph_get_grad(g, t));
    assert_null(ggml_graph_get_grad_acc(g, t));
    assert_null(ggml_graph_get_grad(g, NULL));
    assert_null(ggml_graph_get_grad(plain, t));
    assert_int_equal(sink.n, 0);
}

static void
a_slot_that_is_taken_again_has_no_gradient(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_tensor *t = node(ctx, NULL, NULL);

    (void)state;
    ggml_build_forward_expand(g, t);
    set_acc(g, t, t);
    ggml_graph_clear(g);
    assert_null(ggml_graph_get_grad_acc(g, t));
    ggml_build_forward_expand(g, t);
    assert_null(ggml_graph_get_grad_acc(g, t));
}

static void
what_cannot_be_reset_is_logged(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 10, true);
    struct ggml_tensor *loss = node(ctx, NULL, NULL), *bare, *two;

    (void)state;
    ggml_set_no_alloc(ctx, true);
    bare = leaf(ctx);
    ggml_set_no_alloc(ctx, false);
    two = filled(2, 7);
    ggml_set_loss(loss);
    ggml_build_forward_expand(g, loss);
    set_acc(g, loss, bare);
    ggml_graph_reset(g);
    assert_int_equal(sink.n, 1);
    set_acc(g, loss, two);
    ggml_graph_reset(g);
    assert_int_equal(sink.n, 2);
    assert_true(at(two, 0) == 7.0f);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(accumulators_become_zero_and_those_of_losses_one),
        TEST(moments_of_a_step_become_zero),
        TEST(a_graph_without_gradients_is_not_reset),
        TEST(a_tensor_outside_has_no_gradient),
        TEST(a_slot_that_is_taken_again_has_no_gradient),
        TEST(what_cannot_be_reset_is_logged),
    };
#undef TEST

    return cmocka_run_group_tests_name("gradients", tests, NULL, NULL);
}
