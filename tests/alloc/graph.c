/* SPDX-License-Identifier: MIT */
/*
 * tests/alloc/graph.c - the graph allocator, one rule at a time.
 */
#include "config.h"

#include "lib/alloc/check.h"
#include "tests/backend/fake.h"
#include "tests/util/fault.h"

#include "ggml-impl.h"
#include "ggmlbackend.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#define N 64 /* floats in a tensor: 256 bytes */

/* A device, an allocator of its memory, and a graph to be filled. */
struct scene {
    struct fake fake;
    ggml_gallocr_t galloc;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
};

static void
scene_open(struct scene *s)
{
    fake_init(&s->fake, "Fake0");
    s->ctx = fake_context(64);
    s->graph = ggml_new_graph_custom(s->ctx, 32, false);
    s->galloc = ggml_gallocr_new(&s->fake.buft);
    assert_non_null(s->galloc);
}

static void
scene_close(struct scene *s)
{
    ggml_gallocr_free(s->galloc);
    ggml_free(s->ctx);
    assert_int_equal(s->fake.calls.alloc, s->fake.calls.free);
}

static struct ggml_tensor *
leaf(struct scene *s)
{
    return ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, N);
}

/* Allocate the graph that ends in RESULT; everything in it must be sound. */
static void
allocate(struct scene *s, struct ggml_tensor *result)
{
    ggml_build_forward_expand(s->graph, result);
    assert_true(ggml_gallocr_alloc_graph(s->galloc, s->graph));
    assert_int_equal(gb_alloc_check(s->graph), GGML_STATUS_SUCCESS);
    assert_false(fake_failed());
}

static size_t
size_of(const struct scene *s)
{
    return ggml_gallocr_get_buffer_size(s->galloc, 0);
}

static void
a_chain_needs_two_places_or_one_in_place(void **state)
{
    struct ggml_tensor *x, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = y = leaf(&s);
    for (int i = 0; i < 10; i++)
        y = ggml_sqr(s.ctx, y);
    allocate(&s, y);
    assert_int_equal(size_of(&s), 256);
    assert_ptr_equal(x->data, y->data);
    assert_int_equal(ggml_backend_buffer_get_usage(x->buffer),
                     GGML_BACKEND_BUFFER_USAGE_COMPUTE);
    scene_close(&s);

    scene_open(&s);
    y = leaf(&s);
    for (int i = 0; i < 10; i++)
        y = ggml_sin(s.ctx, y); /* not among those that work in place */
    allocate(&s, y);
    assert_int_equal(size_of(&s), 512);
    scene_close(&s);
}

static void
either_source_of_a_sum_may_be_taken_over(void **state)
{
    struct ggml_tensor *a, *b, *sum, *last;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    b = leaf(&s);
    sum = ggml_add(s.ctx, a, b);
    last = ggml_add(s.ctx, sum, a); /* a is read again: b has to give way */
    allocate(&s, last);
    assert_ptr_equal(sum->data, b->data);
    assert_ptr_equal(last->data, sum->data);
    assert_int_equal(size_of(&s), 512);
    scene_close(&s);
}

static void
a_softmax_may_lie_on_its_values_but_not_on_its_mask(void **state)
{
    struct ggml_tensor *x, *mask, *y, *again;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = leaf(&s);
    mask = leaf(&s);
    y = ggml_soft_max_ext(s.ctx, x, mask, 1.0f, 0.0f);
    again = ggml_add(s.ctx, y, x);
    allocate(&s, again);
    assert_ptr_not_equal(y->data, mask->data);
    assert_ptr_not_equal(y->data, x->data);
    scene_close(&s);
}

static void
what_is_read_twice_by_one_node_is_not_taken_over(void **state)
{
    struct ggml_tensor *a, *sum;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    sum = ggml_add(s.ctx, a, a);
    allocate(&s, sum);
    assert_ptr_not_equal(a->data, sum->data);
    scene_close(&s);
}

static void
other_layouts_are_not_taken_over(void **state)
{
    struct ggml_tensor *a, *row, *sum;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    row = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N / 2);
    ggml_set_output(a);
    sum = ggml_add(s.ctx, a, row);
    allocate(&s, sum);
    assert_ptr_not_equal(sum->data, row->data);
    scene_close(&s);
}

/* What becomes of a view of A that has the shape of half or all of it; sometimes A
 * is read behind that, or by another view too, or the view is a result. */
enum later { NOTHING, READ_AGAIN, SEEN_AGAIN, VIEW_IS_OUTPUT };

static bool
is_view_taken_over(int64_t n, enum later later)
{
    struct ggml_tensor *a, *view, *y, *last;
    struct scene s;
    bool is_taken;

    scene_open(&s);
    a = ggml_sin(s.ctx, leaf(&s));
    view = ggml_view_2d(s.ctx, a, n, 2, (size_t)n * sizeof(float), 0);
    if (later == VIEW_IS_OUTPUT)
        ggml_set_output(view);
    last = y = ggml_sqr(s.ctx, view);
    ggml_build_forward_expand(s.graph, y);
    if (later == READ_AGAIN)
        last = ggml_add(s.ctx, a, ggml_view_1d(s.ctx, y, 1, 0));
    if (later == SEEN_AGAIN)
        last = ggml_sin(s.ctx, ggml_reshape_2d(s.ctx, a, 4, N / 4));
    allocate(&s, last);
    is_taken = y->data == a->data;
    scene_close(&s);
    return is_taken;
}

