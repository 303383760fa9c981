/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/expand.c - which tensors a graph gets, and in which order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/graph/check.h"
#include "lib/graph/graph.h"

#include "tests/graph/node.h"
#include "tests/util/random.h"
#include "tests/util/sink.h"

#include <pthread.h>
#include <string.h>

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    ctx = tensors_context(5000, 1 << 20);
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

static void
sources_come_first_and_in_their_order(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *x = leaf(ctx), *y = leaf(ctx);
    struct ggml_tensor *a = node(ctx, y, x), *b = node(ctx, x, NULL);
    struct ggml_tensor *c = node(ctx, a, b);

    (void)state;
    ggml_build_forward_expand(g, c);
    assert_int_equal(g->n_nodes, 3);
    assert_ptr_equal(g->nodes[0], a);
    assert_ptr_equal(g->nodes[1], b);
    assert_ptr_equal(g->nodes[2], c);
    assert_int_equal(g->n_leafs, 2);
    assert_ptr_equal(g->leafs[0], y);
    assert_ptr_equal(g->leafs[1], x);
    assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
}

static void
the_other_order_visits_sources_from_the_last(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *a = node(ctx, NULL, NULL), *b = node(ctx, NULL, NULL);

    (void)state;
    g->order = GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT;
    ggml_build_forward_expand(g, node(ctx, a, b));
    assert_ptr_equal(g->nodes[0], b);
    assert_ptr_equal(g->nodes[1], a);
}

static void
unnamed_tensors_are_named_by_their_place(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *x = leaf(ctx), *y = ggml_set_name(leaf(ctx), "y");
    struct ggml_tensor *z = leaf(ctx);
    struct ggml_tensor *a = node(ctx, x, y), *b = node(ctx, a, z);

    (void)state;
    ggml_set_name(a, "a");
    ggml_build_forward_expand(g, b);
    assert_string_equal(x->name, "leaf_0");
    assert_string_equal(y->name, "y");
    assert_string_equal(z->name, "leaf_2");
    assert_string_equal(a->name, "a");
    assert_string_equal(b->name, "node_1");
}

static void
a_parameter_is_a_node(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *p = leaf(ctx), *a = node(ctx, p, NULL);

    (void)state;
    ggml_set_param(ctx, p);
    ggml_build_forward_expand(g, a);
    assert_int_equal(g->n_leafs, 0);
    assert_int_equal(g->n_nodes, 2);
    assert_ptr_equal(g->nodes[0], p);
}

static void
a_second_expansion_adds_what_is_new(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *x = leaf(ctx), *a = node(ctx, x, x);
    struct ggml_tensor *b = node(ctx, a, x);

    (void)state;
    ggml_build_forward_expand(g, a);
    ggml_build_forward_expand(g, b);
    ggml_build_forward_expand(g, a);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->n_leafs, 1);
    assert_ptr_equal(ggml_graph_node(g, -1), b);
}

static void
a_node_that_is_its_own_source_ends(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *x = leaf(ctx), *a = node(ctx, x, NULL);

    (void)state;
    a->src[1] = a;
    ggml_build_forward_expand(g, a);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
}

static void
what_a_view_shares_is_not_followed(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *x = leaf(ctx);

    (void)state;
    ggml_build_forward_expand(g, ggml_view_tensor(ctx, x));
    assert_int_equal(g->n_leafs, 1);
    assert_ptr_not_equal(g->leafs[0], x);
}

static void
a_leaf_with_sources_stays_a_leaf(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 2, false);
    struct ggml_tensor *x = leaf(ctx), *y = leaf(ctx);

    (void)state;
    x->src[0] = y;
    ggml_build_forward_expand(g, node(ctx, x, NULL));
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->n_leafs, 2);
    assert_ptr_equal(g->leafs[0], y);
    assert_false(gb_graph_is_failed(g));
}

static struct ggml_tensor *
chain(struct ggml_context *where, int n)
{
    struct ggml_tensor *t = leaf(where);

    for (int i = 0; i < n; i++)
        t = node(where, t, t);
    return t;
}

struct expansion {
    struct ggml_cgraph *graph;
    struct ggml_tensor *tensor;
};

static void *
expand(void *data)
{
    const struct expansion *e = data;

    ggml_build_forward_expand(e->graph, e->tensor);
    return NULL;
}

