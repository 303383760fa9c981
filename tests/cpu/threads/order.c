/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/order.c - whoever waits for a result gets it: graphs whose
 * tensors share memory, so that a step done too early gives wrong numbers.
 *
 * What a graph must give is computed node by node, each as a graph of its own.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"
#include "backends/cpu/pool/pool.h"

#include "ggml-cpu.h"

#include "tests/util/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ARENA_BYTES ((size_t)2 << 20) /* that nodes share */
#define N_ROWS      96
#define N_COLS      512
#define N_WEIGHTS   256 /* rows of a product's weights */

static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static struct gb_random random_state;
static char *arena;
static char *start; /* what the arena has before a graph is computed */

static int
open_context(void **state)
{
    (void)state;
    ctx = ggml_init((struct ggml_init_params){ .mem_size = (size_t)16 << 20 });
    graph = ggml_new_graph(ctx);
    gb_random_init(&random_state, gb_test_seed(5));
    arena = malloc(2 * ARENA_BYTES);
    assert_non_null(arena);
    start = arena + ARENA_BYTES;
    for (size_t i = 0; i < ARENA_BYTES / sizeof(float); i++)
        ((float *)(void *)start)[i] =
            gb_random_float(&random_state, -1.0f, 1.0f);
    return ctx == NULL;
}

static int
close_context(void **state)
{
    (void)state;
    free(arena);
    ggml_free(ctx);
    return 0;
}

static struct ggml_tensor *
new_input(enum ggml_type type, int64_t ne0, int64_t ne1)
{
    struct ggml_tensor *tensor = ggml_new_tensor_2d(ctx, type, ne0, ne1);
    float *values = malloc((size_t)(ne0 * ne1) * sizeof(*values));

    assert_non_null(values);
    for (int64_t i = 0; i < ne0 * ne1; i++)
        values[i] = gb_random_float(&random_state, -1.0f, 1.0f);
    if (type == GGML_TYPE_F32)
        memcpy(tensor->data, values, ggml_nbytes(tensor));
    else
        ggml_quantize_chunk(type, values, tensor->data, 0, ne1, ne0, NULL);
    free(values);
    return tensor;
}

/* NODE's result goes to byte AT of the arena. */
static struct ggml_tensor *
put(struct ggml_tensor *node, size_t at)
{
    assert_true(at + ggml_nbytes(node) <= ARENA_BYTES);
    node->data = arena + at;
    ggml_build_forward_expand(graph, node);
    return node;
}

static void
compute(struct ggml_cgraph *of, int n_threads)
{
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(n_threads);
    struct ggml_threadpool *pool = gb_cpu_pool_new(&params, n_threads);
    struct ggml_cplan plan = ggml_graph_plan(of, n_threads, pool);

    assert_non_null(pool);
    assert_int_equal(ggml_graph_compute(of, &plan), GGML_STATUS_SUCCESS);
    ggml_threadpool_free(pool);
}

/* Node after node, by one thread. */
static void
compute_in_order(void)
{
    struct ggml_cgraph *one = ggml_new_graph(ctx);

    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        ggml_graph_clear(one);
        ggml_graph_add_node(one, ggml_graph_node(graph, i));
        compute(one, 1);
    }
}

/* All that the arena has in the end is as it must be, for any number of
 * threads. */
static void
check(const char *what)
{
    static const int threads[] = { 1, 2, 3, 8 };
    char *want = malloc(ARENA_BYTES);

    assert_non_null(want);
    memcpy(arena, start, ARENA_BYTES);
    compute_in_order();
    memcpy(want, arena, ARENA_BYTES);
    assert_memory_not_equal(want, start, ARENA_BYTES);
    for (int t = 0; t < 4; t++)
        for (int round = 0; round < 3; round++) {
            memcpy(arena, start, ARENA_BYTES);
            compute(graph, threads[t]);
            if (memcmp(arena, want, ARENA_BYTES) != 0)
                fail_msg("%s, %d threads", what, threads[t]);
        }
    free(want);
}

