/* SPDX-License-Identifier: MIT */
/*
 * tests/fuse/patterns.c - which nodes become a group.
 */
#include "lib/fuse/fuse.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

enum { WIDTH = 8, ROWS = 2 };

static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static struct gb_fuse fuse;
static int most_nodes; /* that the backend takes in a group */

/* Of products those with weights of one type. */
static bool
accepts(void *data, const struct gb_fuse_group *group)
{
    assert_ptr_equal(data, &most_nodes);
    for (int i = 1; i < group->n_nodes; i++) {
        if (group->pattern == GB_FUSE_PRODUCTS &&
            group->nodes[i]->src[0]->type != group->nodes[0]->src[0]->type)
            return false;
    }
    return group->n_nodes <= most_nodes;
}

static int
setup(void **state)
{
    (void)state;
    ctx = ggml_init((struct ggml_init_params){ .mem_size = 1 << 20 });
    graph = ctx == NULL ? NULL : ggml_new_graph(ctx);
    most_nodes = GB_FUSE_MAX_NODES;
    return graph == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
    (void)state;
    gb_fuse_clear(&fuse);
    ggml_free(ctx);
    return 0;
}

static struct ggml_tensor *
leaf(int64_t rows)
{
    return ggml_new_tensor_2d(ctx, GGML_TYPE_F32, WIDTH, rows);
}

static void
find(struct ggml_tensor *last)
{
    ggml_build_forward_expand(graph, last);
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
}

static void
check_only_group(enum gb_fuse_pattern pattern, int n_nodes, unsigned written,
                 struct ggml_tensor *last)
{
    assert_int_equal(fuse.n_groups, 1);
    assert_int_equal(fuse.groups[0].pattern, pattern);
    assert_int_equal(fuse.groups[0].n_nodes, n_nodes);
    assert_int_equal(fuse.groups[0].written, written);
    assert_ptr_equal(fuse.groups[0].nodes[n_nodes - 1], last);
}

static void
chains_are_found(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *w = leaf(1), *y;
    struct ggml_tensor *square = leaf(WIDTH);

    (void)state;
    y = ggml_mul(ctx, w, ggml_rms_norm(ctx, w, 1e-5f));
    find(y);
    check_only_group(GB_FUSE_NORM, 2, 3, y);

    graph = ggml_new_graph(ctx);
    y = ggml_mul(ctx, ggml_norm(ctx, ggml_add(ctx, x, w), 1e-5f), w);
    find(y);
    check_only_group(GB_FUSE_ADD_NORM, 3, 7, y);

    graph = ggml_new_graph(ctx);
    y = ggml_mul(ctx, ggml_gelu(ctx, x), x);
    find(y);
    check_only_group(GB_FUSE_GATE, 2, 3, y);

    graph = ggml_new_graph(ctx);
    y = ggml_add(ctx, ggml_add(ctx, ggml_mul_mat(ctx, square, x), w), x);
    find(y);
    check_only_group(GB_FUSE_PRODUCT, 3, 7, y);

    graph = ggml_new_graph(ctx);
    y = ggml_reshape_3d(ctx, x, 4, 2, ROWS);
    y = ggml_rope(ctx, y, ggml_new_tensor_1d(ctx, GGML_TYPE_I32, ROWS), 4, 0);
    y = ggml_cpy(ctx, y, ggml_new_tensor_1d(ctx, GGML_TYPE_F16, WIDTH * ROWS));
    find(y);
    check_only_group(GB_FUSE_ROPE_STORE, 2, 3, y);
}

static struct ggml_tensor *
numbers(int64_t n)
{
    return ggml_new_tensor_1d(ctx, GGML_TYPE_I32, n);
}

/* Rows that are picked, with what a norm has behind it: they are written only
 * where somebody sees them, and may lie in no place of what they are picked
 * from, since each may be any row of that. */