/* On a stack that has a byte or two for each of the nodes. */
static void
expand_on_a_small_stack(struct expansion *expansion)
{
    pthread_attr_t attributes;
    pthread_t thread;

    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, 256 * 1024), 0);
    assert_int_equal(pthread_create(&thread, &attributes, expand, expansion),
                     0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
}

static void
a_chain_of_a_hundred_thousand_nodes_needs_no_deep_stack(void **state)
{
    enum { n = 100000 };
    struct ggml_context *large =
        tensors_context(n + 1, ggml_graph_overhead_custom(n, false));
    struct ggml_cgraph *g = ggml_new_graph_custom(large, n, false);
    struct ggml_tensor *last = chain(large, n);

    (void)state;
    expand_on_a_small_stack(&(struct expansion){ g, last });
    assert_false(gb_graph_is_failed(g));
    assert_int_equal(g->n_nodes, n);
    assert_ptr_equal(ggml_graph_node(g, -1), last);
    assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
    ggml_free(large);
}

static void
a_full_graph_takes_exactly_its_size(void **state)
{
    (void)state;
    for (int size = 0; size < 6; size++) {
        for (int n = 0; n < 6; n++) {
            struct ggml_cgraph *g =
                ggml_new_graph_custom(ctx, (size_t)size, false);
            const bool fits = n <= size && size >= 1;

            gb_sink_begin(&sink);
            ggml_build_forward_expand(g, chain(ctx, n));
            assert_int_equal(gb_graph_is_failed(g), !fits);
            assert_int_equal(sink.n, !fits);
            if (fits)
                assert_int_equal(g->n_nodes + g->n_leafs, n + 1);
            else
                assert_string_not_equal(gb_graph_failure(g), "");
            assert_true(g->n_nodes <= size && g->n_leafs <= size);
        }
    }
}

static void
more_leafs_than_room_fail_the_graph(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 3, false);
    struct ggml_tensor *t = node(ctx, NULL, NULL);

    (void)state;
    for (int i = 0; i < 4; i++)
        t->src[i] = leaf(ctx);
    ggml_build_forward_expand(g, t);
    assert_true(gb_graph_is_failed(g));
    assert_int_equal(g->n_leafs, 3);
    assert_int_equal(g->n_nodes, 0);
    ggml_graph_clear(g);
    assert_false(gb_graph_is_failed(g));
    t->src[3] = NULL;
    ggml_build_forward_expand(g, t);
    assert_false(gb_graph_is_failed(g));
    assert_int_equal(g->n_nodes, 1);
}

static void
a_failed_node_fails_the_graph_with_its_reason(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *bad = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -1);
    struct ggml_tensor *x = leaf(ctx), *top = node(ctx, x, bad);

    (void)state;
    assert_int_equal(sink.n, 1);
    ggml_build_forward_expand(g, top);
    assert_int_equal(sink.n, 1);
    assert_true(gb_graph_is_failed(g));
    assert_non_null(strstr(gb_graph_failure(g), "new_tensor"));
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    assert_ptr_equal(ggml_graph_node(g, -1), top);
}

static void
null_fails_the_graph(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    (void)state;
    ggml_build_forward_expand(g, NULL);
    assert_true(gb_graph_is_failed(g));
    ggml_build_forward_expand(NULL, leaf(ctx));
    assert_int_equal(sink.n, 2);
}

static void
a_slice_is_not_expanded(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_cgraph slice;

    (void)state;
    ggml_build_forward_expand(g, chain(ctx, 3));
    slice = ggml_graph_view(g, 0, 2);
    ggml_build_forward_expand(&slice, leaf(ctx));
    assert_int_equal(sink.n, 1);
    assert_int_equal(slice.n_nodes, 2);
}

/* The order that the interface describes, written as it describes it. */
static int
visit_plainly(struct ggml_tensor *t, bool is_reversed,
              struct ggml_tensor **order, int n)
{
    for (int i = 0; i < n; i++) {
        if (order[i] == t)
            return n;
    }
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        struct ggml_tensor *src =
            t->src[is_reversed ? GGML_MAX_SRC - 1 - i : i];

        if (src != NULL)
            n = visit_plainly(src, is_reversed, order, n);
    }
    order[n++] = t;
    return n;
}

