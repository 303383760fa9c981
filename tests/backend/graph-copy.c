/* SPDX-License-Identifier: MIT */
/*
 * tests/backend/graph-copy.c - a graph on another backend, and both compared.
 */
#include "tests/backend/fake.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

#include "lib/graph/graph.h"
#include "tests/util/fault.h"

#include "ggml-impl.h"

#define N 8

/* y = scale(a + b), z = y's second half + itself, on the first device. */
struct scene {
    struct fake fake0, fake1;
    ggml_backend_t backend0, backend1;
    struct ggml_context *ctx;
    struct ggml_cgraph *graph;
    struct ggml_tensor *a, *b, *y, *half, *z;
    ggml_backend_buffer_t buffer;
};

static void
scene_open(struct scene *s)
{
    float values[N];

    fake_init(&s->fake0, "Fake0");
    fake_init(&s->fake1, "Fake1");
    s->backend0 = fake_backend(&s->fake0);
    s->backend1 = fake_backend(&s->fake1);
    s->ctx = fake_context(32);
    s->a = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, N);
    s->b = ggml_new_tensor_1d(s->ctx, GGML_TYPE_F32, N);
    ggml_set_name(s->a, "a");
    ggml_set_input(s->a);
    s->y = ggml_scale(s->ctx, ggml_add(s->ctx, s->a, s->b), 2.0f);
    s->half = ggml_view_1d(s->ctx, s->y, N / 2, N / 2 * sizeof(float));
    s->z = ggml_add(s->ctx, s->half, s->half);
    s->graph = ggml_new_graph_custom(s->ctx, 16, false);
    ggml_build_forward_expand(s->graph, s->z);
    s->buffer = ggml_backend_alloc_ctx_tensors(s->ctx, s->backend0);
    assert_non_null(s->buffer);
    for (int i = 0; i < N; i++)
        values[i] = (float)i;
    ggml_backend_tensor_set(s->a, values, 0, sizeof(values));
    ggml_backend_tensor_set(s->b, values, 0, sizeof(values));
    fake_failed();
}

static void
scene_close(struct scene *s)
{
    ggml_backend_buffer_free(s->buffer);
    ggml_backend_free(s->backend0);
    ggml_backend_free(s->backend1);
    ggml_free(s->ctx);
    assert_int_equal(s->fake0.calls.alloc, s->fake0.calls.free);
    assert_int_equal(s->fake1.calls.alloc, s->fake1.calls.free);
}

static void
assert_nothing(struct ggml_backend_graph_copy copy)
{
    assert_null(copy.buffer);
    assert_null(copy.ctx_allocated);
    assert_null(copy.ctx_unallocated);
    assert_null(copy.graph);
    assert_true(fake_failed());
    ggml_backend_graph_copy_free(copy);
}

static void
the_copy_has_the_same_nodes_with_its_own_data(void **state)
{
    struct ggml_backend_graph_copy copy;
    struct ggml_tensor *z, *half, *y, *sum, *a;
    struct scene s;

    (void)state;
    scene_open(&s);
    copy = ggml_backend_graph_copy(s.backend1, s.graph);
    assert_non_null(copy.graph);
    assert_int_equal(ggml_graph_n_nodes(copy.graph), 4);
    assert_int_equal(copy.graph->n_leafs, 0);
    assert_int_equal(ggml_graph_size(copy.graph), 16);
    assert_int_equal(ggml_backend_buffer_get_usage(copy.buffer),
                     GGML_BACKEND_BUFFER_USAGE_ANY);

    z = ggml_graph_node(copy.graph, -1);
    half = z->src[0];
    y = half->src[0];
    sum = y->src[0];
    a = sum->src[0];
    for (int i = 0; i < 4; i++) {
        const struct ggml_tensor *old = ggml_graph_node(s.graph, i);
        const struct ggml_tensor *new = ggml_graph_node(copy.graph, i);

        assert_int_equal(old->op, new->op);
        assert_string_equal(old->name, new->name);
        assert_memory_equal(old->ne, new->ne, sizeof(old->ne));
        assert_memory_equal(old->nb, new->nb, sizeof(old->nb));
        assert_memory_equal(old->op_params, new->op_params,
                            sizeof(old->op_params));
        assert_ptr_not_equal(old->data, new->data);
    }
    assert_ptr_equal(z->src[1], half);
    assert_ptr_equal(half->view_src, y);
    assert_int_equal(half->view_offs, 16);
    assert_ptr_equal(half->data, (char *)y->data + 16);
    assert_string_equal(a->name, "a");
    assert_int_equal(a->flags, 0);
    assert_memory_equal(fake_shadow(a), fake_shadow(s.a), sizeof(float) * N);
    ggml_backend_graph_copy_free(copy);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
a_view_may_have_a_shape_that_no_tensor_has(void **state)
{
    struct ggml_context *ctx = fake_context(8);
    struct ggml_backend_graph_copy copy;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
    struct ggml_tensor *w, *t;
    struct fake fake;

    (void)state;
    fake_init(&fake, "Fake0");
    backend = fake_backend(&fake);
    w = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 64, 3);
    /* No builder transposes blocks; another program's nodes may still be so. */
    t = ggml_permute(ctx, w, 0, 1, 2, 3);
    t->ne[0] = w->ne[1];
    t->ne[1] = w->ne[0];
    t->nb[0] = w->nb[1];
    t->nb[1] = w->nb[0];
    graph = ggml_new_graph_custom(ctx, 4, false);
    ggml_build_forward_expand(graph, t);
    buffer = ggml_backend_alloc_ctx_tensors(ctx, backend);
    copy = ggml_backend_graph_copy(backend, graph);
    assert_non_null(copy.graph);
    assert_int_equal(ggml_graph_node(copy.graph, 0)->type, GGML_TYPE_Q8_0);
    assert_int_equal(ggml_graph_node(copy.graph, 0)->ne[0], 3);
    ggml_backend_graph_copy_free(copy);
    ggml_backend_buffer_free(buffer);
    ggml_backend_free(backend);
    ggml_free(ctx);
}