static void
views_of_all_of_a_tensor_are_taken_over(void **state)
{
    (void)state;
    assert_true(is_view_taken_over(N / 2, NOTHING));
    assert_false(is_view_taken_over(N / 4, NOTHING));
    assert_false(is_view_taken_over(N / 2, READ_AGAIN));
    assert_false(is_view_taken_over(N / 2, SEEN_AGAIN));
    assert_false(is_view_taken_over(N / 2, VIEW_IS_OUTPUT));
}

static void
outputs_stay_to_the_end(void **state)
{
    struct ggml_tensor *a, *mid, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    mid = ggml_sqr(s.ctx, a);
    ggml_set_output(mid);
    y = ggml_sqr(s.ctx, mid);
    for (int i = 0; i < 5; i++)
        y = ggml_sin(s.ctx, y);
    allocate(&s, y);
    assert_ptr_equal(mid->data, a->data);
    for (int i = 1; i < ggml_graph_n_nodes(s.graph); i++)
        assert_ptr_not_equal(ggml_graph_node(s.graph, i)->data, mid->data);
    scene_close(&s);
}

static void
what_an_output_view_looks_at_stays_too(void **state)
{
    struct ggml_tensor *mid, *view, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    mid = ggml_sqr(s.ctx, leaf(&s));
    view = ggml_view_1d(s.ctx, mid, 8, 0);
    ggml_set_output(view);
    y = ggml_cont(s.ctx, view);
    y = ggml_concat(s.ctx, y, y, 0);
    for (int i = 0; i < 5; i++)
        y = ggml_repeat(s.ctx, y, mid);
    allocate(&s, y);
    for (int i = 3; i < ggml_graph_n_nodes(s.graph); i++)
        assert_ptr_not_equal(ggml_graph_node(s.graph, i)->data, mid->data);
    scene_close(&s);
}

static void
a_result_that_is_a_view_keeps_its_source(void **state)
{
    struct ggml_tensor *mid, *view, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    mid = ggml_sqr(s.ctx, leaf(&s));
    view = ggml_reshape_2d(s.ctx, mid, 8, 8);
    ggml_build_forward_expand(s.graph, view);
    y = ggml_sin(s.ctx, leaf(&s));
    for (int i = 0; i < 5; i++)
        y = ggml_sin(s.ctx, y);
    allocate(&s, y);
    for (int i = 2; i < ggml_graph_n_nodes(s.graph); i++)
        assert_ptr_not_equal(ggml_graph_node(s.graph, i)->data, mid->data);
    assert_ptr_equal(view->data, mid->data);
    scene_close(&s);
}

static void
a_view_read_later_keeps_its_source(void **state)
{
    struct ggml_tensor *mid, *view, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    mid = ggml_sin(s.ctx, leaf(&s));
    view = ggml_view_1d(s.ctx, mid, N, 0);
    y = ggml_sin(s.ctx, mid);
    y = ggml_sin(s.ctx, y);
    y = ggml_add(s.ctx, y, view);
    allocate(&s, y);
    assert_ptr_equal(view->data, mid->data);
    assert_ptr_equal(view->buffer, mid->buffer);
    scene_close(&s);
}

static void
a_plain_view_without_sources_keeps_its_source(void **state)
{
    struct ggml_tensor *mid, *view, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    mid = ggml_sin(s.ctx, leaf(&s));
    view = ggml_view_tensor(s.ctx, mid);
    y = ggml_sin(s.ctx, mid);
    y = ggml_sin(s.ctx, y);
    y = ggml_add(s.ctx, y, view);
    allocate(&s, y);
    assert_ptr_equal(view->data, mid->data);
    scene_close(&s);
}

static void
what_only_a_plain_view_reaches_gets_a_place(void **state)
{
    struct ggml_tensor *hidden, *view;
    struct scene s;

    (void)state;
    scene_open(&s);
    hidden = leaf(&s);
    view = ggml_view_tensor(s.ctx, hidden);
    allocate(&s, ggml_sin(s.ctx, view));
    assert_non_null(hidden->data);
    assert_ptr_equal(view->data, hidden->data);
    scene_close(&s);
}

static void
a_marker_node_keeps_a_tensor_up_to_its_place(void **state)
{
    struct ggml_tensor *x, *y, *marker, *early, *late;
    struct ggml_cgraph *graph;
    struct scene s;

    (void)state;
    scene_open(&s);
    graph = s.graph;
    x = ggml_sin(s.ctx, leaf(&s));
    early = ggml_sin(s.ctx, x);
    marker = ggml_view_tensor(s.ctx, x);
    marker->src[0] = x;
    y = ggml_sin(s.ctx, early);
    late = ggml_sin(s.ctx, y);
    ggml_graph_add_node(graph, x);
    ggml_graph_add_node(graph, early);
    ggml_graph_add_node(graph, y);
    ggml_graph_add_node(graph, marker);
    ggml_graph_add_node(graph, late);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
    assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
    assert_ptr_not_equal(y->data, x->data);
    assert_ptr_equal(marker->data, x->data);
    assert_true(late->data == x->data || late->data == early->data);
    scene_close(&s);
}

