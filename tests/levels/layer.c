/* SPDX-License-Identifier: MIT */
/*
 * tests/levels/layer.c - a layer of a transformer on backends of 2023 and of
 * 2024-10, beside the CPU.
 *
 * These backends compute with sums in double, so they and the CPU check each
 * other.
 */
#include "tests/levels/backends/old.h"
#include "tests/util/random.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggmlbackend-2023.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 32, HEADS = 4, HEAD = WIDTH / HEADS, TOKENS = 5, INNER = 48 };

struct layer {
    struct ggml_context *weights_ctx, *ctx;
    ggml_backend_buffer_t weights_buffer;
    struct ggml_tensor *norm1, *norm2, *wq, *wk, *wv, *wo, *gate, *up, *down;
    struct ggml_tensor *x, *positions, *mask, *y;
    struct ggml_cgraph *graph;
};

static ggml_backend_t old_backend, host_backend, mid_backend, cpu_backend;

static struct ggml_context *
context_new(void)
{
    const struct ggml_init_params params = {
        .mem_size = 128 * ggml_tensor_overhead() +
                    ggml_graph_overhead_custom(128, false),
        .no_alloc = true,
    };
    struct ggml_context *ctx = ggml_init(params);

    assert_non_null(ctx);
    return ctx;
}

static void
fill_random(struct ggml_tensor *tensor, uint64_t seed, float lo, float hi)
{
    float values[INNER * WIDTH];
    struct gb_random random;

    gb_random_init(&random, seed);
    for (int64_t i = 0; i < ggml_nelements(tensor); i++)
        values[i] = gb_random_float(&random, lo, hi);
    ggml_backend_tensor_set(tensor, values, 0, ggml_nbytes(tensor));
}

static void
make_weights(struct layer *l)
{
    struct ggml_tensor **matrices[] = {
        &l->wq, &l->wk, &l->wv, &l->wo, &l->gate, &l->up, &l->down,
    };

    l->weights_ctx = context_new();
    l->norm1 = ggml_new_tensor_1d(l->weights_ctx, GGML_TYPE_F32, WIDTH);
    l->norm2 = ggml_new_tensor_1d(l->weights_ctx, GGML_TYPE_F32, WIDTH);
    for (int i = 0; i < 7; i++)
        *matrices[i] = ggml_new_tensor_2d(
            l->weights_ctx, GGML_TYPE_F32, i == 6 ? INNER : WIDTH,
            i == 4 || i == 5 ? INNER : WIDTH);
    l->weights_buffer =
        ggml_backend_alloc_ctx_tensors(l->weights_ctx, cpu_backend);
    assert_non_null(l->weights_buffer);
    fill_random(l->norm1, 1, 0.5f, 1.5f);
    fill_random(l->norm2, 2, 0.5f, 1.5f);
    for (int i = 0; i < 7; i++)
        fill_random(*matrices[i], 3 + (uint64_t)i, -0.3f, 0.3f);
}

/* [HEAD, TOKENS, HEADS] of a product, rotated to its positions or not. */
static struct ggml_tensor *
project(struct layer *l, struct ggml_tensor *w, struct ggml_tensor *x,
        bool is_rotated)
{
    struct ggml_tensor *p = ggml_reshape_3d(
        l->ctx, ggml_mul_mat(l->ctx, w, x), HEAD, HEADS, TOKENS);

    if (is_rotated)
        p = ggml_rope(l->ctx, p, l->positions, HEAD, 0);
    return ggml_permute(l->ctx, p, 0, 2, 1, 3);
}

static struct ggml_tensor *
attention(struct layer *l, struct ggml_tensor *x)
{
    struct ggml_tensor *q = project(l, l->wq, x, true);
    struct ggml_tensor *k = project(l, l->wk, x, true);
    struct ggml_tensor *v = ggml_cont(
        l->ctx, ggml_transpose(l->ctx, project(l, l->wv, x, false)));
    struct ggml_tensor *scores = ggml_soft_max_ext(
        l->ctx, ggml_mul_mat(l->ctx, k, q), l->mask, 1 / sqrtf(HEAD), 0);
    struct ggml_tensor *mixed = ggml_permute(
        l->ctx, ggml_mul_mat(l->ctx, v, scores), 0, 2, 1, 3);

    return ggml_mul_mat(l->ctx, l->wo,
                        ggml_cont_2d(l->ctx, mixed, WIDTH, TOKENS));
}