static struct ggml_tensor *
product(enum ggml_type type, struct ggml_tensor *x)
{
    return ggml_mul_mat(ctx, new_input(type, x->ne[0], N_WEIGHTS), x);
}

#define PRODUCT_BYTES (N_WEIGHTS * N_ROWS * sizeof(float))
#define ROWS_BYTES    (N_COLS * N_ROWS * sizeof(float))

/* A product may go ahead of others, but not of those who still need what was
 * where its result goes. */
static void
a_product_waits_for_readers_of_its_place(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *q, *k;

    (void)state;
    q = put(product(GGML_TYPE_Q8_0, x), 0);
    put(ggml_scale(ctx, q, 2.0f), PRODUCT_BYTES);
    k = put(product(GGML_TYPE_Q8_0, x), 0);
    put(ggml_scale(ctx, k, 3.0f), 2 * PRODUCT_BYTES);
    put(product(GGML_TYPE_Q8_0, x), 3 * PRODUCT_BYTES);
    check("a place that is used again");
}

/* The same where places overlap in part. */
static void
a_product_waits_for_writers_of_a_part(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);

    (void)state;
    put(product(GGML_TYPE_Q4_0, x), 0);
    put(product(GGML_TYPE_Q4_0, x), PRODUCT_BYTES / 2);
    put(product(GGML_TYPE_Q4_0, x), PRODUCT_BYTES);
    put(product(GGML_TYPE_Q4_0, x), PRODUCT_BYTES / 4);
    check("places that overlap");
}

/* What is written through a view is read by the name of the whole. */
static void
a_reader_of_the_whole_waits_for_writers_of_views(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *whole = ggml_new_tensor_2d(
        ctx, GGML_TYPE_F32, N_COLS, 2 * N_ROWS);
    struct ggml_tensor *view;

    (void)state;
    whole->data = arena;
    for (int i = 0; i < 3; i++) {
        view = ggml_view_2d(ctx, whole, N_COLS, N_ROWS, whole->nb[1],
                            (size_t)(40 * i) * whole->nb[1]);
        put(product(GGML_TYPE_F32, whole),
            2 * ROWS_BYTES + 2 * (size_t)i * PRODUCT_BYTES);
        ggml_build_forward_expand(
            graph, ggml_cpy(ctx, ggml_sqr(ctx, x), view));
        put(product(GGML_TYPE_Q8_0, ggml_cont(ctx, ggml_view_2d(
                ctx, whole, N_COLS, 8, whole->nb[1],
                40 * whole->nb[1]))),
            2 * ROWS_BYTES + 6 * PRODUCT_BYTES + (size_t)i * 8 * N_WEIGHTS * 4);
    }
    check("views");
}

/* Rows that are done tile by tile: in place, over a source, and read by others
 * before and afterwards. */
static void
rows_in_place_are_rows_of_their_time(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *w = new_input(GGML_TYPE_F32, N_COLS, 1);
    struct ggml_tensor *sum, *norm, *scaled;

    (void)state;
    sum = put(ggml_add(ctx, x, x), 0);
    norm = put(ggml_rms_norm(ctx, sum, 1e-5f), ROWS_BYTES);
    scaled = put(ggml_mul(ctx, norm, w), ROWS_BYTES);
    put(product(GGML_TYPE_Q8_0, scaled), 2 * ROWS_BYTES);
    put(product(GGML_TYPE_Q4_1, scaled), 3 * ROWS_BYTES);
    /* Over a source, then over its own source's place. */
    sum = put(ggml_add(ctx, sum, scaled), 0);
    norm = put(ggml_norm(ctx, sum, 1e-5f), ROWS_BYTES);
    put(ggml_silu(ctx, norm), 0);
    put(ggml_soft_max(ctx, norm), 4 * ROWS_BYTES);
    check("rows in place");
}

/* Rows whose neighbours read other rows of them: half a tensor further on, or
 * one row for all. */
