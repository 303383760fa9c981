/* SPDX-License-Identifier: MIT */
/*
 * tests/fuse/seen.c - which graphs are those that were seen before.
 *
 * A graph is built in the same memory each time, as clients do.
 */
#include "lib/fuse/seen.h"

#include "ggml.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { N = 8, ROWS = 6, META = 1 << 16 };

static char *meta;
static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static struct gb_fuse_seen seen;
static float data[3][N * ROWS]; /* of x, of a cache, of results */

/* x * SCALE to row ROW of the cache, and a sum with row OTHER of it. */
static void
build(float scale, int row, int other)
{
    struct ggml_tensor *x, *cache, *stored, *sum;
    const size_t length = N * sizeof(float);

    ggml_free(ctx);
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = META, .mem_buffer = meta, .no_alloc = true });
    assert_non_null(ctx);
    graph = ggml_new_graph_custom(ctx, 64, false);
    x = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, N);
    cache = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N, ROWS);
    x->data = data[0];
    cache->data = data[1];
    x = ggml_scale(ctx, x, scale);
    x->data = data[2];
    stored = ggml_cpy(ctx, x,
                      ggml_view_1d(ctx, cache, N, (size_t)row * length));
    ggml_build_forward_expand(graph, stored);
    sum = ggml_add(ctx, x,
                   ggml_view_1d(ctx, cache, N, (size_t)other * length));
    sum->data = data[2] + N;
    ggml_build_forward_expand(graph, sum);
    for (struct ggml_tensor *t = ggml_get_first_tensor(ctx); t != NULL;
         t = ggml_get_next_tensor(ctx, t))
        if (t->view_src != NULL)
            t->data = (char *)t->view_src->data + t->view_offs;
}

static int
setup(void **state)
{
    (void)state;
    meta = malloc(META);
    return meta == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
    (void)state;
    gb_fuse_seen_clear(&seen);
    ggml_free(ctx);
    ctx = NULL;
    free(meta);
    return 0;
}

static void
a_graph_that_was_built_again_is_the_same(void **state)
{
    (void)state;
    build(2.0f, 1, 0);
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_OTHER);
    gb_fuse_seen_take(&seen, graph);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_SAME);
        build(2.0f, 1, 0);
    }
}

/* Its offset is a parameter of a view too. */
static void
views_that_move_on_are_named(void **state)
{
    (void)state;
    build(2.0f, 0, 5);
    gb_fuse_seen_take(&seen, graph);
    for (int row = 1; row < ROWS; row++) {
        build(2.0f, row, 5);
        assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_MOVED);
        assert_int_equal(seen.n_moved, 2); /* the view, and the copy */
        for (int i = 0; i < 2; i++)
            assert_ptr_equal(seen.tensors[seen.moved[i]]->data,
                             data[1] + row * N);
        assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_SAME);
    }
}

/* And what was seen is still known afterwards. */
static void
others_are_told(void **state)
{
    (void)state;
    build(2.0f, 1, 0);
    gb_fuse_seen_take(&seen, graph);
    build(3.0f, 1, 0);
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_OTHER);
    build(2.0f, 1, 0);
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_SAME);
    build(2.0f, 4, 0);
    ggml_graph_node(graph, ggml_graph_n_nodes(graph) - 1)->data = data[0];
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_OTHER);
    build(2.0f, 1, 0);
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_SAME);
    build(2.0f, 4, 0);
    assert_int_equal(gb_fuse_seen_compare(&seen, graph), GB_FUSE_MOVED);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_graph_that_was_built_again_is_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(views_that_move_on_are_named, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(others_are_told, setup, teardown),
    };

    return cmocka_run_group_tests_name("graphs that come again", tests, NULL,
                                       NULL);
}
