/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/graph.c - making, copying and asking graphs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lib/graph/check.h"
#include "lib/graph/graph.h"

#include "tests/graph/node.h"
#include "tests/util/sink.h"

#include <limits.h>
#include <string.h>

static struct gb_sink sink;
static struct ggml_context *ctx;

static int
begin(void **state)
{
    (void)state;
    gb_sink_begin(&sink);
    ctx = tensors_context(100, 1 << 20);
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

/* x, a = x + x, b = a + x */
static struct ggml_tensor *
small(struct ggml_cgraph *graph)
{
    struct ggml_tensor *x = ggml_set_name(leaf(ctx), "x");
    struct ggml_tensor *a = ggml_set_name(node(ctx, x, x), "a");
    struct ggml_tensor *b = ggml_set_name(node(ctx, a, x), "b");

    ggml_build_forward_expand(graph, b);
    return b;
}

static void
the_overhead_is_what_a_graph_takes(void **state)
{
    static const struct {
        size_t size;
        bool grads;
        size_t bytes;
    } cases[] = {
        /* On ILP32: headers of 24 and 44, twice 4 bytes for each node, and of
         * the hash set's 4099 or 16411 places 4 bytes and a bit, with
         * gradients 12 bytes. */
        { 2048, false, SIZE_MAX > UINT32_MAX ? 66192 : 33364 },
        { 2048, true, SIZE_MAX > UINT32_MAX ? 131776 : 66156 },
        { 8192, false, SIZE_MAX > UINT32_MAX ? 264528 : 133300 },
    };

    (void)state;
    assert_int_equal(ggml_graph_overhead(), cases[0].bytes);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const size_t used = ggml_used_mem(ctx);

        assert_int_equal(
            ggml_graph_overhead_custom(cases[i].size, cases[i].grads),
            cases[i].bytes);
        assert_non_null(
            ggml_new_graph_custom(ctx, cases[i].size, cases[i].grads));
        assert_int_equal(ggml_used_mem(ctx) - used, cases[i].bytes);
    }
}

static void
a_graph_fits_where_its_overhead_is_left(void **state)
{
    (void)state;
    for (size_t size = 0; size < 300; size++) {
        for (int grads = 0; grads < 2; grads++) {
            const size_t bytes = ggml_graph_overhead_custom(size, grads != 0);
            struct ggml_context *exact = tensors_context(0, bytes);
            struct ggml_context *less = tensors_context(0, bytes - 16);

            assert_non_null(ggml_new_graph_custom(exact, size, grads != 0));
            assert_null(ggml_new_graph_custom(less, size, grads != 0));
            ggml_free(exact);
            ggml_free(less);
        }
    }
}

static void
a_size_that_cannot_be_gives_no_graph(void **state)
{
    static const size_t sizes[] = { (size_t)INT_MAX + 1, SIZE_MAX,
                                    SIZE_MAX / 2, SIZE_MAX / 16 + 1 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        assert_int_equal(ggml_graph_overhead_custom(sizes[i], true), 0);
        assert_null(ggml_new_graph_custom(ctx, sizes[i], false));
    }
    assert_null(ggml_new_graph_custom(ctx, INT_MAX, false));
    assert_null(ggml_new_graph(NULL));
}

static void
a_new_graph_is_empty(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 100, true);

    (void)state;
    assert_int_equal(ggml_graph_size(g), 100);
    assert_int_equal(ggml_graph_n_nodes(g), 0);
    assert_int_equal(g->n_leafs, 0);
    assert_int_equal(g->visited_hash_set.size, 257);
    for (size_t i = 0; i < g->visited_hash_set.size; i++) {
        assert_false(ggml_bitset_get(g->visited_hash_set.used, i));
        assert_null(g->grads[i]);
        assert_null(g->grad_accs[i]);
    }
    assert_null(ggml_new_graph(ctx)->grads);
    assert_false(gb_graph_is_failed(g));
    assert_string_equal(gb_graph_failure(g), "");
}

static void
nodes_are_counted_from_both_ends(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *b = small(g);

    (void)state;
    assert_ptr_equal(ggml_graph_nodes(g)[1], b);
    assert_ptr_equal(ggml_graph_node(g, 1), b);
    assert_ptr_equal(ggml_graph_node(g, -1), b);
    assert_ptr_equal(ggml_graph_node(g, -2), ggml_graph_node(g, 0));
    assert_int_equal(sink.n, 0);
    assert_null(ggml_graph_node(g, 2));
    assert_null(ggml_graph_node(g, -3));
    assert_null(ggml_graph_node(g, INT_MIN));
    assert_int_equal(sink.n, 3);
}

static void
tensors_are_found_by_name_leafs_first(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *b = small(g);

    (void)state;
    assert_ptr_equal(ggml_graph_get_tensor(g, "b"), b);
    assert_ptr_equal(ggml_graph_get_tensor(g, "x"), g->leafs[0]);
    assert_null(ggml_graph_get_tensor(g, "y"));
    ggml_set_name(b, "x");
    assert_ptr_equal(ggml_graph_get_tensor(g, "x"), g->leafs[0]);
}

