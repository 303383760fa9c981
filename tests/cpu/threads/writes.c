/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/writes.c - nodes that write more than their result: a step of
 * AdamW its moments, a function of the client's anything.  Who comes later sees
 * it, and who came before does not, for any number of threads.
 *
 * The right results are those of each node as a graph of its own.  With
 * GGMLBACKEND_TEST_ALL=1 ten thousand random graphs are compared.
 */
#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggml-impl.h"

#include "tests/util/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum {
    GRAPHS = 250, ALL_GRAPHS = 10000,
    MAX_TENSORS = 96, MAX_NODES = 40, N_PARAMS = 7,
    MAX_WIDTH = 512, MAX_ROWS = 72,
    PLACES = 6, /* of results, each of half a tensor */
};

#define CELLS (64 * MAX_WIDTH * MAX_ROWS) /* of memory that a graph may have */

static const int thread_counts[] = { 1, 2, 5 };
static struct gb_random numbers;
static ggml_backend_t backends[3];
static float *memory, *start, *want;
static struct ggml_tensor *weights[3][5]; /* by width and type */
static struct ggml_context *weights_ctx;

/* The graph at hand. */
static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static int64_t width, n_rows;
static size_t n_cells; /* of memory that it has */
static struct ggml_tensor *made[MAX_TENSORS], *moments[MAX_TENSORS];
static int n_made, n_moments;
static struct ggml_tensor *step, *positions;
static float *places;

static int
below(int n)
{
    return (int)(gb_random_u64(&numbers) % (uint64_t)n);
}

/* ---- weights, which all graphs of a width share ---- */

static const int64_t widths[] = { 64, 256, MAX_WIDTH };
static const enum ggml_type types[] = {
    GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q8_0, GGML_TYPE_Q4_0,
    GGML_TYPE_Q4_K
};

static struct ggml_tensor *
new_weights(enum ggml_type type, int64_t n)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(weights_ctx, type, n, n);
    float *values = malloc((size_t)(n * n) * sizeof(*values));

    assert_non_null(t);
    assert_non_null(values);
    for (int64_t i = 0; i < n * n; i++)
        values[i] = gb_random_float(&numbers, -0.1f, 0.1f);
    ggml_quantize_chunk(type, values, t->data, 0, n, n, NULL);
    free(values);
    return t;
}

static int
open_all(void **state)
{
    (void)state;
    gb_random_init(&numbers, gb_test_seed(43));
    weights_ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)8 << 20 });
    memory = malloc(3 * (size_t)CELLS * sizeof(*memory));
    ctx = ggml_init((struct ggml_init_params){
        .mem_size = (size_t)1 << 20, .no_alloc = true });
    if (weights_ctx == NULL || memory == NULL || ctx == NULL)
        return 1;
    start = memory + CELLS;
    want = start + CELLS;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 5; j++) {
            if (widths[i] % ggml_blck_size(types[j]) == 0)
                weights[i][j] = new_weights(types[j], widths[i]);
        }
        backends[i] = ggml_backend_cpu_init();
        if (backends[i] == NULL)
            return 1;
        ggml_backend_cpu_set_n_threads(backends[i], thread_counts[i]);
    }
    return 0;
}

static int
close_all(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        ggml_backend_free(backends[i]);
    ggml_free(ctx);
    ggml_free(weights_ctx);
    free(memory);
    return 0;
}

/* ---- graphs ---- */

static void *
take(size_t bytes)
{
    float *at = memory + n_cells;

    n_cells += (bytes / sizeof(float) + 15) / 16 * 16;
    assert_true(n_cells <= CELLS);
    return at;
}

static struct ggml_tensor *
new_leaf(enum ggml_type type, int64_t n0, int64_t n1)
{
    struct ggml_tensor *t = ggml_new_tensor_2d(ctx, type, n0, n1);

    t->data = take(ggml_nbytes(t));
    return t;
}