static void
norms_of_picked_rows_are_found(void **state)
{
    struct ggml_tensor *x = leaf(4), *w = leaf(1), *rows, *norm, *y, *sum;

    (void)state;
    rows = ggml_get_rows(ctx, x, numbers(ROWS));
    y = ggml_mul(ctx, ggml_rms_norm_inplace(ctx, rows, 1e-5f), w);
    find(y);
    check_only_group(GB_FUSE_GET_NORM, 3, 6, y);

    graph = ggml_new_graph(ctx);
    norm = ggml_norm(ctx, ggml_get_rows(ctx, x, numbers(ROWS)), 1e-5f);
    y = ggml_add(ctx, ggml_mul(ctx, leaf(ROWS), norm), w);
    find(y);
    check_only_group(GB_FUSE_GET_NORM, 4, 15, y);

    /* The last sum reads what was picked. */
    graph = ggml_new_graph(ctx);
    rows = ggml_get_rows(ctx, x, numbers(ROWS));
    y = ggml_mul(ctx, ggml_rms_norm(ctx, rows, 1e-5f), w);
    sum = ggml_add(ctx, y, rows);
    find(sum);
    check_only_group(GB_FUSE_GET_NORM, 3, 7, y);

    /* The result lies where the rows are that are picked. */
    graph = ggml_new_graph(ctx);
    x = leaf(ROWS);
    rows = ggml_get_rows(ctx, x, numbers(ROWS));
    y = ggml_mul(ctx, ggml_rms_norm(ctx, rows, 1e-5f), w);
    y->data = x->data;
    find(y);
    check_only_group(GB_FUSE_NORM, 2, 3, y);

    /* The numbers lie where the result will be. */
    y->data = rows->src[1]->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    check_only_group(GB_FUSE_NORM, 2, 3, y);

    /* What is picked from changes before the norm. */
    graph = ggml_new_graph(ctx);
    rows = ggml_get_rows(ctx, x, numbers(ROWS));
    norm = ggml_sqr_inplace(ctx, x);
    ggml_build_forward_expand(graph, rows);
    ggml_build_forward_expand(graph, norm);
    y = ggml_mul(ctx, ggml_rms_norm(ctx, rows, 1e-5f), leaf(1));
    find(y);
    check_only_group(GB_FUSE_NORM, 2, 3, y);
}

/* As older models have them: scale, mask, softmax, of which some are missing. */
static void
scores_are_found(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *y;

    (void)state;
    y = ggml_diag_mask_inf(ctx, ggml_scale(ctx, x, 0.5f), 3);
    y = ggml_soft_max(ctx, y);
    find(y);
    check_only_group(GB_FUSE_SOFT_MAX, 3, 7, y);

    graph = ggml_new_graph(ctx);
    y = ggml_add(ctx, ggml_scale(ctx, x, 0.5f), leaf(1));
    y = ggml_soft_max(ctx, y);
    find(y);
    check_only_group(GB_FUSE_SOFT_MAX, 3, 7, y);

    graph = ggml_new_graph(ctx);
    y = ggml_soft_max(ctx, ggml_scale(ctx, x, 0.5f));
    find(y);
    check_only_group(GB_FUSE_SOFT_MAX, 2, 3, y);

    /* In its place each node takes the memory of the one before. */
    graph = ggml_new_graph(ctx);
    y = ggml_soft_max_inplace(ctx, ggml_diag_mask_inf_inplace(ctx, x, 3));
    find(y);
    check_only_group(GB_FUSE_SOFT_MAX, 2, 2, y);

    /* Zeros are another mask; a mask that lies where the result will be, but
     * for one row of it alone, would be read behind that. */
    graph = ggml_new_graph(ctx);
    y = ggml_soft_max(ctx, ggml_diag_mask_zero(ctx, x, 3));
    find(y);
    assert_int_equal(fuse.n_groups, 0);
    graph = ggml_new_graph(ctx);
    y = ggml_add(ctx, x, leaf(1));
    y = ggml_soft_max(ctx, y);
    y->data = y->src[0]->src[1]->data;
    find(y);
    assert_int_equal(fuse.n_groups, 0);
}

static struct ggml_tensor *
rope(struct ggml_tensor *x)
{
    x = ggml_reshape_3d(ctx, x, 4, 2, x->ne[1]);
    return ggml_rope(ctx, x, ggml_new_tensor_1d(ctx, GGML_TYPE_I32, x->ne[2]),
                     4, 0);
}

static struct ggml_tensor *
store(struct ggml_tensor *x)
{
    struct ggml_tensor *cache =
        ggml_new_tensor_1d(ctx, GGML_TYPE_F16, 2 * ggml_nelements(x));

    return ggml_cpy(ctx, x, ggml_view_1d(ctx, cache, ggml_nelements(x), 0));
}

/* A layer's stores: queries are rotated before the key that is one part with
 * its copy, and all of them are computed where the value is copied. */