static void
clearing_takes_all_out(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *b = small(g);

    (void)state;
    gb_graph_set_failed(g);
    ggml_graph_clear(g);
    assert_int_equal(g->n_nodes + g->n_leafs, 0);
    assert_false(gb_graph_is_failed(g));
    ggml_build_forward_expand(g, b);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->n_leafs, 1);
}

static void
an_order_that_was_set_outlives_a_failure(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    (void)state;
    g->order = GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT;
    gb_graph_set_failed(g);
    assert_true(gb_graph_is_failed(g));
    assert_int_equal(gb_graph_order(g), GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT);
    ggml_graph_clear(g);
    assert_int_equal(g->order, GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT);
}

static void
a_duplicate_has_the_same_tensors(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_tensor *b = small(g), *grad = leaf(ctx), *acc = leaf(ctx);
    const size_t slot = ggml_hash_find(&g->visited_hash_set, b);
    struct ggml_cgraph *copy;

    (void)state;
    g->grads[slot] = grad;
    g->grad_accs[slot] = acc;
    copy = ggml_graph_dup(ctx, g);
    assert_int_equal(copy->size, 50);
    assert_int_equal(copy->n_nodes, 2);
    assert_int_equal(copy->n_leafs, 1);
    assert_ptr_equal(copy->nodes[1], b);
    assert_ptr_equal(ggml_graph_get_grad(copy, b), grad);
    assert_ptr_equal(ggml_graph_get_grad_acc(copy, b), acc);
    assert_null(ggml_graph_get_grad(copy, copy->nodes[0]));
    assert_int_equal(gb_graph_check(copy), GGML_STATUS_SUCCESS);
    ggml_build_forward_expand(copy, b);
    assert_int_equal(copy->n_nodes, 2);
}

static void
gradients_are_hashed_again_in_a_larger_graph(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_cgraph *larger = ggml_new_graph_custom(ctx, 500, true);
    struct ggml_tensor *b = small(g), *grad = leaf(ctx);

    (void)state;
    g->grads[ggml_hash_find(&g->visited_hash_set, b)] = grad;
    ggml_graph_cpy(g, larger);
    assert_ptr_equal(ggml_graph_get_grad(larger, b), grad);
    assert_int_equal(larger->size, 500);
}

static void
a_copy_into_a_used_graph_keeps_what_its_set_had(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_cgraph *used = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_tensor *b = small(g), *other = leaf(ctx), *grad = leaf(ctx);

    (void)state;
    g->grads[ggml_hash_find(&g->visited_hash_set, b)] = grad;
    ggml_build_forward_expand(used, other);
    ggml_graph_cpy(g, used);
    assert_ptr_equal(ggml_graph_get_grad(used, b), grad);
    assert_true(ggml_hash_contains(&used->visited_hash_set, other));
    assert_true(ggml_hash_contains(&used->visited_hash_set, used->nodes[0]));
    assert_int_equal(used->n_nodes, 2);
    assert_int_equal(used->n_leafs, 1);
}

static void
a_slice_is_copied_as_its_nodes(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, false);
    struct ggml_cgraph *copy = ggml_new_graph_custom(ctx, 50, false);
    struct ggml_tensor *b = small(g);
    struct ggml_cgraph slice = ggml_graph_view(g, 1, 2);

    (void)state;
    ggml_graph_cpy(&slice, copy);
    assert_int_equal(copy->n_nodes, 1);
    assert_ptr_equal(copy->nodes[0], b);
    assert_int_equal(copy->n_leafs, 0);
    assert_int_equal(sink.n, 0);
}

static void
a_copy_that_does_not_fit_fails_the_destination(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_cgraph *small_one = ggml_new_graph_custom(ctx, 1, true);
    struct ggml_cgraph *plain = ggml_new_graph_custom(ctx, 50, false);

    (void)state;
    small(g);
    ggml_graph_cpy(g, small_one);
    assert_true(gb_graph_is_failed(small_one));
    assert_int_equal(small_one->n_nodes, 0);
    ggml_graph_cpy(g, plain);
    assert_true(gb_graph_is_failed(plain));
    assert_int_equal(sink.n, 2);
    ggml_graph_cpy(NULL, g);
    ggml_graph_cpy(g, NULL);
    assert_null(ggml_graph_dup(ctx, NULL));
    assert_int_equal(sink.n, 5);
}

/* More tensors than the set has slots, those of both graphs together. */
static void
a_copy_into_a_set_that_is_full_fails(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 2, false);
    struct ggml_cgraph *dst = ggml_new_graph_custom(ctx, 2, false);

    (void)state;
    ggml_build_forward_expand(g, node(ctx, leaf(ctx), NULL));
    while (ggml_hash_insert(&dst->visited_hash_set, leaf(ctx)) !=
           GGML_HASHSET_FULL)
        ;
    ggml_graph_cpy(g, dst);
    assert_true(gb_graph_is_failed(dst));
    assert_int_equal(sink.n, 1);
    assert_non_null(strstr(sink.text, "the destination's set is full"));
}