static void
begin_graph(int64_t w, int64_t rows)
{
    ggml_reset(ctx);
    graph = ggml_new_graph_custom(ctx, 4 * MAX_NODES, false);
    width = w;
    n_rows = rows;
    n_cells = 0;
    n_made = n_moments = 0;
    step = new_leaf(GGML_TYPE_F32, N_PARAMS, 1);
    positions = new_leaf(GGML_TYPE_I32, rows, 1);
    places = take((size_t)(PLACES + 2) * (size_t)(w * rows) * sizeof(float));
}

static struct ggml_tensor *
new_rows(void)
{
    struct ggml_tensor *t = new_leaf(GGML_TYPE_F32, width, n_rows);

    made[n_made++] = t;
    return t;
}

/* A second moment, which no other node writes: it is positive. */
static struct ggml_tensor *
new_moment(void)
{
    struct ggml_tensor *t = new_leaf(GGML_TYPE_F32, width, n_rows);

    moments[n_moments++] = t;
    return t;
}

/* Append NODE to the graph, with its result in memory of its own. */
static struct ggml_tensor *
put_apart(struct ggml_tensor *node)
{
    if (node->view_src == NULL)
        node->data = take(ggml_nbytes(node));
    ggml_build_forward_expand(graph, node);
    return node;
}

static struct ggml_tensor *
product(int type, struct ggml_tensor *x)
{
    const int i = width == widths[0] ? 0 : width == widths[1] ? 1 : 2;
    struct ggml_tensor *w = weights[i][type];

    return ggml_mul_mat(ctx, w != NULL ? w : weights[i][0], x);
}

/* ---- functions of the client's ---- */

/* Values change, keep their size, and positive ones are positive still. */
static void
change(struct ggml_tensor *t)
{
    const int64_t n = ggml_nelements(t);

    for (int64_t i = 0; i < n; i++) {
        if (t->type == GGML_TYPE_I32)
            ((int32_t *)t->data)[i] = (((int32_t *)t->data)[i] + 3) % 50;
        else
            ((float *)t->data)[i] = ((float *)t->data)[i] * 0.75f + 0.1f;
    }
}

static void
fill_result(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    memcpy(dst->data, a->data, ggml_nbytes(dst));
}

static void
write_other(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
            int nth, void *userdata)
{
    (void)nth;
    if (ith > 0)
        return;
    change(userdata);
    fill_result(dst, a);
}

static void
write_second(struct ggml_tensor *dst, const struct ggml_tensor *a,
             const struct ggml_tensor *b, int ith, int nth, void *userdata)
{
    struct ggml_tensor other = *b;

    (void)nth;
    (void)userdata;
    if (ith > 0)
        return;
    change(&other);
    fill_result(dst, a);
}

static void
write_third(struct ggml_tensor *dst, const struct ggml_tensor *a,
            const struct ggml_tensor *b, const struct ggml_tensor *c, int ith,
            int nth, void *userdata)
{
    struct ggml_tensor other = *c;

    (void)b;
    (void)nth;
    (void)userdata;
    if (ith > 0)
        return;
    change(&other);
    fill_result(dst, a);
}

/* Older functions have nothing to know it by. */
static struct ggml_tensor *hidden[8];
static int n_hidden;

static void
write_hidden(int i, struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    if (i < n_hidden)
        change(hidden[i]);
    fill_result(dst, a);
}

static void
old_0(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    write_hidden(0, dst, a);
}

static void
old_1(struct ggml_tensor *dst, const struct ggml_tensor *a)
{
    write_hidden(1, dst, a);
}

static void
map_row(int n, float *dst, const float *a)
{
    if (n_hidden > 2 && dst == hidden[3]->data)
        change(hidden[2]);
    for (int i = 0; i < n; i++)
        dst[i] = 0.5f * a[i];
}

/* ---- computing ---- */