static void
what_has_no_bytes_needs_no_data(void **state)
{
    struct ggml_backend_graph_copy copy;
    struct ggml_tensor *empty;
    struct scene s;

    (void)state;
    scene_open(&s);
    empty = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 0);
    ggml_build_forward_expand(s.graph, ggml_add(s.ctx, empty, empty));
    fake_failed();
    copy = ggml_backend_graph_copy(s.backend1, s.graph);
    assert_non_null(copy.graph);
    assert_int_equal(ggml_graph_n_nodes(copy.graph),
                     ggml_graph_n_nodes(s.graph));
    assert_int_equal(ggml_graph_node(copy.graph, -1)->ne[0], 0);
    assert_false(fake_failed());
    ggml_backend_graph_copy_free(copy);
    scene_close(&s);
}

static void
what_cannot_be_copied_gives_four_nulls(void **state)
{
    struct ggml_backend_graph_copy copy;
    ggml_backend_buffer_t buffer;
    struct ggml_cgraph slice;
    struct ggml_tensor *t;
    struct scene s;
    void *data;

    (void)state;
    scene_open(&s);
    assert_nothing(ggml_backend_graph_copy(NULL, s.graph));
    assert_nothing(ggml_backend_graph_copy(s.backend1, NULL));

    slice = (struct ggml_cgraph){ .n_nodes = 1, .nodes = s.graph->nodes };
    assert_nothing(ggml_backend_graph_copy(s.backend1, &slice));

    data = s.b->data;
    s.b->data = NULL;
    assert_nothing(ggml_backend_graph_copy(s.backend1, s.graph));
    s.b->data = data;

    s.fake1.allocs_left = 0;
    assert_nothing(ggml_backend_graph_copy(s.backend1, s.graph));
    s.fake1.allocs_left = -1;
    for (int n = 0; n < 5; n++) {
        s.fake1.inits_left = n;
        assert_nothing(ggml_backend_graph_copy(s.backend1, s.graph));
    }
    s.fake1.inits_left = 5; /* behind those that own their data: a view */
    copy = ggml_backend_graph_copy(s.backend1, s.graph);
    assert_null(copy.graph);
    assert_null(copy.buffer);
    s.fake1.inits_left = -1;

    buffer = s.b->buffer;
    s.b->buffer = NULL;
    assert_nothing(ggml_backend_graph_copy(s.backend1, s.graph));
    s.b->buffer = buffer;

    s.graph = ggml_new_graph_custom(s.ctx, 2, false);
    t = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, 3);
    ggml_build_forward_expand(s.graph, ggml_add(s.ctx, s.a, t));
    assert_nothing(ggml_backend_graph_copy(s.backend1, s.graph));
    scene_close(&s);
}

static void
copy_and_free(void *data)
{
    struct scene *s = data;
    struct ggml_backend_graph_copy copy =
        ggml_backend_graph_copy(s->backend1, s->graph);

    if (gb_fault_happened())
        assert_nothing(copy);
    else
        assert_non_null(copy.graph);
    ggml_backend_graph_copy_free(copy);
}

static void
every_allocation_of_a_copy_may_fail(void **state)
{
    struct scene s;

    (void)state;
    scene_open(&s);
    assert_true(gb_fault_each(copy_and_free, &s) > 5);
    scene_close(&s);
}

/* What the callback saw. */
struct seen {
    int n, stop_at;
    int nodes[16];
    float largest;
};

static bool
look(int index, struct ggml_tensor *t1, struct ggml_tensor *t2, void *user_data)
{
    struct seen *seen = user_data;
    float v1[N], v2[N];

    assert_string_equal(t1->name, t2->name);
    ggml_backend_tensor_get(t1, v1, 0, ggml_nbytes(t1));
    ggml_backend_tensor_get(t2, v2, 0, ggml_nbytes(t2));
    for (int64_t i = 0; i < ggml_nelements(t1); i++)
        if (v2[i] - v1[i] > seen->largest)
            seen->largest = v2[i] - v1[i];
    seen->nodes[seen->n++] = index;
    return seen->n != seen->stop_at;
}