static void
stores_that_lie_apart_are_found(void **state)
{
    struct ggml_tensor *q = rope(leaf(ROWS)), *k = rope(leaf(ROWS));
    struct ggml_tensor *copies[] = { store(k), store(leaf(1)) };
    const struct gb_fuse_group *group;

    (void)state;
    ggml_build_forward_expand(graph, q);
    ggml_build_forward_expand(graph, k);
    ggml_build_forward_expand(graph, copies[0]);
    find(copies[1]);
    check_only_group(GB_FUSE_STORES, 4, 15, copies[1]);
    group = &fuse.groups[0];
    assert_int_equal(group->n_parts, 3);
    assert_int_equal(group->part[0], 0);
    assert_int_equal(group->part[1], 1);
    assert_int_equal(group->part[2], 1);
    assert_int_equal(group->part[3], 2);
    assert_true(gb_fuse_is_place(group, group->at[3]));
    assert_ptr_equal(gb_fuse_group_of(&fuse, group->at[0]), group);

    /* What the backend refuses together with others is left out. */
    most_nodes = 2;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    assert_int_equal(fuse.n_groups, 2);
    assert_int_equal(fuse.groups[0].pattern, GB_FUSE_ROPE_STORE);
    assert_int_equal(fuse.groups[1].pattern, GB_FUSE_STORES);
    assert_ptr_equal(fuse.groups[1].nodes[0], q);
    assert_ptr_equal(fuse.groups[1].nodes[1], copies[1]);

    /* What takes the memory of the rotated key is no part of it, and behind it
     * nobody misses that. */
    most_nodes = GB_FUSE_MAX_NODES;
    graph = ggml_new_graph(ctx);
    k = rope(leaf(ROWS));
    copies[0] = store(k);
    ggml_build_forward_expand(graph, copies[0]);
    q = rope(leaf(ROWS));
    q->data = k->data;
    find(q);
    check_only_group(GB_FUSE_ROPE_STORE, 2, 2, copies[0]);
}

/* Two copies of one rotation, and what is made of a copy. */
static void
stores_that_read_each_other_are_left_alone(void **state)
{
    struct ggml_tensor *k = rope(leaf(ROWS)), *first = store(k);

    (void)state;
    ggml_build_forward_expand(graph, first);
    find(store(k));
    check_only_group(GB_FUSE_ROPE_STORE, 2, 3, first);

    graph = ggml_new_graph(ctx);
    find(store(store(leaf(ROWS))));
    assert_int_equal(fuse.n_groups, 0);

    /* What comes between them needs the first. */
    graph = ggml_new_graph(ctx);
    k = rope(leaf(ROWS));
    ggml_build_forward_expand(graph, ggml_sqr(ctx, k));
    find(store(leaf(ROWS)));
    assert_int_equal(fuse.n_groups, 0);
}

static struct ggml_tensor *
slice(struct ggml_tensor *t, int64_t i)
{
    return ggml_view_2d(ctx, t, WIDTH, 1, t->nb[1], (size_t)i * t->nb[1]);
}

/* What experts made, by their weights: the product is not written where its
 * memory is written again. */
static void
sums_of_slices_are_found(void **state)
{
    struct ggml_tensor *x = leaf(3), *y, *sum, *later;

    (void)state;
    y = ggml_mul(ctx, x, ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 1, 3));
    sum = ggml_add(ctx, slice(y, 0), slice(y, 1));
    sum = ggml_add(ctx, sum, slice(y, 2));
    ggml_build_forward_expand(graph, sum);
    later = ggml_sqr(ctx, leaf(3));
    later->data = y->data;
    find(later);
    check_only_group(GB_FUSE_SLICES, 3, 6, sum);
    later->data = x->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    check_only_group(GB_FUSE_SLICES, 3, 7, sum);

    /* The sum takes the place of what is multiplied. */
    sum->data = x->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    check_only_group(GB_FUSE_SLICES, 2, 3, sum->src[0]);
}

/* As an allocator has it: each sum takes the place of the one before. */
static void
sums_in_place_are_found(void **state)
{
    struct ggml_tensor *y, *sum, *last;

    (void)state;
    y = ggml_mul(ctx, leaf(5), ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 1, 5));
    sum = ggml_add(ctx, slice(y, 0), slice(y, 1));
    last = sum;
    for (int i = 2; i < 5; i++) {
        last = ggml_add(ctx, last, slice(y, i));
        last->data = sum->data;
    }
    find(last);
    check_only_group(GB_FUSE_SLICES, 5, 17, last);
}