static void
a_copy_without_gradients_may_go_where_there_are_some(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 4, false);
    struct ggml_cgraph *larger = ggml_new_graph_custom(ctx, 40, true);

    (void)state;
    small(g);
    ggml_graph_cpy(g, larger);
    assert_int_equal(larger->n_nodes, 2);
    assert_null(ggml_graph_get_grad(larger, larger->nodes[1]));
    assert_int_equal(gb_graph_check(larger), GGML_STATUS_SUCCESS);
    /* Its set is too large to go back. */
    ggml_graph_cpy(larger, g);
    assert_true(gb_graph_is_failed(g));
    assert_int_equal(sink.n, 1);
    assert_null(ggml_graph_dup(NULL, larger));
}

static void
copies_and_slices_of_a_failed_graph_have_failed(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);
    struct ggml_tensor *bad = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -1);
    struct ggml_cgraph slice;
    struct ggml_cgraph *copy;

    (void)state;
    ggml_build_forward_expand(g, node(ctx, bad, NULL));
    slice = ggml_graph_view(g, 0, 1);
    copy = ggml_graph_dup(ctx, g);
    assert_true(gb_graph_is_failed(&slice));
    assert_string_not_equal(gb_graph_failure(&slice), "");
    assert_true(gb_graph_is_failed(copy));
    assert_string_equal(gb_graph_failure(copy), gb_graph_failure(g));
}

static void
a_slice_has_nodes_and_nothing_else(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 50, true);
    struct ggml_tensor *b = small(g);
    const struct ggml_cgraph slice = ggml_graph_view(g, 1, 2);

    (void)state;
    assert_int_equal(slice.n_nodes, 1);
    assert_ptr_equal(slice.nodes[0], b);
    assert_int_equal(slice.n_leafs, 0);
    assert_null(slice.grads);
    assert_int_equal(slice.visited_hash_set.size, 0);
    assert_null(ggml_graph_get_grad(&slice, b));
    assert_int_equal(gb_graph_check(&slice), GGML_STATUS_SUCCESS);
}

static void
a_node_is_added_as_it_is(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph_custom(ctx, 2, false);
    struct ggml_tensor *a = node(ctx, leaf(ctx), NULL);

    (void)state;
    ggml_graph_add_node(g, a);
    ggml_graph_add_node(g, a);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->n_leafs, 0);
    assert_string_equal(a->name, "");
    assert_false(gb_graph_is_failed(g));
    ggml_graph_add_node(g, a);
    assert_int_equal(g->n_nodes, 2);
    assert_true(gb_graph_is_failed(g));
    ggml_graph_clear(g);
    ggml_graph_add_node(g, NULL);
    assert_true(gb_graph_is_failed(g));
    ggml_graph_clear(g);
    ggml_graph_add_node(g, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, -1));
    assert_true(gb_graph_is_failed(g));
}

static void
null_is_answered_and_not_read(void **state)
{
    struct ggml_cgraph *g = ggml_new_graph(ctx);

    (void)state;
    ggml_graph_clear(NULL);
    ggml_graph_reset(NULL);
    ggml_graph_add_node(NULL, NULL);
    ggml_graph_print(NULL);
    ggml_graph_dump_dot(NULL, NULL, NULL);
    assert_int_equal(ggml_graph_size(NULL), 0);
    assert_int_equal(ggml_graph_n_nodes(NULL), 0);
    assert_null(ggml_graph_nodes(NULL));
    assert_null(ggml_graph_node(NULL, 0));
    assert_null(ggml_graph_get_tensor(NULL, "x"));
    assert_null(ggml_graph_get_tensor(g, NULL));
    assert_null(ggml_graph_get_grad(NULL, NULL));
    assert_null(ggml_graph_get_grad_acc(NULL, NULL));
    assert_int_equal(sink.n, 13);
}

int
main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    static const struct CMUnitTest tests[] = {
        TEST(the_overhead_is_what_a_graph_takes),
        TEST(a_graph_fits_where_its_overhead_is_left),
        TEST(a_size_that_cannot_be_gives_no_graph),
        TEST(a_new_graph_is_empty),
        TEST(nodes_are_counted_from_both_ends),
        TEST(tensors_are_found_by_name_leafs_first),
        TEST(clearing_takes_all_out),
        TEST(an_order_that_was_set_outlives_a_failure),
        TEST(a_duplicate_has_the_same_tensors),
        TEST(gradients_are_hashed_again_in_a_larger_graph),
        TEST(a_copy_into_a_used_graph_keeps_what_its_set_had),
        TEST(a_slice_is_copied_as_its_nodes),
        TEST(a_copy_that_does_not_fit_fails_the_destination),
        TEST(a_copy_into_a_set_that_is_full_fails),
        TEST(a_copy_without_gradients_may_go_where_there_are_some),
        TEST(copies_and_slices_of_a_failed_graph_have_failed),
        TEST(a_slice_has_nodes_and_nothing_else),
        TEST(a_node_is_added_as_it_is),
        TEST(null_is_answered_and_not_read),
    };
#undef TEST

    return cmocka_run_group_tests_name("graphs", tests, NULL, NULL);
}