static struct ggml_tensor *
norm(struct layer *l, struct ggml_tensor *x, struct ggml_tensor *weight)
{
    return ggml_mul(l->ctx, ggml_rms_norm(l->ctx, x, 1e-5f), weight);
}

static void
make_graph(struct layer *l)
{
    struct ggml_tensor *x, *inner;

    l->ctx = context_new();
    l->x = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F32, WIDTH, TOKENS);
    l->positions = ggml_new_tensor_1d(l->ctx, GGML_TYPE_I32, TOKENS);
    l->mask = ggml_new_tensor_2d(l->ctx, GGML_TYPE_F32, TOKENS, TOKENS);
    ggml_set_input(l->x);
    ggml_set_input(l->positions);
    ggml_set_input(l->mask);
    x = ggml_add(l->ctx, l->x, attention(l, norm(l, l->x, l->norm1)));
    inner = norm(l, x, l->norm2);
    inner = ggml_mul(
        l->ctx, ggml_silu(l->ctx, ggml_mul_mat(l->ctx, l->gate, inner)),
        ggml_mul_mat(l->ctx, l->up, inner));
    l->y = ggml_add(l->ctx, x, ggml_mul_mat(l->ctx, l->down, inner));
    ggml_set_output(l->y);
    l->graph = ggml_new_graph_custom(l->ctx, 128, false);
    ggml_build_forward_expand(l->graph, l->y);
}

static void
layer_new(struct layer *l)
{
    make_weights(l);
    make_graph(l);
}

static void
layer_free(struct layer *l)
{
    ggml_free(l->ctx);
    ggml_backend_buffer_free(l->weights_buffer);
    ggml_free(l->weights_ctx);
}

/* The inputs, when they have their places; each sees itself and its past. */
static void
set_inputs(struct layer *l)
{
    int32_t positions[TOKENS];
    float mask[TOKENS][TOKENS];

    for (int i = 0; i < TOKENS; i++) {
        positions[i] = i;
        for (int k = 0; k < TOKENS; k++)
            mask[i][k] = k <= i ? 0 : -INFINITY;
    }
    ggml_backend_tensor_set(l->positions, positions, 0, sizeof(positions));
    ggml_backend_tensor_set(l->mask, mask, 0, sizeof(mask));
    fill_random(l->x, 20, -1, 1);
}

static void
get_result(const struct layer *l, float *result)
{
    ggml_backend_tensor_get(l->y, result, 0, ggml_nbytes(l->y));
}

/* What the CPU alone gives. */
static void
compute_on_cpu(float *result)
{
    struct layer l;
    ggml_backend_buffer_t buffer;

    layer_new(&l);
    buffer = ggml_backend_alloc_ctx_tensors(l.ctx, cpu_backend);
    assert_non_null(buffer);
    set_inputs(&l);
    assert_int_equal(ggml_backend_graph_compute(cpu_backend, l.graph),
                     GGML_STATUS_SUCCESS);
    get_result(&l, result);
    ggml_backend_buffer_free(buffer);
    layer_free(&l);
}

/*
 * Sums of at most 48 products of size 1, eight of them one after the other,
 * each rounded in F32: well below this.
 */
static const float bound = 1e-4f;

static void
check_close(const float *a, const float *b, int64_t n, const char *what)
{
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(a[i] - b[i]) <= bound))
            fail_msg("%s: element %d is %g and %g", what, (int)i,
                     (double)a[i], (double)b[i]);
}

/* ---- compared ---- */

static bool
is_close(int index, struct ggml_tensor *t1, struct ggml_tensor *t2, void *count)
{
    float a[TOKENS * INNER], b[TOKENS * INNER];

    (void)index;
    ggml_backend_tensor_get(t1, a, 0, ggml_nbytes(t1));
    ggml_backend_tensor_get(t2, b, 0, ggml_nbytes(t2));
    check_close(a, b, ggml_nelements(t1), ggml_op_name(t1->op));
    ++*(int *)count;
    return true;
}