static void
inputs_do_not_overlap_before_the_graph_runs(void **state)
{
    struct ggml_tensor *first, *second, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    first = leaf(&s);
    second = leaf(&s);
    ggml_set_input(first);
    ggml_set_input(second);
    y = ggml_sin(s.ctx, ggml_sin(s.ctx, ggml_sin(s.ctx, first)));
    y = ggml_add(s.ctx, y, second);

    /* Without leafs: the second is met only where it is read. */
    ggml_graph_add_node(s.graph, y->src[0]->src[0]->src[0]);
    ggml_graph_add_node(s.graph, y->src[0]->src[0]);
    ggml_graph_add_node(s.graph, y->src[0]);
    ggml_graph_add_node(s.graph, y);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    for (int i = 0; i < 3; i++)
        assert_ptr_not_equal(ggml_graph_node(s.graph, i)->data, second->data);
    scene_close(&s);
}

static void
what_has_data_is_left_alone(void **state)
{
    struct ggml_tensor *weight, *y;
    char data[256];
    struct scene s;

    (void)state;
    scene_open(&s);
    weight = leaf(&s);
    weight->data = data;
    y = ggml_sqr(s.ctx, weight);
    allocate(&s, y);
    assert_ptr_equal(weight->data, data);
    assert_null(weight->buffer);
    assert_ptr_not_equal(y->data, data);
    assert_int_equal(size_of(&s), 256);
    scene_close(&s);
}

static void
nothing_to_place_still_gives_a_buffer(void **state)
{
    struct ggml_tensor *x, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 0);
    y = ggml_reshape_2d(s.ctx, ggml_sqr(s.ctx, x), 0, 3);
    allocate(&s, y);
    assert_non_null(x->buffer);
    assert_int_equal(ggml_backend_buffer_get_size(x->buffer), 0);
    assert_int_equal(size_of(&s), 0);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    scene_close(&s);
}

/* y = sqr(x) * x over N_FLOATS, in a context of its own. */
static struct ggml_cgraph *
small_graph(struct ggml_context *ctx, int64_t n_floats)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n_floats);
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);

    ggml_build_forward_expand(graph, ggml_mul(ctx, ggml_sqr(ctx, x), x));
    return graph;
}

static void
an_equal_graph_gets_the_same_places_without_a_plan(void **state)
{
    struct scene s;
    void *data[3];

    (void)state;
    scene_open(&s);
    for (int round = 0; round < 3; round++) {
        struct ggml_context *ctx = fake_context(32);
        struct ggml_cgraph *graph = small_graph(ctx, N);

        assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
        assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
        for (int i = 0; i < 2; i++) {
            const struct ggml_tensor *node = ggml_graph_node(graph, i);

            if (round == 0)
                data[i] = node->data;
            assert_ptr_equal(node->data, data[i]);
        }
        ggml_free(ctx);
    }
    assert_int_equal(s.fake.calls.alloc, 1);
    assert_int_equal(s.fake.calls.reset, 3);
    scene_close(&s);
}

static void
the_buffer_grows_and_never_shrinks(void **state)
{
    const int64_t sizes[] = { 64, 32, 128, 16, 127 };
    const size_t expected[] = { 512, 512, 1024, 1024, 1024 };
    struct scene s;

    (void)state;
    scene_open(&s);
    for (int i = 0; i < 5; i++) {
        struct ggml_context *ctx = fake_context(32);
        struct ggml_cgraph *graph = small_graph(ctx, sizes[i]);

        assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
        assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
        assert_int_equal(size_of(&s), expected[i]);
        ggml_free(ctx);
    }
    assert_int_equal(s.fake.calls.alloc, 2);
    scene_close(&s);
}

static void
a_graph_of_the_same_size_but_another_make_is_planned_again(void **state)
{
    struct ggml_context *ctx = fake_context(32);
    struct ggml_cgraph *graph;
    struct ggml_tensor *x, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = leaf(&s);
    y = ggml_sqr(s.ctx, x);
    allocate(&s, ggml_add(s.ctx, ggml_sqr(s.ctx, y), leaf(&s)));

    /* Also three nodes and two leafs, but the first sum is read to the end. */
    graph = ggml_new_graph_custom(ctx, 32, false);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    y = ggml_add(ctx, x, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N));
    ggml_build_forward_expand(graph, ggml_mul(ctx, ggml_sqr(ctx, y), y));
    assert_int_equal(ggml_graph_n_nodes(graph), 3);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
    assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
    ggml_free(ctx);
    scene_close(&s);
}

static void
what_worked_in_place_must_still_have_its_sources_shape(void **state)
{
    struct ggml_context *ctx = fake_context(32);
    struct ggml_cgraph *graph;
    struct ggml_tensor *a, *b;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    ggml_set_output(a);
    b = leaf(&s);
    allocate(&s, ggml_add(s.ctx, a, b));
    assert_ptr_equal(b->data, ggml_graph_node(s.graph, 0)->data);

    /* Smaller, but the sum would lie on a row that is added many times. */
    graph = ggml_new_graph_custom(ctx, 32, false);
    a = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 32);
    ggml_set_output(a);
    b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
    ggml_build_forward_expand(graph, ggml_add(ctx, a, b));
    assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
    assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
    assert_ptr_not_equal(b->data, ggml_graph_node(graph, 0)->data);
    ggml_free(ctx);
    scene_close(&s);
}