/* The experts of tokens: by pairs, and by their sum. */
static void
routes_are_found(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *values, *order, *picked, *y;

    (void)state;
    values = ggml_soft_max(ctx, x);
    picked = ggml_get_rows(ctx, ggml_reshape_3d(ctx, values, 1, WIDTH, ROWS),
                           ggml_top_k(ctx, values, 2));
    find(picked);
    check_only_group(GB_FUSE_ROUTE, 3, 7, picked);

    y = ggml_reshape_2d(ctx, picked, 2, ROWS);
    y = ggml_div(ctx, y, ggml_sum_rows(ctx, y));
    y->data = picked->data;
    find(y);
    check_only_group(GB_FUSE_ROUTE, 5, 27, y);

    assert_true(gb_fuse_is_place(&fuse.groups[0], fuse.groups[0].at[4]));

    /* The sum takes the place of what is divided by it. */
    y->src[1]->data = picked->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    check_only_group(GB_FUSE_ROUTE, 3, 7, picked);

    /* Products of experts read the order before the rest is there. */
    graph = ggml_new_graph(ctx);
    values = ggml_soft_max(ctx, x);
    order = ggml_top_k(ctx, values, 2);
    ggml_build_forward_expand(graph, ggml_cont(ctx, order));
    picked = ggml_get_rows(ctx, ggml_reshape_3d(ctx, values, 1, WIDTH, ROWS),
                           order);
    find(picked);
    check_only_group(GB_FUSE_ROUTE, 3, 7, picked);
    assert_true(gb_fuse_is_place(&fuse.groups[0], fuse.groups[0].at[0]));

    /* One of them lies where the result would be too early. */
    ggml_graph_node(graph, 3)->data = picked->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    assert_int_equal(fuse.n_groups, 0);

    /* What is picked is not of what is sorted. */
    graph = ggml_new_graph(ctx);
    values = ggml_soft_max(ctx, x);
    find(ggml_get_rows(ctx, ggml_reshape_3d(ctx, x, 1, WIDTH, ROWS),
                       ggml_top_k(ctx, values, 2)));
    assert_int_equal(fuse.n_groups, 0);
}

/* Slices of something else, and a sum that adds itself. */
static void
sums_of_others_are_left_alone(void **state)
{
    struct ggml_tensor *x = leaf(3), *y, *sum;

    (void)state;
    y = ggml_mul(ctx, x, leaf(1));
    ggml_build_forward_expand(graph, y);
    find(ggml_add(ctx, slice(y, 0), slice(x, 1)));
    assert_int_equal(fuse.n_groups, 0);

    graph = ggml_new_graph(ctx);
    y = ggml_mul(ctx, x, leaf(1));
    sum = ggml_add(ctx, slice(y, 0), slice(y, 1));
    find(ggml_add(ctx, sum, sum));
    check_only_group(GB_FUSE_SLICES, 2, 3, sum);
}

/* A layer's feed-forward part: one product passes the other's function. */
static void
products_with_one_right_side_are_found(void **state)
{
    struct ggml_tensor *x = leaf(ROWS);
    struct ggml_tensor *gate = ggml_mul_mat(ctx, leaf(WIDTH), x);
    struct ggml_tensor *up = ggml_mul_mat(ctx, leaf(WIDTH), x);
    struct ggml_tensor *y = ggml_mul(ctx, ggml_silu(ctx, gate), up);

    (void)state;
    find(y);
    assert_int_equal(fuse.n_groups, 2);
    assert_int_equal(fuse.groups[0].pattern, GB_FUSE_GATE);
    assert_int_equal(fuse.groups[1].pattern, GB_FUSE_PRODUCTS);
    assert_int_equal(fuse.groups[1].n_nodes, 2);
    assert_int_equal(fuse.groups[1].written, 3);
    assert_true(gb_fuse_is_place(&fuse.groups[1], fuse.groups[1].at[0]));
    assert_ptr_equal(fuse.groups[1].nodes[1], up);

    /* The second one takes the memory of the first, which is done with. */
    up->data = gate->data;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    assert_int_equal(fuse.n_groups, 0);
}

static void
check_pair(const struct gb_fuse_group *group, const struct ggml_tensor *first,
           const struct ggml_tensor *second)
{
    assert_int_equal(group->pattern, GB_FUSE_PRODUCTS);
    assert_int_equal(group->n_nodes, 2);
    assert_int_equal(group->n_parts, 2);
    assert_int_equal(group->written, 3);
    assert_ptr_equal(group->nodes[0], first);
    assert_ptr_equal(group->nodes[1], second);
}

/* Those of each type go together, whatever stands between them. */
static void
products_that_differ_are_left_out(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *y[5];

    (void)state;
    for (int i = 0; i < 5; i++) {
        y[i] = ggml_mul_mat(
            ctx,
            ggml_new_tensor_2d(ctx, i % 2 == 0 ? GGML_TYPE_F32 : GGML_TYPE_F16,
                               WIDTH, WIDTH),
            x);
        if (i < 3)
            ggml_build_forward_expand(graph, y[i]);
    }
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    assert_int_equal(fuse.n_groups, 1);
    check_pair(&fuse.groups[0], y[0], y[2]);
    assert_null(gb_fuse_group_of(&fuse, 1));

    find(y[3]);
    assert_int_equal(fuse.n_groups, 2);
    check_pair(&fuse.groups[0], y[0], y[2]);
    check_pair(&fuse.groups[1], y[1], y[3]);

    /* The fifth may not pass the one whose memory it takes. */
    y[4]->data = y[3]->data;
    find(y[4]);
    assert_int_equal(fuse.n_groups, 2);
    check_pair(&fuse.groups[0], y[0], y[2]);
    check_pair(&fuse.groups[1], y[1], y[3]);
}