static void
fill_memory(void)
{
    for (size_t i = 0; i < n_cells; i++)
        start[i] = gb_random_float(&numbers, -1.0f, 1.0f);
    for (int i = 0; i < n_moments; i++) {
        float *v = start + ((float *)moments[i]->data - memory);

        for (int64_t k = 0; k < width * n_rows; k++)
            v[k] = fabsf(v[k]);
    }
    memcpy(start + ((float *)step->data - memory),
           (float[]){ 0.1f, 0.9f, 0.99f, 1e-6f, 0.01f, 2.0f, 3.0f },
           N_PARAMS * sizeof(float));
    for (int64_t i = 0; i < n_rows; i++)
        ((int32_t *)(start + ((float *)positions->data - memory)))[i] =
            (int32_t)i;
}

static void
compute_nodes(void)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_cgraph one = ggml_graph_view(graph, i, i + 1);

        assert_int_equal(ggml_backend_graph_compute(backends[0], &one),
                         GGML_STATUS_SUCCESS);
    }
}

/* All memory is as it is when the nodes are computed one by one. */
static void
check(const char *what, int number)
{
    const size_t size = n_cells * sizeof(*memory);

    fill_memory();
    memcpy(memory, start, size);
    compute_nodes();
    memcpy(want, memory, size);
    for (int i = 0; i < 3; i++) {
        memcpy(memory, start, size);
        assert_int_equal(ggml_backend_graph_compute(backends[i], graph),
                         GGML_STATUS_SUCCESS);
        if (memcmp(memory, want, size) != 0)
            fail_msg("%s %d: %d threads give other results", what, number,
                     thread_counts[i]);
    }
}

/* ---- cases ---- */

/* Was T, of the nodes that were computed one by one, another than U? */
static void
assert_unlike(const struct ggml_tensor *t, const struct ggml_tensor *u)
{
    assert_memory_not_equal(want + ((float *)t->data - memory),
                            want + ((float *)u->data - memory),
                            ggml_nbytes(t));
}

static void
a_moment_is_rounded_anew_behind_a_step(void **state)
{
    static const int64_t rows[] = { 1, 4, 40 };

    (void)state;
    for (int type = 0; type < 5; type++) {
        for (int i = 0; i < 3; i++) {
            struct ggml_tensor *p, *m, *v, *before, *after;

            begin_graph(256, rows[i]);
            p = new_rows();
            m = new_rows();
            v = new_moment();
            ggml_set_param(ctx, p);
            before = put_apart(product(type, m));
            put_apart(ggml_opt_step_adamw(ctx, p, new_rows(), m, v, step));
            after = put_apart(product(type, m));
            put_apart(product(type, v));
            put_apart(product(type, p));
            check(ggml_type_name(types[type]), (int)rows[i]);
            assert_unlike(before, after);
        }
    }
}

/* Where KIND is 0 to 4, another builder makes the node. */
static struct ggml_tensor *
write_behind(int kind, struct ggml_tensor *a, struct ggml_tensor *t)
{
    switch (kind) {
    case 0:
        return ggml_map_custom1(ctx, a, write_other, 1 + below(2), t);
    case 1:
        return ggml_map_custom2(ctx, a, t, write_second, GGML_N_TASKS_MAX,
                                NULL);
    case 2:
        return ggml_map_custom3(ctx, a, a, t, write_third, 3, NULL);
    default:
        hidden[kind - 3] = t;
        n_hidden = kind - 2 > n_hidden ? kind - 2 : n_hidden;
        return ggml_map_custom1_f32(ctx, a, kind == 3 ? old_0 : old_1);
    }
}

static void
a_function_of_the_clients_ends_what_is_remembered(void **state)
{
    (void)state;
    for (int kind = 0; kind < 5; kind++) {
        for (int type = 0; type < 5; type++) {
            struct ggml_tensor *x, *before, *after;

            n_hidden = 0;
            begin_graph(256, 1 + 9 * (kind % 2));
            x = new_rows();
            before = put_apart(product(type, x));
            if (kind == 4)
                write_behind(3, new_rows(), x);
            put_apart(write_behind(kind, new_rows(), x));
            after = put_apart(product(type, x));
            check(ggml_type_name(types[type]), kind);
            assert_unlike(before, after);
        }
    }
}