static void
rows_that_others_need_are_not_written_over(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *y, *z, *row;

    (void)state;
    x = put(ggml_dup(ctx, x), 0);
    y = put(ggml_sqr(ctx, x), 2 * ROWS_BYTES);
    z = put(ggml_neg(ctx, y), ROWS_BYTES / 2); /* over x's second half */
    put(ggml_abs(ctx, z), 2 * ROWS_BYTES + ROWS_BYTES / 2); /* over y's */
    y = put(ggml_sqr(ctx, x), 2 * ROWS_BYTES);
    row = ggml_view_2d(ctx, y, N_COLS, 1, y->nb[1], 70 * y->nb[1]);
    row->data = (char *)y->data + 70 * y->nb[1];
    put(ggml_add(ctx, y, row), 4 * ROWS_BYTES);
    check("rows of others");
}

/* Rounded columns are in one place: products of other activations wait. */
static void
prepared_columns_last_until_all_have_used_them(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *y = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *const of[] = { x, y, x, x, y, y };
    static const enum ggml_type types[] = {
        GGML_TYPE_Q8_0, GGML_TYPE_Q8_0, GGML_TYPE_Q4_1,
        GGML_TYPE_Q4_1, GGML_TYPE_Q4_1, GGML_TYPE_F16
    };

    (void)state;
    for (size_t i = 0; i < 6; i++)
        put(product(types[i], of[i]), i * PRODUCT_BYTES);
    check("columns");
}

/* The plan of the graph for two threads, in LIST; nobody computes it. */
static struct gb_cpu_plan
plan_in(void **list)
{
    const size_t size = gb_cpu_plan_list_limit(graph);
    struct gb_cpu_size needs;
    struct gb_cpu_plan plan;

    *list = malloc(size);
    assert_non_null(*list);
    assert_int_equal(
        gb_cpu_plan_build(graph, 2, *list, size, &needs, &plan),
        GGML_STATUS_SUCCESS);
    return plan;
}

static void
products_of_the_same_activations_are_one_wave(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct gb_cpu_plan plan;
    void *list;

    (void)state;
    for (size_t i = 0; i < 3; i++)
        put(ggml_silu(ctx, put(product(GGML_TYPE_Q8_0, x),
                               2 * i * PRODUCT_BYTES)),
            (2 * i + 1) * PRODUCT_BYTES);
    plan = plan_in(&list);
    /* The columns, three products, three functions. */
    assert_int_equal(plan.n_phases, 7);
    assert_int_equal(plan.phases[1].n_more, 2);
    assert_int_equal(plan.phases[3].n_more, -2);
    assert_int_equal(plan.phases[3].node->op, GGML_OP_MUL_MAT);
    assert_int_equal(plan.phases[4].n_more, 2);
    free(list);
    check("three products");
}

static void
steps_that_take_the_same_rows_are_a_chain(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *w = new_input(GGML_TYPE_F32, N_COLS, 1);
    struct ggml_tensor *y;
    struct gb_cpu_plan plan;
    void *list;

    (void)state;
    y = put(ggml_add(ctx, x, x), 0);
    y = put(ggml_rms_norm(ctx, y, 1e-5f), ROWS_BYTES);
    y = put(ggml_mul(ctx, y, w), ROWS_BYTES);
    put(product(GGML_TYPE_Q8_0, y), 2 * ROWS_BYTES);
    plan = plan_in(&list);
    /* Sum, norm, weights and columns are one wave, the product the next. */
    assert_int_equal(plan.n_phases, 5);
    assert_int_equal(plan.phases[0].n_more, 3);
    for (int i = 0; i < 5; i++)
        assert_int_equal(plan.phases[i].is_chained, i > 0 && i < 4);
    free(list);
    check("a chain");
}