static void
equal_backends_agree_on_every_node_but_views(void **state)
{
    struct seen seen = { .stop_at = -1 };
    float z[N / 2];
    struct scene s;

    (void)state;
    scene_open(&s);
    assert_true(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                   s.graph, look, &seen));
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.nodes[0], 0);
    assert_int_equal(seen.nodes[1], 1);
    assert_int_equal(seen.nodes[2], 3);
    assert_true(seen.largest == 0);
    ggml_backend_tensor_get(s.z, z, 0, sizeof(z));
    for (int i = 0; i < N / 2; i++)
        assert_true(z[i] == (float)(8 * (i + N / 2)));
    assert_int_equal(s.fake0.calls.compute, 4);
    assert_false(fake_failed());
    scene_close(&s);
}

static void
a_wrong_backend_is_seen_and_its_errors_add_up(void **state)
{
    struct seen seen = { .stop_at = -1 };
    struct scene s;

    (void)state;
    scene_open(&s);
    s.fake1.error = 1.0f;
    assert_true(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                   s.graph, look, &seen));
    assert_true(seen.largest == 5.0f); /* 1, twice that, twice that and 1 */
    scene_close(&s);
}

static void
the_callback_stops_and_statuses_do_not(void **state)
{
    struct seen seen = { .stop_at = 1 };
    struct scene s;

    (void)state;
    scene_open(&s);
    assert_true(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                   s.graph, look, &seen));
    assert_int_equal(seen.n, 1);
    assert_int_equal(s.fake0.calls.compute, 1);
    seen = (struct seen){ .stop_at = -1 };
    s.fake0.compute_status = GGML_STATUS_FAILED;
    assert_true(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                   s.graph, look, &seen));
    assert_int_equal(seen.n, 3);
    scene_close(&s);
}

static void
without_a_copy_there_is_no_comparison(void **state)
{
    struct seen seen = { .stop_at = -1 };
    struct scene s;

    (void)state;
    scene_open(&s);
    s.fake1.allocs_left = 0;
    assert_false(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                    s.graph, look, &seen));
    assert_true(fake_failed());
    assert_false(ggml_backend_compare_graph_backend(NULL, s.backend1, s.graph,
                                                    look, &seen));
    assert_true(fake_failed());
    assert_false(ggml_backend_compare_graph_backend(s.backend0, NULL, s.graph,
                                                    look, &seen));
    assert_true(fake_failed());
    assert_false(ggml_backend_compare_graph_backend(s.backend0, s.backend1,
                                                    s.graph, NULL, &seen));
    assert_true(fake_failed());
    assert_int_equal(seen.n, 0);
    scene_close(&s);
}

/* A node alone, with sources that no list of the graph has. */
static void
sources_of_a_slice_need_memory_too(void **state)
{
    (void)state;
    for (int n = 1; n <= GGML_MAX_SRC; n++) {
        for (int are_views = 0; are_views < 2; are_views++) {
            struct ggml_tensor *node, *roots[GGML_MAX_SRC];
            struct scene s;

            scene_open(&s);
            ggml_backend_buffer_free(s.buffer);
            ggml_reset(s.ctx);
            node = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
            node->op = GGML_OP_ADD;
            for (int i = 0; i < n; i++) {
                roots[i] = ggml_new_tensor_1d(s.ctx, GGML_TYPE_F32, N);
                node->src[i] =
                    are_views ? ggml_view_1d(s.ctx, roots[i], N, 0) : roots[i];
            }
            s.graph = ggml_new_graph_custom(s.ctx, 1, false);
            ggml_graph_add_node(s.graph, node);
            s.buffer = ggml_backend_alloc_ctx_tensors(s.ctx, s.backend0);
            assert_non_null(s.buffer);
            fake_failed();
            assert_true(gb_fault_each(copy_and_free, &s) > 5);
            scene_close(&s);
        }
    }
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_copy_has_the_same_nodes_with_its_own_data),
        cmocka_unit_test(a_view_may_have_a_shape_that_no_tensor_has),
        cmocka_unit_test(what_has_no_bytes_needs_no_data),
        cmocka_unit_test(what_cannot_be_copied_gives_four_nulls),
        cmocka_unit_test(every_allocation_of_a_copy_may_fail),
        cmocka_unit_test(sources_of_a_slice_need_memory_too),
        cmocka_unit_test(equal_backends_agree_on_every_node_but_views),
        cmocka_unit_test(a_wrong_backend_is_seen_and_its_errors_add_up),
        cmocka_unit_test(the_callback_stops_and_statuses_do_not),
        cmocka_unit_test(without_a_copy_there_is_no_comparison),
    };

    return cmocka_run_group_tests_name("graph copies", tests, NULL, NULL);
}