/* A view of all that is taken over, then one of a part with the same shape. */
static void
what_took_a_view_must_still_have_all_of_it(void **state)
{
    struct ggml_context *ctx = fake_context(32);
    struct ggml_cgraph *graph;
    struct ggml_tensor *a, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = ggml_sin(s.ctx, leaf(&s));
    y = ggml_sqr(s.ctx, ggml_view_1d(s.ctx, a, N, 0));
    allocate(&s, y);
    assert_ptr_equal(y->data, a->data);

    graph = ggml_new_graph_custom(ctx, 32, false);
    a = ggml_sin(ctx, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N));
    y = ggml_sqr(ctx, ggml_view_1d(ctx, a, N / 2, N / 2 * sizeof(float)));
    ggml_build_forward_expand(graph, y);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, graph));
    assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
    assert_ptr_not_equal(y->data, a->data);
    ggml_free(ctx);
    scene_close(&s);
}

/* X, a view of it and its square, in CTX; then a row of N_LAST elements. */
static struct ggml_cgraph *
view_and_row(struct ggml_context *ctx, int64_t n_last, struct ggml_tensor *t[4])
{
    struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 32, false);

    t[0] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    t[1] = ggml_view_1d(ctx, t[0], N / 2, 0);
    t[2] = ggml_sqr(ctx, t[1]);
    t[3] = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, n_last);
    ggml_build_forward_expand(graph, ggml_sum(ctx, t[2]));
    ggml_build_forward_expand(graph, ggml_sum(ctx, t[3]));
    return graph;
}

/*
 * Buffers that need not be told of tensors: addresses are given while the graph
 * is looked at, and taken back when its last tensor turns out to be too large.
 * (With two slots it cannot be planned anew.)
 */
static void
a_graph_that_does_not_fit_has_no_addresses_afterwards(void **state)
{
    ggml_backend_buffer_type_t buft = ggml_backend_cpu_buffer_type();
    ggml_backend_buffer_type_t bufts[] = { buft, buft };
    struct ggml_context *ctx = fake_context(64);
    ggml_gallocr_t galloc = ggml_gallocr_new_n(bufts, 2);
    struct ggml_cgraph *graph;
    struct ggml_tensor *t[4], *other[4];
    char own[N * sizeof(float)];

    (void)state;
    graph = view_and_row(ctx, N, t);
    assert_true(ggml_gallocr_reserve_n(galloc, graph, NULL, NULL));
    assert_true(ggml_gallocr_alloc_graph(galloc, graph));
    assert_int_equal(gb_alloc_check(graph), GGML_STATUS_SUCCESS);
    assert_ptr_equal(t[1]->data, t[0]->data);

    graph = view_and_row(ctx, 2 * N, other);
    assert_false(ggml_gallocr_alloc_graph(galloc, graph));
    for (int i = 0; i < 4; i++) {
        assert_null(other[i]->data);
        assert_null(other[i]->buffer);
    }
    other[0]->data = own;
    assert_false(ggml_gallocr_alloc_graph(galloc, graph));
    assert_ptr_equal(other[0]->data, own);
    assert_null(other[2]->data);
    ggml_gallocr_free(galloc);
    ggml_free(ctx);
}

static void
data_that_is_gone_since_the_plan_is_noticed(void **state)
{
    struct ggml_tensor *weight, *y;
    char data[256];
    struct scene s;

    (void)state;
    scene_open(&s);
    weight = leaf(&s);
    weight->data = data;
    y = ggml_sqr(s.ctx, weight);
    ggml_build_forward_expand(s.graph, y);
    assert_true(ggml_gallocr_reserve(s.galloc, s.graph));
    weight->data = NULL;
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_true(fake_failed());
    assert_null(y->data);
    scene_close(&s);
}

static void
reserving_touches_no_tensor(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    ggml_build_forward_expand(s.graph, ggml_sqr(s.ctx, leaf(&s)));
    assert_true(ggml_gallocr_reserve(s.galloc, s.graph));
    assert_int_equal(size_of(&s), 256);
    assert_null(ggml_graph_node(s.graph, 0)->data);
    assert_int_equal(s.fake.calls.init_tensor, 0);
    scene_close(&s);
}

static void
slots_of_one_type_share_a_buffer(void **state)
{
    ggml_backend_buffer_type_t bufts[3];
    const int nodes[] = { 0, 1, 2 }, leafs[] = { 1 };
    struct ggml_tensor *x, *y0, *y1, *y2;
    ggml_gallocr_t galloc;
    struct fake other;
    struct scene s;

    (void)state;
    scene_open(&s);
    fake_init(&other, "Fake1");
    bufts[0] = &s.fake.buft;
    bufts[1] = &other.buft;
    bufts[2] = &s.fake.buft;
    galloc = ggml_gallocr_new_n(bufts, 3);
    x = leaf(&s);
    y0 = ggml_sqr(s.ctx, x);  /* slot 0: cannot lie on x, which is in slot 1 */
    y1 = ggml_sqr(s.ctx, y0); /* slot 1: x is free there by now */
    y2 = ggml_sqr(s.ctx, y1); /* slot 2, where y0's place is free */
    ggml_build_forward_expand(s.graph, y2);

    assert_false(ggml_gallocr_alloc_graph(galloc, s.graph));
    assert_false(fake_failed());
    assert_null(x->data);
    assert_true(ggml_gallocr_reserve_n(galloc, s.graph, nodes, leafs));
    assert_true(ggml_gallocr_alloc_graph(galloc, s.graph));
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 0), 256);
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 1), 256);
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 2), 0);
    assert_ptr_equal(x->data, y1->data);
    assert_ptr_equal(y0->data, y2->data);
    assert_ptr_equal(x->buffer->buft, &other.buft);
    assert_int_equal(s.fake.calls.reset, 2);
    assert_int_equal(other.calls.reset, 1);
    ggml_gallocr_free(galloc);
    scene_close(&s);
}