static void
any_graph_has_the_order_of_a_plain_recursion(void **state)
{
    enum { n = 60 };
    struct ggml_tensor *all[n], *order[n];
    struct gb_random random;

    (void)state;
    gb_random_init(&random, gb_test_seed(1));
    for (int round = 0; round < 50; round++) {
        struct ggml_cgraph *g = ggml_new_graph_custom(ctx, n, false);
        const bool is_reversed = round % 2 == 1;
        int n_order, next_node = 0, next_leaf = 0;

        for (int i = 0; i < n; i++) {
            all[i] = i < 5 ? leaf(ctx) : node(ctx, NULL, NULL);
            for (int s = 0; i >= 5 && s < GGML_MAX_SRC; s++) {
                if (gb_random_u64(&random) % (s < 4 ? 3 : 9) == 0)
                    all[i]->src[s] = all[gb_random_u64(&random) % (size_t)i];
            }
        }
        if (is_reversed)
            g->order = GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT;
        n_order = visit_plainly(all[n - 1], is_reversed, order, 0);
        ggml_build_forward_expand(g, all[n - 1]);
        assert_false(gb_graph_is_failed(g));
        assert_int_equal(g->n_nodes + g->n_leafs, n_order);
        for (int i = 0; i < n_order; i++) {
            if (order[i]->op == GGML_OP_NONE)
                assert_ptr_equal(g->leafs[next_leaf++], order[i]);
            else
                assert_ptr_equal(g->nodes[next_node++], order[i]);
        }
        assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
    }
}

static void
what_is_not_whole_is_noticed(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *t = chain(ctx, 3);

    (void)state;
    ggml_build_forward_expand(g, t);
    ggml_graph_add_node(g, t);
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    g->n_nodes--;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
    ggml_graph_add_node(g, node(ctx, leaf(ctx), NULL));
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    g->n_nodes = -1;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
}

/* Counts and lists that a client has spoilt. */
static void
counts_that_cannot_be_are_noticed(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 4, false);
    struct ggml_cgraph slice;

    (void)state;
    ggml_build_forward_expand(g, chain(ctx, 2));
    assert_int_equal(gb_graph_check(g), GGML_STATUS_SUCCESS);
    g->n_leafs = -1;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    g->n_leafs = 5;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    g->n_leafs = 1;
    g->n_nodes = 5;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    assert_non_null(strstr(sink.text, "a graph of 5 nodes, with room for 4"));
    g->n_nodes = 2;
    g->leafs[0] = g->nodes[0];
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    assert_non_null(strstr(sink.text, "is there twice"));
    /* Nodes of a slice may have sources outside, but none behind themselves. */
    slice = ggml_graph_view(g, 1, 2);
    assert_int_equal(gb_graph_check(&slice), GGML_STATUS_SUCCESS);
    slice = ggml_graph_view(g, 0, 2);
    slice.nodes[0]->src[0] = slice.nodes[1];
    assert_int_equal(gb_graph_check(&slice), GGML_STATUS_FAILED);
}

static void
a_failed_tensor_in_a_list_is_noticed(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 4, false);

    (void)state;
    ggml_build_forward_expand(g, chain(ctx, 1));
    g->nodes[0] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -1);
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
    assert_non_null(strstr(sink.text, "node 0: new_tensor"));
    g->nodes[0] = NULL;
    assert_int_equal(gb_graph_check(g), GGML_STATUS_FAILED);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(sources_come_first_and_in_their_order),
        TEST(the_other_order_visits_sources_from_the_last),
        TEST(unnamed_tensors_are_named_by_their_place),
        TEST(a_parameter_is_a_node),
        TEST(a_second_expansion_adds_what_is_new),
        TEST(a_node_that_is_its_own_source_ends),
        TEST(what_a_view_shares_is_not_followed),
        TEST(a_leaf_with_sources_stays_a_leaf),
        TEST(a_chain_of_a_hundred_thousand_nodes_needs_no_deep_stack),
        TEST(a_full_graph_takes_exactly_its_size),
        TEST(more_leafs_than_room_fail_the_graph),
        TEST(a_failed_node_fails_the_graph_with_its_reason),
        TEST(null_fails_the_graph),
        TEST(a_slice_is_not_expanded),
        TEST(any_graph_has_the_order_of_a_plain_recursion),
        TEST(what_is_not_whole_is_noticed),
        TEST(counts_that_cannot_be_are_noticed),
        TEST(a_failed_tensor_in_a_list_is_noticed),
    };
#undef TEST

    return cmocka_run_group_tests_name("expanding", tests, NULL, NULL);
}