static void
compare_with(ggml_backend_t backend)
{
    ggml_backend_buffer_t buffer;
    struct layer l;
    int n_compared = 0;

    layer_new(&l);
    buffer = ggml_backend_alloc_ctx_tensors(l.ctx, cpu_backend);
    assert_non_null(buffer);
    set_inputs(&l);
    assert_true(ggml_backend_compare_graph_backend(
        cpu_backend, backend, l.graph, is_close, &n_compared));
    assert_true(n_compared >= 20);
    ggml_backend_buffer_free(buffer);
    layer_free(&l);
}

static void
each_node_of_a_layer_is_what_the_cpu_computes(void **state)
{
    (void)state;
    compare_with(old_backend);
    assert_true(old_2023.n_compute > 20);
    compare_with(mid_backend);
    assert_true(old_2024.n_compute > 20);
}

static void
a_copy_of_a_layer_computes_the_same(void **state)
{
    ggml_backend_t backends[2] = { old_backend, mid_backend };
    float expected[TOKENS * WIDTH], result[TOKENS * WIDTH];
    ggml_backend_buffer_t buffer;
    struct layer l;

    (void)state;
    compute_on_cpu(expected);
    layer_new(&l);
    buffer = ggml_backend_alloc_ctx_tensors(l.ctx, cpu_backend);
    assert_non_null(buffer);
    set_inputs(&l);
    for (int i = 0; i < 2; i++) {
        struct ggml_backend_graph_copy copy =
            ggml_backend_graph_copy(backends[i], l.graph);

        assert_non_null(copy.graph);
        assert_int_equal(ggml_backend_graph_compute(backends[i], copy.graph),
                         GGML_STATUS_SUCCESS);
        ggml_backend_tensor_get(ggml_graph_node(copy.graph, -1), result, 0,
                                sizeof(result));
        check_close(result, expected, TOKENS * WIDTH,
                    ggml_backend_name(backends[i]));
        ggml_backend_graph_copy_free(copy);
    }
    ggml_backend_buffer_free(buffer);
    layer_free(&l);
}

/* ---- scheduled ---- */

/*
 * Give node I of the graph to backend (I / RUN) % N, as far as it can be told
 * to take it: the nodes that are views stay with what they view.
 */
static void
assign(ggml_backend_sched_t sched, struct ggml_cgraph *graph,
       ggml_backend_t *backends, int n, int run)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(graph, i);

        if (node->view_src == NULL)
            ggml_backend_sched_set_tensor_backend(sched, node,
                                                  backends[i / run % n]);
    }
}

static void
schedule(ggml_backend_t *backends, int n, int run, bool is_parallel,
         const float *expected)
{
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, n, 128, is_parallel);
    float result[TOKENS * WIDTH];
    char what[64];

    assert_non_null(sched);
    snprintf(what, sizeof(what), "%d backends, runs of %d", n, run);
    for (int round = 0; round < 3; round++) {
        struct layer l;

        layer_new(&l);
        ggml_backend_sched_reset(sched);
        if (run > 0)
            assign(sched, l.graph, backends, n, run);
        assert_true(ggml_backend_sched_alloc_graph(sched, l.graph));
        set_inputs(&l);
        assert_int_equal(ggml_backend_sched_graph_compute(sched, l.graph),
                         GGML_STATUS_SUCCESS);
        get_result(&l, result);
        check_close(result, expected, TOKENS * WIDTH, what);
        layer_free(&l);
    }
    ggml_backend_sched_free(sched);
}