static void
a_slot_that_does_not_exist_is_refused(void **state)
{
    ggml_backend_buffer_type_t bufts[2];
    const int bad[][2] = { { 0, -1 }, { 2, 0 }, { 0, INT32_MAX } };
    const int leafs[] = { 0 };
    ggml_gallocr_t galloc;
    struct scene s;

    (void)state;
    scene_open(&s);
    bufts[0] = &s.fake.buft;
    bufts[1] = ggml_backend_cpu_buffer_type();
    galloc = ggml_gallocr_new_n(bufts, 2);
    ggml_build_forward_expand(
        s.graph, ggml_sqr(s.ctx, ggml_sin(s.ctx, leaf(&s))));
    for (int i = 0; i < 3; i++) {
        assert_false(ggml_gallocr_reserve_n(galloc, s.graph, bad[i], leafs));
        assert_true(fake_failed());
        assert_false(ggml_gallocr_alloc_graph(galloc, s.graph));
    }
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, 2), 0);
    assert_true(fake_failed());
    assert_int_equal(ggml_gallocr_get_buffer_size(galloc, -1), 0);
    assert_true(fake_failed());
    ggml_gallocr_free(galloc);
    scene_close(&s);
}

/* Leafs, sources that stand nowhere else, and inputs among those. */
static void
the_slot_of_each_kind_of_tensor_must_exist(void **state)
{
    static const int good[] = { 0 }, bad[] = { 1 };

    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct ggml_tensor *x;
        struct scene s;

        scene_open(&s);
        x = leaf(&s);
        if (kind == 0)
            ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, x));
        else
            ggml_graph_add_node(s.graph, ggml_sin(s.ctx, x));
        if (kind == 2)
            ggml_set_input(x);
        ggmlbackend_clear_failure();
        assert_false(ggml_gallocr_reserve_n(s.galloc, s.graph,
                                            kind == 0 ? good : bad,
                                            kind == 0 ? bad : good));
        assert_non_null(strstr(ggmlbackend_last_failure(), "slot 1 of 1"));
        assert_true(ggml_gallocr_reserve_n(s.galloc, s.graph, good, good));
        assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        assert_non_null(x->data);
        fake_failed();
        scene_close(&s);
    }
}

static size_t
more_for_squares(
    ggml_backend_buffer_type_t buft, const struct ggml_tensor *tensor)
{
    (void)buft;
    return ggml_nbytes(tensor) + (tensor->op == GGML_OP_SQR ? 64 : 0);
}

static void
what_needs_more_room_than_its_source_takes_a_place_of_its_own(void **state)
{
    struct ggml_tensor *y, *z;
    struct scene s;

    (void)state;
    scene_open(&s);
    y = ggml_sin(s.ctx, leaf(&s));
    z = ggml_sqr(s.ctx, y);
    allocate(&s, z);
    assert_ptr_equal(z->data, y->data);
    scene_close(&s);

    scene_open(&s);
    s.fake.buft.iface.get_alloc_size = more_for_squares;
    y = ggml_sin(s.ctx, leaf(&s));
    z = ggml_sqr(s.ctx, y);
    allocate(&s, z);
    assert_ptr_not_equal(z->data, y->data);
    scene_close(&s);
}

static void
tensors_of_no_bytes_take_no_room(void **state)
{
    struct ggml_tensor *x, *y, *z;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 0);
    y = ggml_sqr(s.ctx, ggml_sin(s.ctx, x));
    ggml_build_forward_expand(s.graph, y);
    z = ggml_sin(s.ctx, leaf(&s));
    allocate(&s, z);
    assert_non_null(x->buffer);
    assert_non_null(y->buffer);
    assert_int_equal(size_of(&s), 2 * N * sizeof(float));
    scene_close(&s);
}

/* The order is the caller's; what nobody reads any more gets a place again. */
static void
a_result_whose_views_were_read_before_gets_a_place(void **state)
{
    struct ggml_tensor *x, *y, *v;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = leaf(&s);
    y = ggml_sin(s.ctx, x);
    v = ggml_view_1d(s.ctx, y, N / 2, 0);
    ggml_graph_add_node(s.graph, v);
    ggml_graph_add_node(s.graph, ggml_sqr(s.ctx, v));
    ggml_graph_add_node(s.graph, y);
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_non_null(y->data);
    assert_ptr_equal(v->data, y->data);
    assert_ptr_not_equal(y->data, x->data);
    scene_close(&s);
}

/* Of a pool with two buffers the second is not there, and not needed. */
static void
a_buffer_that_could_not_be_had_may_not_be_needed(void **state)
{
    struct ggml_cgraph leaf_only;
    struct ggml_tensor *x;
    struct scene s;

    (void)state;
    scene_open(&s);
    s.fake.max_size = N * sizeof(float);
    ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, leaf(&s)));
    s.fake.allocs_left = 1;
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_true(fake_failed());
    assert_int_equal(s.fake.calls.alloc, 1);

    s.fake.allocs_left = 0;
    x = leaf(&s);
    leaf_only = (struct ggml_cgraph){ .n_leafs = 1, .leafs = &x };
    assert_true(ggml_gallocr_alloc_graph(s.galloc, &leaf_only));
    assert_non_null(x->data);
    assert_int_equal(s.fake.calls.alloc, 1);

    s.fake.allocs_left = 1;
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_int_equal(s.fake.calls.alloc, 2);
    scene_close(&s);
}