static void
a_function_of_rows_does_too(void **state)
{
    struct ggml_tensor *x, *before, *after;

    (void)state;
    begin_graph(256, 5);
    x = new_rows();
    before = put_apart(product(2, x));
    hidden[2] = x;
    hidden[3] = put_apart(ggml_map_unary_f32(ctx, new_rows(), map_row));
    n_hidden = 4;
    after = put_apart(product(2, x));
    check("map_unary", 0);
    assert_unlike(before, after);
    n_hidden = 0;
}

static struct ggml_tensor *
rotated(struct ggml_tensor *a)
{
    return ggml_rope(ctx, ggml_reshape_3d(ctx, a, width / 2, 2, n_rows),
                     positions, (int)width / 2, 0);
}

static void
angles_are_those_of_the_positions(void **state)
{
    struct ggml_tensor *x, *before, *after;

    (void)state;
    begin_graph(64, 6);
    x = new_rows();
    before = put_apart(rotated(x));
    put_apart(write_behind(0, new_rows(), positions));
    after = put_apart(rotated(x));
    check("rope", 0);
    assert_unlike(before, after);
}

/* ---- random graphs ---- */

static struct ggml_tensor *
any(void)
{
    return made[n_made - 1 - below(below(3) > 0 && n_made > 4 ? 4 : n_made)];
}

/* A place for NODE's result apart from what it reads, or over all of a source
 * that it reads row by row. */
static struct ggml_tensor *
put(struct ggml_tensor *node)
{
    const int64_t n = width * n_rows;
    const bool is_by_row = node->op != GGML_OP_MUL_MAT &&
                           node->op != GGML_OP_ROPE;
    int place = below(PLACES);

    if (node->view_src != NULL || below(4) == 0)
        return put_apart(node);
    for (;; place = (place + 1) % PLACES) {
        const float *at = places + place * (n / 2);
        bool fits = true;

        for (int i = 0; i < GGML_MAX_SRC; i++) {
            const float *from = node->src[i] != NULL ? node->src[i]->data
                                                     : NULL;

            if (from != NULL && at < from + n && from < at + n)
                fits = fits && at == from && is_by_row;
        }
        if (fits)
            break;
    }
    node->data = places + place * (n / 2);
    ggml_build_forward_expand(graph, node);
    return node;
}

/* Are bytes of A bytes of B's too? */
static bool
overlap(const struct ggml_tensor *a, const struct ggml_tensor *b)
{
    const char *x = a->data, *y = b->data;

    return x < y + ggml_nbytes(b) && y < x + ggml_nbytes(a);
}

/* Parameters, gradient and first moment are in memory of their own. */
static void
add_step(void)
{
    struct ggml_tensor *p = any(), *g = any(), *m = any();
    struct ggml_tensor *v = moments[below(n_moments)];

    if (overlap(p, m) || overlap(g, p) || overlap(g, m))
        return;
    ggml_set_param(ctx, p);
    put_apart(ggml_opt_step_adamw(ctx, p, g, m, v, step));
}

/* Something that a product or a rotation may have prepared, or anything else. */
static void
add_function(void)
{
    struct ggml_tensor *a = any(), *t = any(), *node;
    const int kind = below(4);

    if (below(5) == 0)
        t = below(2) == 0 ? positions : moments[below(n_moments)];
    if (kind == 3 && n_hidden == 2)
        return;
    if (kind == 3) {
        hidden[n_hidden] = t;
        node = ggml_map_custom1_f32(ctx, a, n_hidden == 0 ? old_0 : old_1);
        n_hidden++;
    } else {
        node = write_behind(kind, a, t);
    }
    made[n_made++] = put_apart(node);
}