static void
a_layer_is_scheduled_over_all_levels_beside_the_cpu(void **state)
{
    ggml_backend_t old_and_cpu[] = { old_backend, cpu_backend };
    ggml_backend_t mid_and_cpu[] = { mid_backend, cpu_backend };
    ggml_backend_t all[] = { old_backend, mid_backend, cpu_backend };
    static const int runs[] = { 1, 2, 3, 7, 1000, 0 };
    float expected[TOKENS * WIDTH];

    (void)state;
    compute_on_cpu(expected);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        for (int is_parallel = 0; is_parallel < 2; is_parallel++) {
            schedule(old_and_cpu, 2, runs[i], is_parallel, expected);
            schedule(mid_and_cpu, 2, runs[i], is_parallel, expected);
            schedule(all, 3, runs[i], is_parallel, expected);
        }
    assert_int_equal(old_2023.n_idlers, 0);
    assert_int_equal(old_2023.n_strange, 0);
}

static void
memory_of_the_host_is_shared_with_the_cpu(void **state)
{
    ggml_backend_t backends[] = { host_backend, cpu_backend };
    float expected[TOKENS * WIDTH];

    (void)state;
    compute_on_cpu(expected);
    old_2023.n_foreign = 0;
    for (int run = 1; run < 5; run++)
        schedule(backends, 2, run, false, expected);
    assert_true(old_2023.n_foreign > 0);
    assert_int_equal(old_2023.n_strange, 0);
}

static void
a_scheduler_lives_on_after_an_old_backend_had_no_memory(void **state)
{
    ggml_backend_t backends[] = { old_backend, cpu_backend };
    ggml_backend_sched_t sched =
        ggml_backend_sched_new(backends, NULL, 2, 128, false);
    float expected[TOKENS * WIDTH], result[TOKENS * WIDTH];
    struct layer l;

    (void)state;
    compute_on_cpu(expected);
    assert_non_null(sched);
    for (int left = 0; left < 2; left++) {
        const bool can_work = left > 0;

        layer_new(&l);
        ggml_backend_sched_reset(sched);
        assign(sched, l.graph, backends, 2, 3);
        old_2023.allocs_left = can_work ? -1 : 0;
        assert_int_equal(ggml_backend_sched_alloc_graph(sched, l.graph),
                         can_work);
        if (can_work) {
            set_inputs(&l);
            assert_int_equal(ggml_backend_sched_graph_compute(sched, l.graph),
                             GGML_STATUS_SUCCESS);
            get_result(&l, result);
            check_close(result, expected, TOKENS * WIDTH, "afterwards");
        }
        layer_free(&l);
    }
    ggml_backend_sched_free(sched);
}

static int
open_backends(void **state)
{
    static const struct ggmlbackend_2023 about = { .init = old_2023_init };
    static const struct ggmlbackend_2023 host = {
        .init = old_2023_init,
        .name = "OldHost",
        .kind = GGMLBACKEND_2023_ACCEL,
        .is_host = true,
        .is_single = true,
    };

    (void)state;
    old_2023_reset();
    assert_non_null(ggmlbackend_register_2023(&about));
    assert_non_null(ggmlbackend_register_2023(&host));
    host_backend = ggml_backend_init_by_name("OldHost", NULL);
    assert_non_null(host_backend);
    old_2024_register();
    old_backend = ggml_backend_init_by_name("Old", NULL);
    mid_backend = ggml_backend_init_by_name("Mid0", NULL);
    cpu_backend = ggml_backend_init_by_name("CPU", NULL);
    assert_non_null(old_backend);
    assert_non_null(mid_backend);
    assert_non_null(cpu_backend);
    return 0;
}

static int
close_backends(void **state)
{
    (void)state;
    ggml_backend_free(old_backend);
    ggml_backend_free(host_backend);
    ggml_backend_free(mid_backend);
    ggml_backend_free(cpu_backend);
    return old_2024.n_buffers;
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_node_of_a_layer_is_what_the_cpu_computes),
        cmocka_unit_test(a_copy_of_a_layer_computes_the_same),
        cmocka_unit_test(a_layer_is_scheduled_over_all_levels_beside_the_cpu),
        cmocka_unit_test(memory_of_the_host_is_shared_with_the_cpu),
        cmocka_unit_test(
            a_scheduler_lives_on_after_an_old_backend_had_no_memory),
    };

    return cmocka_run_group_tests_name("a layer on older levels", tests,
                                       open_backends, close_backends);
}