/* What is special about the graph of another make. */
enum make { ALIKE, OTHER_OPERATION, OUTPUT, NO_VIEW, OTHER_ROOT, MORE_SOURCES };

/* Sources with a gap, a result in place, and one that may be an output. */
static struct ggml_tensor *
make_like(struct ggml_context *ctx, struct ggml_cgraph *graph, enum make make)
{
    struct ggml_tensor *x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *y = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *a = ggml_sin(ctx, x), *b = ggml_sin(ctx, y), *c, *d;

    a->src[2] = y;
    if (make == MORE_SOURCES)
        a->src[3] = x;
    if (make == OTHER_OPERATION)
        b->op = GGML_OP_COS;
    if (make == OUTPUT)
        ggml_set_output(a);
    c = make == NO_VIEW ? ggml_sqr(ctx, a) : ggml_sqr_inplace(ctx, a);
    if (make == OTHER_ROOT)
        c->view_src = b;
    d = ggml_add(ctx, c, b);
    ggml_graph_add_node(graph, a);
    ggml_graph_add_node(graph, b);
    ggml_graph_add_node(graph, c);
    ggml_graph_add_node(graph, d);
    return c;
}

/* An allocator with two slots says whether a graph fits what it planned. */
static void
only_a_graph_of_the_same_make_fits(void **state)
{
    static const int slots[4] = { 0 };

    (void)state;
    for (int make = ALIKE; make <= MORE_SOURCES; make++) {
        ggml_backend_buffer_type_t bufts[2];
        struct ggml_context *ctx = fake_context(32);
        struct ggml_cgraph *graph = ggml_new_graph_custom(ctx, 8, false);
        struct ggml_tensor *c = make_like(ctx, graph, (enum make)make);
        ggml_gallocr_t galloc;
        struct scene s;

        scene_open(&s);
        bufts[0] = bufts[1] = &s.fake.buft;
        galloc = ggml_gallocr_new_n(bufts, 2);
        make_like(s.ctx, s.graph, ALIKE);
        assert_true(ggml_gallocr_reserve_n(galloc, s.graph, slots, slots));
        assert_int_equal(ggml_gallocr_alloc_graph(galloc, graph),
                         make == ALIKE);
        assert_int_equal(c->data != NULL, make == ALIKE);
        fake_failed();
        ggml_gallocr_free(galloc);
        ggml_free(ctx);
        scene_close(&s);
    }
}

static void
a_buffer_that_cannot_be_had_fails_and_can_be_tried_again(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    ggml_build_forward_expand(s.graph, ggml_sqr(s.ctx, leaf(&s)));
    s.fake.allocs_left = 0;
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_true(fake_failed());
    assert_false(ggml_gallocr_reserve(s.galloc, s.graph));
    assert_int_equal(size_of(&s), 0);
    s.fake.allocs_left = -1;
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_int_equal(size_of(&s), 256);
    scene_close(&s);
}

static void
a_refused_tensor_fails_and_can_be_tried_again(void **state)
{
    struct scene s;

    (void)state;
    for (int n = 0; n < 4; n++) {
        struct ggml_tensor *x, *view, *y;

        scene_open(&s);
        x = leaf(&s);
        view = ggml_view_1d(s.ctx, x, 8, 0);
        y = ggml_sin(s.ctx, ggml_sin(s.ctx, view));
        ggml_build_forward_expand(s.graph, y);
        s.fake.inits_left = n;
        assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        assert_null(y->data);
        s.fake.inits_left = -1;
        s.fake.calls.init_tensor = 0;
        assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        assert_int_equal(s.fake.calls.init_tensor, 4 - n);
        assert_ptr_equal(view->buffer, x->buffer);
        assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
        scene_close(&s);
    }
}

/* The plan fits, and nothing has an address when one tensor is refused. */
static void
a_tensor_of_a_planned_graph_may_be_refused(void **state)
{
    struct ggml_tensor *x, *y;
    struct scene s;

    (void)state;
    scene_open(&s);
    x = leaf(&s);
    y = ggml_sin(s.ctx, x);
    ggml_build_forward_expand(s.graph, y);
    assert_true(ggml_gallocr_reserve(s.galloc, s.graph));
    for (int n = 0; n < 2; n++) {
        s.fake.inits_left = n;
        assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
        assert_null(x->data);
        assert_null(y->data);
    }
    s.fake.inits_left = -1;
    assert_true(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
    fake_failed();
    scene_close(&s);
}

static void
failed_graphs_and_missing_arguments_are_refused(void **state)
{
    ggml_backend_buffer_type_t none = NULL;
    struct ggml_tensor *odd;
    struct scene s;

    (void)state;
    scene_open(&s);
    odd = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 7);
    ggml_build_forward_expand(s.graph, ggml_add(s.ctx, leaf(&s), odd));
    fake_failed();
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_true(fake_failed());
    assert_false(ggml_gallocr_reserve(s.galloc, s.graph));
    assert_true(fake_failed());
    assert_false(ggml_gallocr_alloc_graph(s.galloc, NULL));
    assert_true(fake_failed());
    assert_false(ggml_gallocr_alloc_graph(NULL, s.graph));
    assert_true(fake_failed());
    assert_null(ggml_gallocr_new(NULL));
    assert_true(fake_failed());
    assert_null(ggml_gallocr_new_n(&none, 0));
    assert_true(fake_failed());
    assert_null(ggml_gallocr_new_n(NULL, 1));
    assert_true(fake_failed());
    assert_int_equal(ggml_gallocr_get_buffer_size(NULL, 0), 0);
    assert_true(fake_failed());
    ggml_gallocr_free(NULL);
    scene_close(&s);
}