/* Through a view, to a tensor or a part of it. */
static void
add_copy(void)
{
    struct ggml_tensor *a = any(), *to = any(), *view;
    const int64_t n = 1 + below((int)n_rows);

    view = ggml_view_2d(ctx, to, width, n, to->nb[1],
                        (size_t)below((int)(n_rows - n + 1)) * to->nb[1]);
    view->data = (char *)to->data + view->view_offs;
    a = ggml_view_2d(ctx, a, width, n, a->nb[1], 0);
    a->data = a->view_src->data;
    if (overlap(a, view))
        return;
    if (below(3) > 0)
        a = ggml_cpy(ctx, a, view);
    else if (below(2) == 0)
        a = ggml_acc_inplace(ctx, to, a, to->nb[1], to->nb[2], to->nb[3],
                             view->view_offs - to->view_offs);
    else
        a = ggml_set_inplace(ctx, to, a, to->nb[1], to->nb[2], to->nb[3],
                             view->view_offs - to->view_offs);
    a->data = a->op == GGML_OP_CPY ? view->data : to->data;
    put_apart(a);
}

static struct ggml_tensor *
next(struct ggml_tensor *a)
{
    switch (below(9)) {
    case 0:
        return ggml_rms_norm(ctx, a, 1e-5f);
    case 1:
        return ggml_mul(ctx, a, any());
    case 2:
        return ggml_add(ctx, a, any());
    case 3:
        return ggml_silu(ctx, a);
    case 4:
        return ggml_soft_max(ctx, a);
    case 5:
        return rotated(a);
    default:
        return product(below(5), a);
    }
}

static void
add_node(void)
{
    struct ggml_tensor *node;

    switch (below(8)) {
    case 0:
        add_step();
        return;
    case 1:
        add_function();
        return;
    case 2:
        add_copy();
        return;
    }
    node = next(any());
    for (int i = 0; i < 2; i++) {
        struct ggml_tensor *src = node->src[i];

        if (src != NULL && src->data == NULL && src->view_src != NULL)
            src->data = src->view_src->data;
    }
    node = put(node);
    if (node->op == GGML_OP_ROPE) {
        node = ggml_reshape_2d(ctx, node, width, n_rows);
        node->data = node->view_src->data;
    }
    made[n_made++] = node;
}

static void
make_graph(void)
{
    const int size = below(8);
    const int n = 6 + below(MAX_NODES - 6);

    if (size == 0)
        begin_graph(MAX_WIDTH, 34 + below(MAX_ROWS - 34));
    else
        begin_graph(widths[below(2)], 1 + below(size < 4 ? 4 : 12));
    n_hidden = 0;
    for (int i = 0; i < 3; i++)
        new_rows();
    for (int i = 0; i < 2; i++)
        new_moment();
    for (int i = 0; i < n; i++)
        add_node();
}

static void
random_graphs_give_what_their_nodes_give(void **state)
{
    const int n = getenv("GGMLBACKEND_TEST_ALL") != NULL ? ALL_GRAPHS : GRAPHS;
    int n_steps = 0, n_functions = 0, n_nodes = 0;

    (void)state;
    for (int i = 0; i < n; i++) {
        make_graph();
        for (int k = 0; k < ggml_graph_n_nodes(graph); k++) {
            const enum ggml_op op = ggml_graph_node(graph, k)->op;

            n_nodes++;
            n_steps += op == GGML_OP_OPT_STEP_ADAMW;
            n_functions += op >= GGML_OP_MAP_UNARY && op <= GGML_OP_MAP_CUSTOM3;
        }
        check("graph", i);
    }
    print_message("# %d graphs, %d nodes, %d steps, %d functions\n", n,
                  n_nodes, n_steps, n_functions);
    assert_true(n_steps > n && n_functions > n);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_rounded_anew_behind_a_step),
        cmocka_unit_test(a_function_of_the_clients_ends_what_is_remembered),
        cmocka_unit_test(a_function_of_rows_does_too),
        cmocka_unit_test(angles_are_those_of_the_positions),
        cmocka_unit_test(random_graphs_give_what_their_nodes_give),
    };

    return cmocka_run_group_tests_name("hidden writes", tests, open_all,
                                       close_all);
}