/* A client's function may look at anything. */
static void
read_behind_its_back(struct ggml_tensor *dst, const struct ggml_tensor *a,
                     int ith, int nth, void *userdata)
{
    const struct ggml_tensor *other = userdata;

    (void)a;
    (void)nth;
    if (ith == 0)
        memcpy(dst->data, other->data, ggml_nbytes(dst));
}

static void
nothing_passes_a_custom_operation(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *y;

    (void)state;
    y = put(product(GGML_TYPE_Q8_0, x), 0);
    put(ggml_map_custom1(ctx, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4096),
                         read_behind_its_back, 1, y),
        2 * PRODUCT_BYTES);
    y = put(product(GGML_TYPE_Q8_0, x), 0);
    put(ggml_map_custom1(ctx, ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 4096),
                         read_behind_its_back, GGML_N_TASKS_MAX, y),
        3 * PRODUCT_BYTES);
    check("custom operations");
}

/* NODE's result may not lie over a source of it in part. */
static bool
fits_at(const struct ggml_tensor *node, const char *at)
{
    for (int i = 0; i < 2; i++) {
        const char *from = node->src[i] == NULL ? NULL : node->src[i]->data;
        const bool is_same = at == from && node->op != GGML_OP_MUL_MAT;

        if (from != NULL && !is_same && at < from + ROWS_BYTES &&
            from < at + ROWS_BYTES)
            return false;
    }
    return true;
}

/* Any graph: places at random, so that hazards of all kinds come about. */
static void
graphs_at_random_give_what_their_nodes_give(void **state)
{
    struct ggml_tensor *x = new_input(GGML_TYPE_F32, N_COLS, N_ROWS);
    struct ggml_tensor *w = new_input(GGML_TYPE_F32, N_COLS, 1);
    struct ggml_tensor *square = new_input(GGML_TYPE_Q8_0, N_COLS, N_COLS);
    struct ggml_tensor *last[4] = { x, x, x, x };

    (void)state;
    for (int i = 0; i < 60; i++) {
        const uint32_t dice = (uint32_t)(gb_random_u64(&random_state) >> 32);
        struct ggml_tensor *a = last[dice & 3];
        struct ggml_tensor *b = last[dice >> 2 & 3];
        size_t at = (dice >> 8) % 8 * (ROWS_BYTES / 2);
        struct ggml_tensor *node;

        switch (dice >> 4 & 7) {
        case 0:
            node = ggml_rms_norm(ctx, a, 1e-5f);
            break;
        case 1:
            node = ggml_mul(ctx, a, w);
            break;
        case 2:
            node = ggml_add(ctx, a, b);
            break;
        case 3:
            node = ggml_silu(ctx, a);
            break;
        case 4:
            node = ggml_soft_max(ctx, a);
            break;
        case 5:
            node = ggml_cont(ctx, a);
            break;
        default:
            node = ggml_mul_mat(ctx, square, a);
            break;
        }
        while (!fits_at(node, arena + at))
            at = (at + ROWS_BYTES / 2) % (4 * ROWS_BYTES + ROWS_BYTES / 2);
        last[i & 3] = put(node, at);
    }
    check("a graph at random");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_product_waits_for_readers_of_its_place, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            a_product_waits_for_writers_of_a_part, open_context, close_context),
        cmocka_unit_test_setup_teardown(
            a_reader_of_the_whole_waits_for_writers_of_views, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            rows_in_place_are_rows_of_their_time, open_context, close_context),
        cmocka_unit_test_setup_teardown(
            rows_that_others_need_are_not_written_over, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            prepared_columns_last_until_all_have_used_them, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            products_of_the_same_activations_are_one_wave, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            steps_that_take_the_same_rows_are_a_chain, open_context,
            close_context),
        cmocka_unit_test_setup_teardown(
            nothing_passes_a_custom_operation, open_context, close_context),
        cmocka_unit_test_setup_teardown(
            graphs_at_random_give_what_their_nodes_give, open_context,
            close_context),
    };

    return cmocka_run_group_tests_name(
        "steps wait for what they need", tests, NULL, NULL);
}