static void
tensors_that_no_address_space_holds_are_refused(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    s.fake.padding = SIZE_MAX / 2 - 1000;
    ggml_build_forward_expand(s.graph, ggml_sin(s.ctx, leaf(&s)));
    assert_false(ggml_gallocr_alloc_graph(s.galloc, s.graph));
    assert_true(fake_failed());
    scene_close(&s);
}

static void
allocate_twice(void *data)
{
    struct scene *s = data;
    ggml_gallocr_t galloc;
    bool ok;

    for (struct ggml_tensor *t = ggml_get_first_tensor(s->ctx); t != NULL;
         t = ggml_get_next_tensor(s->ctx, t)) {
        t->buffer = NULL;
        t->data = NULL;
    }
    galloc = ggml_gallocr_new(&s->fake.buft);
    if (galloc == NULL) {
        assert_true(gb_fault_happened());
        return;
    }
    ok = ggml_gallocr_alloc_graph(galloc, s->graph);
    assert_true(ok || gb_fault_happened());
    assert_int_equal(fake_failed(), !ok);
    if (!ok)
        assert_true(ggml_gallocr_alloc_graph(galloc, s->graph));
    ggml_gallocr_free(galloc);
}

static void
every_allocation_may_fail_and_be_tried_again(void **state)
{
    struct ggml_tensor *y, *kept[16];
    struct scene s;

    (void)state;
    scene_open(&s);
    y = leaf(&s);
    for (int i = 0; i < 12; i++)
        kept[i] = y = ggml_sin(s.ctx, y);
    for (int i = 0; i < 12; i += 2)
        y = ggml_add(s.ctx, y, kept[i]);
    ggml_build_forward_expand(s.graph, y);
    assert_true(gb_fault_each(allocate_twice, &s) >= 10);
    scene_close(&s);
}

static void
the_check_sees_overlaps(void **state)
{
    struct ggml_tensor *a, *b, *y, *last;
    struct scene s;

    (void)state;
    scene_open(&s);
    a = leaf(&s);
    b = leaf(&s);
    y = ggml_sin(s.ctx, a);
    last = ggml_add(s.ctx, y, b);
    allocate(&s, last);

    y->data = b->data; /* b is read later */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    y->data = a->data; /* in place, but a shape and a last reader alike: fine */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
    y->type = GGML_TYPE_I32; /* of another type */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    y->type = GGML_TYPE_F32;
    y->ne[0] = N / 2; /* of another shape */
    y->ne[1] = 2;
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    y->ne[0] = N;
    y->ne[1] = 1;
    y->nb[3] *= 2; /* of other strides */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    y->nb[3] /= 2;
    y->data = (char *)a->data + 4; /* not where a begins */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    y->data = NULL; /* nowhere: in nobody's way */
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_SUCCESS);
    b->data = a->data;
    assert_int_equal(gb_alloc_check(s.graph), GGML_STATUS_FAILED);
    scene_close(&s);
}

/* Nodes with as many sources as they can have, that stand nowhere else. */
struct wide {
    struct scene s;
    int n_sources;
    int views; /* 0: no source is a view, 1: all are, 2: every other one is */
    struct ggml_tensor *seen; /* what has its place when all went well */
};

static struct ggml_tensor *
wide_node(struct wide *w)
{
    struct ggml_tensor *node = leaf(&w->s);

    node->op = GGML_OP_ADD;
    for (int i = 0; i < w->n_sources; i++) {
        node->src[i] = leaf(&w->s);
        if (w->views == 1 || (w->views == 2 && i % 2 == 1))
            node->src[i] = ggml_view_1d(w->s.ctx, node->src[i], N, 0);
    }
    w->seen = node->src[0];
    return node;
}

static void
allocate_wide(void *data)
{
    struct wide *w = data;
    ggml_gallocr_t galloc = ggml_gallocr_new(&w->s.fake.buft);
    bool is_allocated = false;

    for (struct ggml_tensor *t = ggml_get_first_tensor(w->s.ctx); t != NULL;
         t = ggml_get_next_tensor(w->s.ctx, t)) {
        t->data = NULL;
        t->buffer = NULL;
    }
    if (galloc != NULL)
        is_allocated = ggml_gallocr_alloc_graph(galloc, w->s.graph);
    assert_int_equal(is_allocated, !gb_fault_happened());
    if (is_allocated)
        assert_non_null(w->seen->data);
    ggml_gallocr_free(galloc);
}

static void
check_wide(void *data)
{
    struct wide *w = data;
    const enum ggml_status status = gb_alloc_check(w->s.graph);

    assert_int_equal(status,
                     gb_fault_happened() ? GGML_STATUS_ALLOC_FAILED
                                         : GGML_STATUS_SUCCESS);
}

/*
 * Room for numbers runs out at each place where a tensor gets one.
 *
 * Not in builds that check the layout: sources that no list has are taken for
 * results of the moment, which may share memory, while the check takes them for
 * data.  ggml_build_forward_expand lists all.
 */