/* As an allocator has it: the product takes the place of the norm. */
static void
results_that_nobody_sees_are_not_written(void **state)
{
    struct ggml_tensor *norm = ggml_rms_norm(ctx, leaf(ROWS), 1e-5f);
    struct ggml_tensor *y = ggml_mul(ctx, norm, leaf(1));

    (void)state;
    y->data = norm->data;
    find(y);
    check_only_group(GB_FUSE_NORM, 2, 2, y);
}

/* One that covers a part of it alone leaves the rest to be seen. */
static void
results_that_are_seen_in_part_are_written(void **state)
{
    struct ggml_tensor *norm = ggml_rms_norm(ctx, leaf(ROWS), 1e-5f);
    struct ggml_tensor *y = ggml_mul(ctx, norm, leaf(1));
    struct ggml_tensor *later = ggml_sqr(ctx, leaf(1));

    (void)state;
    later->data = norm->data;
    ggml_build_forward_expand(graph, y);
    find(later);
    check_only_group(GB_FUSE_NORM, 2, 3, y);
}

static void
the_longest_that_the_backend_takes_wins(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *w = leaf(1);
    struct ggml_tensor *y = ggml_mul(ctx, ggml_rms_norm(ctx, x, 1e-5f), w);

    (void)state;
    find(ggml_add(ctx, y, x));
    assert_int_equal(fuse.groups[0].n_nodes, 3);
    most_nodes = 2;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    check_only_group(GB_FUSE_NORM, 2, 3, y);
    most_nodes = 1;
    assert_true(gb_fuse_find(&fuse, graph, accepts, &most_nodes));
    assert_int_equal(fuse.n_groups, 0);
    assert_null(gb_fuse_group_of(&fuse, 0));
}

/* Neighbours that look like groups. */
static void
others_are_left_alone(void **state)
{
    struct ggml_tensor *x = leaf(ROWS), *w = leaf(1), *norm, *y;

    (void)state;
    /* Both operands are the norm. */
    norm = ggml_rms_norm(ctx, x, 1e-5f);
    find(ggml_mul(ctx, norm, norm));
    assert_int_equal(fuse.n_groups, 0);

    /* Another node stands between them and writes to the first one's source. */
    graph = ggml_new_graph(ctx);
    norm = ggml_rms_norm(ctx, x, 1e-5f);
    y = ggml_sqr_inplace(ctx, x);
    ggml_build_forward_expand(graph, norm);
    ggml_build_forward_expand(graph, y);
    find(ggml_mul(ctx, norm, w));
    assert_int_equal(fuse.n_groups, 0);

    /* Another node between them reads the first one's result. */
    graph = ggml_new_graph(ctx);
    norm = ggml_rms_norm(ctx, leaf(ROWS), 1e-5f);
    ggml_build_forward_expand(graph, norm);
    ggml_build_forward_expand(graph, ggml_sqr(ctx, norm));
    find(ggml_mul(ctx, norm, w));
    assert_int_equal(fuse.n_groups, 0);

    /* The product's result would take the place of its right side. */
    graph = ggml_new_graph(ctx);
    x = leaf(WIDTH);
    y = ggml_mul_mat(ctx, leaf(WIDTH), x);
    y = ggml_add(ctx, y, w);
    y->data = x->data;
    find(y);
    assert_int_equal(fuse.n_groups, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chains_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            norms_of_picked_rows_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(scores_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            stores_that_lie_apart_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            stores_that_read_each_other_are_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(
            sums_of_slices_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            sums_in_place_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(routes_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            sums_of_others_are_left_alone, setup, teardown),
        cmocka_unit_test_setup_teardown(
            products_with_one_right_side_are_found, setup, teardown),
        cmocka_unit_test_setup_teardown(
            products_that_differ_are_left_out, setup, teardown),
        cmocka_unit_test_setup_teardown(
            results_that_nobody_sees_are_not_written, setup, teardown),
        cmocka_unit_test_setup_teardown(
            results_that_are_seen_in_part_are_written, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_longest_that_the_backend_takes_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(others_are_left_alone, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