static void
sources_that_stand_nowhere_else_need_memory_too(void **state)
{
    (void)state;
#ifdef GB_DEBUG
    skip();
#endif
    for (int n = 1; n <= GGML_MAX_SRC; n++) {
        for (int views = 0; views < 3; views++) {
            struct wide w = { .n_sources = n, .views = views };

            scene_open(&w.s);
            ggml_graph_add_node(w.s.graph, wide_node(&w));
            ggml_graph_add_node(w.s.graph, wide_node(&w));
            assert_true(gb_fault_each(allocate_wide, &w) > 3);
            assert_true(fake_failed());
            scene_close(&w.s);
        }
    }
}

/* The same for leafs that look at what no list has. */
static void
leafs_that_are_views_need_memory_too(void **state)
{
    (void)state;
#ifdef GB_DEBUG
    skip();
#endif
    for (int n = 5; n <= 8; n++) {
        for (int n_plain = 0; n_plain < 2; n_plain++) {
            struct wide w = { .n_sources = 0 };
            struct ggml_cgraph *graph;

            scene_open(&w.s);
            graph = w.s.graph;
            for (int i = 0; i < n; i++) {
                w.seen = leaf(&w.s);
                if (i >= n_plain)
                    w.seen = ggml_view_tensor(w.s.ctx, w.seen);
                graph->leafs[graph->n_leafs++] = w.seen;
            }
            assert_true(gb_fault_each(allocate_wide, &w) > 3);
            assert_true(fake_failed());
            scene_close(&w.s);
        }
    }
}

static void
the_check_says_when_it_has_no_memory(void **state)
{
    (void)state;
    for (int n = 1; n <= GGML_MAX_SRC; n++) {
        for (int views = 0; views < 3; views++) {
            struct wide w = { .n_sources = n, .views = views };

            scene_open(&w.s);
            ggml_graph_add_node(w.s.graph, wide_node(&w));
            assert_true(ggml_gallocr_alloc_graph(w.s.galloc, w.s.graph));
            assert_in_range(gb_fault_each(check_wide, &w), 4, 12);
            assert_true(fake_failed());
            scene_close(&w.s);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_needs_two_places_or_one_in_place),
        cmocka_unit_test(either_source_of_a_sum_may_be_taken_over),
        cmocka_unit_test(a_softmax_may_lie_on_its_values_but_not_on_its_mask),
        cmocka_unit_test(what_is_read_twice_by_one_node_is_not_taken_over),
        cmocka_unit_test(other_layouts_are_not_taken_over),
        cmocka_unit_test(views_of_all_of_a_tensor_are_taken_over),
        cmocka_unit_test(outputs_stay_to_the_end),
        cmocka_unit_test(what_an_output_view_looks_at_stays_too),
        cmocka_unit_test(a_result_that_is_a_view_keeps_its_source),
        cmocka_unit_test(a_view_read_later_keeps_its_source),
        cmocka_unit_test(a_plain_view_without_sources_keeps_its_source),
        cmocka_unit_test(what_only_a_plain_view_reaches_gets_a_place),
        cmocka_unit_test(a_marker_node_keeps_a_tensor_up_to_its_place),
        cmocka_unit_test(inputs_do_not_overlap_before_the_graph_runs),
        cmocka_unit_test(what_has_data_is_left_alone),
        cmocka_unit_test(nothing_to_place_still_gives_a_buffer),
        cmocka_unit_test(an_equal_graph_gets_the_same_places_without_a_plan),
        cmocka_unit_test(the_buffer_grows_and_never_shrinks),
        cmocka_unit_test(
            a_graph_of_the_same_size_but_another_make_is_planned_again),
        cmocka_unit_test(
            what_worked_in_place_must_still_have_its_sources_shape),
        cmocka_unit_test(what_took_a_view_must_still_have_all_of_it),
        cmocka_unit_test(a_graph_that_does_not_fit_has_no_addresses_afterwards),
        cmocka_unit_test(data_that_is_gone_since_the_plan_is_noticed),
        cmocka_unit_test(reserving_touches_no_tensor),
        cmocka_unit_test(slots_of_one_type_share_a_buffer),
        cmocka_unit_test(a_slot_that_does_not_exist_is_refused),
        cmocka_unit_test(the_slot_of_each_kind_of_tensor_must_exist),
        cmocka_unit_test(
            what_needs_more_room_than_its_source_takes_a_place_of_its_own),
        cmocka_unit_test(tensors_of_no_bytes_take_no_room),
        cmocka_unit_test(a_result_whose_views_were_read_before_gets_a_place),
        cmocka_unit_test(a_buffer_that_could_not_be_had_may_not_be_needed),
        cmocka_unit_test(only_a_graph_of_the_same_make_fits),
        cmocka_unit_test(
            a_buffer_that_cannot_be_had_fails_and_can_be_tried_again),
        cmocka_unit_test(a_refused_tensor_fails_and_can_be_tried_again),
        cmocka_unit_test(a_tensor_of_a_planned_graph_may_be_refused),
        cmocka_unit_test(failed_graphs_and_missing_arguments_are_refused),
        cmocka_unit_test(tensors_that_no_address_space_holds_are_refused),
        cmocka_unit_test(every_allocation_may_fail_and_be_tried_again),
        cmocka_unit_test(the_check_sees_overlaps),
        cmocka_unit_test(sources_that_stand_nowhere_else_need_memory_too),
        cmocka_unit_test(leafs_that_are_views_need_memory_too),
        cmocka_unit_test(the_check_says_when_it_has_no_memory),
    };

    return cmocka_run_group_tests_name("graph allocator", tests, NULL, NULL);
}
