/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/device/plan.c - computing graphs without a backend: plans, their
 * memory, threads of custom operations, stopping.
 */
#include "config.h"

#include "ggml-backend.h"
#include "ggml-cpu.h"
#include "ggmlbackend.h"

#include "tests/util/fault.h"
#include "tests/util/sink.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct ggml_context *ctx;

static int
open_context(void **state)
{
    (void)state;
    ctx = ggml_init((struct ggml_init_params){ .mem_size = (size_t)8 << 20 });
    return ctx == NULL;
}

static int
close_context(void **state)
{
    (void)state;
    ggml_free(ctx);
    return 0;
}

static struct ggml_tensor *
new_ones(int64_t ne0, int64_t ne1)
{
    return ggml_set_f32(
        ggml_new_tensor_2d(ctx, GGML_TYPE_F32, ne0, ne1), 1.0f);
}

static enum ggml_status
compute(struct ggml_cgraph *graph, struct ggml_cplan plan)
{
    return ggml_graph_compute(graph, &plan);
}

/* Operations that prepare, share and scratch; *want is the last element. */
static struct ggml_tensor *
node_with_needs(int which, float *want)
{
    switch (which) {
    case 0:
        *want = 2.0f;
        return ggml_add(ctx, new_ones(4, 4), new_ones(4, 4));
    case 1:
        *want = 32.0f;
        return ggml_mul_mat(ctx, new_ones(32, 32), new_ones(32, 32));
    case 2:
        *want = 64.0f;
        return ggml_mul_mat(ctx, ggml_cast(ctx, new_ones(64, 8),
                                           GGML_TYPE_Q8_0),
                            new_ones(64, 3));
    case 3:
        *want = 1.0f / 512;
        return ggml_soft_max(ctx, new_ones(512, 2));
    case 4:
        *want = 15.0f;
        return ggml_sum(ctx, new_ones(5, 3));
    default:
        *want = 12.0f;
        return ggml_conv_1d(ctx, ggml_cast(ctx, ggml_reshape_3d(
                                               ctx, new_ones(3, 8), 3, 4, 2),
                                           GGML_TYPE_F16),
                            new_ones(16, 4), 1, 0, 1);
    }
}

static void
plans_ask_for_no_memory_and_need_none(void **state)
{
    (void)state;
    for (int which = 0; which < 6; which++) {
        struct ggml_cgraph *graph = ggml_new_graph(ctx);
        float want;
        struct ggml_tensor *y = node_with_needs(which, &want);
        struct ggml_cplan plan;

        ggml_build_forward_expand(graph, y);
        plan = ggml_graph_plan(graph, 2, NULL);
        assert_int_equal(plan.work_size, 0);
        assert_null(plan.work_data);
        assert_null((void *)plan.abort_callback);
        assert_null(plan.threadpool);
        assert_int_equal(ggml_graph_compute(graph, &plan), GGML_STATUS_SUCCESS);
        /* Numbers of 8 bits are off by less than a hundredth. */
        assert_float_equal(ggml_get_f32_1d(y, (int)ggml_nelements(y) - 1),
                           want, want / 100);
    }
}

static void
memory_that_a_caller_gives_is_left_alone(void **state)
{
    struct ggml_tensor *y =
        ggml_mul_mat(ctx, new_ones(32, 32), new_ones(32, 32));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;
    uint8_t work[64];

    (void)state;
    ggml_build_forward_expand(graph, y);
    memset(work, 0x5a, sizeof(work));
    plan = ggml_graph_plan(graph, 2, NULL);
    for (size_t i = 0; i < sizeof(work); i++) {
        plan.work_data = work + i;
        plan.work_size = i % 2 == 0 ? 0 : sizeof(work) - i;
        ggml_set_f32(y, 0.0f);
        assert_int_equal(ggml_graph_compute(graph, &plan), GGML_STATUS_SUCCESS);
        assert_true(ggml_get_f32_1d(y, 1023) == 32.0f);
    }
    for (size_t i = 0; i < sizeof(work); i++)
        assert_int_equal(work[i], 0x5a);
}

static void
a_plan_has_no_more_threads_than_tiles(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    (void)state;
    assert_int_equal(ggml_graph_plan(graph, 8, NULL).n_threads, 1);
    assert_int_equal(ggml_graph_plan(graph, 8, NULL).work_size, 0);
    ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(4, 4)));
    assert_int_equal(ggml_graph_plan(graph, 8, NULL).n_threads, 1);
    ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(1000, 1000)));
    assert_int_equal(ggml_graph_plan(graph, 8, NULL).n_threads, 8);
    assert_int_equal(ggml_graph_plan(graph, 0, NULL).n_threads,
                     GGML_DEFAULT_N_THREADS);
    assert_int_equal(compute(graph, ggml_graph_plan(graph, 3, NULL)),
                     GGML_STATUS_SUCCESS);
}

/* Products of the same activations round them once, if they stay as they
 * are. */
static void
a_source_that_has_changed_is_prepared_again(void **state)
{
    struct ggml_tensor *w = ggml_new_tensor_2d(ctx, GGML_TYPE_Q8_0, 64, 32);
    struct ggml_tensor *b = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 64);
    struct ggml_tensor *twice = ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 64);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *products[4];
    float values[64 * 32];

    (void)state;
    for (int i = 0; i < 64 * 32; i++)
        values[i] = (float)(i * 37 % 101) - 50.0f;
    ggml_quantize_chunk(GGML_TYPE_Q8_0, values, w->data, 0, 32, 64, NULL);
    for (int i = 0; i < 64; i++) {
        ggml_set_f32_1d(b, i, values[i]);
        ggml_set_f32_1d(twice, i, 2.0f * values[i]);
    }
    for (int i = 0; i < 4; i++) {
        products[i] = ggml_mul_mat(ctx, w, b);
        ggml_build_forward_expand(graph, products[i]);
        if (i == 1)
            ggml_build_forward_expand(graph, ggml_cpy(ctx, twice, b));
    }
    assert_int_equal(compute(graph, ggml_graph_plan(graph, 1, NULL)),
                     GGML_STATUS_SUCCESS);
    for (int i = 0; i < 32; i++) {
        const float once = ggml_get_f32_1d(products[0], i);

        assert_true(once != 0.0f);
        assert_true(ggml_get_f32_1d(products[1], i) == once);
        assert_true(ggml_get_f32_1d(products[2], i) == 2.0f * once);
        assert_true(ggml_get_f32_1d(products[3], i) == 2.0f * once);
    }
}

/* Rotations at the same positions share a table, if these stay as they are. */
static void
positions_that_have_changed_give_other_angles(void **state)
{
    struct ggml_tensor *x = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, 8, 2, 3);
    struct ggml_tensor *at[2];
    struct ggml_tensor *rotated[4], *alone;
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cgraph *other = ggml_new_graph(ctx);

    (void)state;
    for (int i = 0; i < 8 * 2 * 3; i++)
        ggml_set_f32_1d(x, i, (float)(i * 37 % 101) - 50.0f);
    for (int i = 0; i < 2; i++) {
        at[i] = ggml_new_tensor_1d(ctx, GGML_TYPE_I32, 3);
        for (int t = 0; t < 3; t++)
            ggml_set_i32_1d(at[i], t, 5 * i + t);
    }
    alone = ggml_rope(ctx, x, at[1], 8, 0);
    ggml_build_forward_expand(other, alone);
    for (int i = 0; i < 4; i++) {
        rotated[i] = ggml_rope(ctx, x, at[0], 8, i % 2 == 0 ? 0 : 2);
        ggml_build_forward_expand(graph, rotated[i]);
        if (i == 1)
            ggml_build_forward_expand(graph, ggml_cpy(ctx, at[1], at[0]));
    }
    assert_int_equal(compute(other, ggml_graph_plan(other, 1, NULL)),
                     GGML_STATUS_SUCCESS);
    assert_int_equal(compute(graph, ggml_graph_plan(graph, 1, NULL)),
                     GGML_STATUS_SUCCESS);
    assert_memory_equal(rotated[2]->data, alone->data, ggml_nbytes(alone));
    assert_memory_not_equal(
        rotated[0]->data, alone->data, ggml_nbytes(alone));
    assert_memory_not_equal(
        rotated[3]->data, alone->data, ggml_nbytes(alone));
}

static void
a_pool_says_how_many_threads(void **state)
{
    struct ggml_threadpool_params params = ggml_threadpool_params_default(3);
    struct ggml_threadpool *pool = ggml_threadpool_new(&params);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;
    struct gb_sink sink;

    (void)state;
    ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(1000, 1000)));
    plan = ggml_graph_plan(graph, -1, pool);
    assert_int_equal(plan.n_threads, 3);
    assert_ptr_equal(plan.threadpool, pool);
    assert_int_equal(compute(graph, plan), GGML_STATUS_SUCCESS);
    gb_sink_begin(&sink);
    plan = ggml_graph_plan(graph, 5, pool);
    assert_int_equal(compute(graph, plan), GGML_STATUS_SUCCESS);
    gb_sink_end();
    assert_int_equal(sink.level, GGML_LOG_LEVEL_WARN);
    ggml_threadpool_free(pool);
}

static void
broken_plans_fail(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;
    struct gb_sink sink;

    (void)state;
    ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(4, 4)));
    plan = ggml_graph_plan(graph, 1, NULL);
    gb_sink_begin(&sink);
    assert_int_equal(ggml_graph_compute(graph, NULL), GGML_STATUS_FAILED);
    plan.n_threads = 0;
    assert_int_equal(compute(graph, plan), GGML_STATUS_FAILED);
    plan.n_threads = GGML_MAX_N_THREADS + 1;
    assert_int_equal(compute(graph, plan), GGML_STATUS_FAILED);
    plan = ggml_graph_plan(NULL, 1, NULL);
    assert_int_equal(plan.work_size, 0);
    assert_int_equal(ggml_graph_compute(NULL, &plan), GGML_STATUS_FAILED);
    assert_int_equal(ggml_graph_compute_with_ctx(NULL, graph, 1),
                     GGML_STATUS_FAILED);
    gb_sink_end();
    assert_int_equal(sink.level, GGML_LOG_LEVEL_ERROR);
}

static void
failed_nodes_make_the_graph_fail_with_their_reason(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *product;
    struct gb_sink sink;

    (void)state;
    gb_sink_begin(&sink);
    product = ggml_mul_mat(ctx, new_ones(3, 3), new_ones(4, 4));
    ggml_build_forward_expand(graph, ggml_sqr(ctx, product));
    assert_int_equal(ggml_graph_compute_with_ctx(ctx, graph, 1),
                     GGML_STATUS_FAILED);
    gb_sink_end();
    assert_non_null(strstr(ggmlbackend_last_failure(), "mul_mat"));
}

static void
tensors_without_memory_make_it_fail(void **state)
{
    struct ggml_tensor *x = new_ones(4, 4);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct gb_sink sink;

    (void)state;
    ggml_build_forward_expand(graph, ggml_sqr(ctx, x));
    x->data = NULL;
    gb_sink_begin(&sink);
    assert_int_equal(ggml_graph_compute_with_ctx(ctx, graph, 1),
                     GGML_STATUS_FAILED);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "no memory"));
}

static void
a_context_that_is_full_can_be_computed(void **state)
{
    struct ggml_tensor *y = ggml_sqr(ctx, new_ones(4, 4));
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    size_t used;

    (void)state;
    ggml_build_forward_expand(graph, y);
    ggml_new_buffer(ctx, ggml_get_mem_size(ctx) - ggml_used_mem(ctx) - 64);
    used = ggml_used_mem(ctx);
    assert_int_equal(ggml_graph_compute_with_ctx(ctx, graph, 2),
                     GGML_STATUS_SUCCESS);
    assert_true(ggml_get_f32_1d(y, 15) == 1.0f);
    assert_int_equal(ggml_used_mem(ctx), used);
}

static void
compute_with_failures(void *data)
{
    const enum ggml_status status = ggml_graph_compute_with_ctx(ctx, data, 1);

    assert_int_equal(status, gb_fault_happened() ? GGML_STATUS_ALLOC_FAILED
                                                 : GGML_STATUS_SUCCESS);
}

static void
without_memory_for_the_work_nothing_is_computed(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_tensor *y =
        ggml_mul_mat(ctx, new_ones(64, 64), new_ones(64, 64));
    struct gb_sink sink;

    (void)state;
    for (int i = 0; i < 100; i++)
        y = ggml_scale(ctx, y, 1.0f);
    ggml_build_forward_expand(graph, y);
    gb_sink_begin(&sink);
    /* The list, and what products are packed into. */
    assert_int_equal(gb_fault_each(compute_with_failures, graph), 2);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "bytes of work"));
}

/* What a backend keeps of a graph, or of one in which nothing is to be done. */
struct kept {
    ggml_backend_t backend;
    struct ggml_cgraph *graph;
};

static void
keep_with_failures(void *data)
{
    const struct kept *kept = data;
    ggml_backend_graph_plan_t plan =
        ggml_backend_graph_plan_create(kept->backend, kept->graph);

    if (gb_fault_happened()) {
        assert_null(plan);
        return;
    }
    assert_non_null(plan);
    assert_int_equal(ggml_backend_graph_plan_compute(kept->backend, plan),
                     GGML_STATUS_SUCCESS);
    ggml_backend_graph_plan_free(kept->backend, plan);
}

static void
without_memory_for_a_plan_there_is_none(void **state)
{
    struct ggml_tensor *x = new_ones(64, 64);
    struct ggml_tensor *y = ggml_mul_mat(ctx, x, new_ones(64, 64));
    struct kept kept = { ggml_backend_cpu_init(), ggml_new_graph(ctx) };
    struct gb_sink sink;

    (void)state;
    assert_non_null(kept.backend);
    ggml_backend_cpu_set_n_threads(kept.backend, 1);
    ggml_build_forward_expand(kept.graph, y);
    gb_sink_begin(&sink);
    /* The plan, the list, and what products are packed into. */
    assert_int_equal(gb_fault_each(keep_with_failures, &kept), 3);
    gb_sink_end();
    assert_non_null(strstr(sink.text, "no memory for a plan"));
    assert_true(ggml_get_f32_1d(y, 4095) == 64.0f);
    kept.graph = ggml_new_graph(ctx);
    ggml_build_forward_expand(kept.graph, ggml_transpose(ctx, x));
    assert_int_equal(gb_fault_each(keep_with_failures, &kept), 1);
    ggml_backend_free(kept.backend);
}

static void
small_graphs_need_no_memory_at_all(void **state)
{
    struct ggml_cgraph *graph = ggml_new_graph(ctx);

    (void)state;
    ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(4, 4)));
    assert_int_equal(gb_fault_each(compute_with_failures, graph), 0);
}

static void
views_and_empty_nodes_cost_nothing(void **state)
{
    struct ggml_tensor *x = new_ones(6, 4);
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct ggml_cplan plan;

    (void)state;
    ggml_build_forward_expand(graph, ggml_transpose(ctx, x));
    ggml_build_forward_expand(graph, ggml_reshape_1d(ctx, x, 24));
    ggml_build_forward_expand(graph, ggml_permute(ctx, x, 1, 0, 2, 3));
    ggml_build_forward_expand(graph, ggml_view_1d(ctx, x, 3, 0));
    ggml_build_forward_expand(
        graph, ggml_sqr(ctx, ggml_new_tensor_2d(ctx, GGML_TYPE_F32, 0, 5)));
    plan = ggml_graph_plan(graph, 2, NULL);
    assert_int_equal(plan.work_size, 0);
    assert_int_equal(ggml_graph_compute(graph, &plan), GGML_STATUS_SUCCESS);
}

/* What a custom operation was called with. */
struct calls {
    atomic_int n;
    atomic_int seen[16]; /* by ith */
    atomic_int nth;
};

static void
count_calls(struct ggml_tensor *dst, const struct ggml_tensor *a, int ith,
            int nth, void *userdata)
{
    struct calls *calls = userdata;

    (void)dst;
    (void)a;
    atomic_fetch_add(&calls->n, 1);
    if (ith >= 0 && ith < 16)
        atomic_fetch_add(&calls->seen[ith], 1);
    atomic_store(&calls->nth, nth);
}

static void
custom_operations_get_the_tasks_that_they_ask_for(void **state)
{
    static const int asked[] = { 1, 2, 5, GGML_N_TASKS_MAX };
    static const int threads[] = { 1, 3 };

    (void)state;
    for (int i = 0; i < 8; i++) {
        const int n_tasks = asked[i / 2];
        const int n_threads = threads[i % 2];
        const int want =
            n_tasks == GGML_N_TASKS_MAX || n_tasks > n_threads ? n_threads
                                                               : n_tasks;
        struct ggml_cgraph *graph = ggml_new_graph(ctx);
        struct ggml_cplan plan;
        struct calls calls;

        memset(&calls, 0, sizeof(calls));
        ggml_build_forward_expand(
            graph, ggml_map_custom1(ctx, new_ones(2, 2), count_calls, n_tasks,
                                    &calls));
        /* Larger operations in the same graph change nothing. */
        ggml_build_forward_expand(graph, ggml_sqr(ctx, new_ones(300, 300)));
        plan = ggml_graph_plan(graph, n_threads, NULL);
        assert_int_equal(compute(graph, plan), GGML_STATUS_SUCCESS);
        assert_int_equal(atomic_load(&calls.nth), want);
        assert_int_equal(atomic_load(&calls.n), want);
        for (int ith = 0; ith < want; ith++)
            assert_int_equal(atomic_load(&calls.seen[ith]), 1);
    }
}

struct stop {
    int asked;
    int stop_at;
    pthread_t asker;
};

static bool
ask_to_stop(void *data)
{
    struct stop *stop = data;

    assert_true(pthread_equal(stop->asker, pthread_self()));
    stop->asked++;
    return stop->asked == stop->stop_at;
}

static void
a_running_graph_stops_within_one_step(void **state)
{
    struct ggml_tensor *nodes[12];
    struct ggml_cgraph *graph = ggml_new_graph(ctx);
    struct stop stop = { 0, 0, pthread_self() };
    struct ggml_cplan plan;

    (void)state;
    nodes[0] = new_ones(200, 200);
    for (int i = 1; i < 12; i++)
        nodes[i] = ggml_scale(ctx, nodes[i - 1], 2.0f);
    ggml_build_forward_expand(graph, nodes[11]);
    plan = ggml_graph_plan(graph, 2, NULL);
    plan.abort_callback = ask_to_stop;
    plan.abort_callback_data = &stop;
    stop.stop_at = 5;
    assert_int_equal(compute(graph, plan), GGML_STATUS_ABORTED);
    assert_int_equal(stop.asked, 5);
    assert_true(ggml_get_f32_1d(nodes[5], 39999) == 32.0f);
    assert_true(ggml_get_f32_1d(nodes[6], 0) != 64.0f);
    /* The next computation is a new one. */
    stop = (struct stop){ 0, 0, pthread_self() };
    assert_int_equal(compute(graph, plan), GGML_STATUS_SUCCESS);
    assert_int_equal(stop.asked, 11);
    assert_true(ggml_get_f32_1d(nodes[11], 0) == 2048.0f);
}

#define IN_CONTEXT(test) \
    cmocka_unit_test_setup_teardown(test, open_context, close_context)

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        IN_CONTEXT(plans_ask_for_no_memory_and_need_none),
        IN_CONTEXT(memory_that_a_caller_gives_is_left_alone),
        IN_CONTEXT(a_plan_has_no_more_threads_than_tiles),
        IN_CONTEXT(a_source_that_has_changed_is_prepared_again),
        IN_CONTEXT(positions_that_have_changed_give_other_angles),
        IN_CONTEXT(a_pool_says_how_many_threads),
        IN_CONTEXT(broken_plans_fail),
        IN_CONTEXT(failed_nodes_make_the_graph_fail_with_their_reason),
        IN_CONTEXT(tensors_without_memory_make_it_fail),
        IN_CONTEXT(a_context_that_is_full_can_be_computed),
        IN_CONTEXT(without_memory_for_the_work_nothing_is_computed),
        IN_CONTEXT(without_memory_for_a_plan_there_is_none),
        IN_CONTEXT(small_graphs_need_no_memory_at_all),
        IN_CONTEXT(views_and_empty_nodes_cost_nothing),
        IN_CONTEXT(custom_operations_get_the_tasks_that_they_ask_for),
        IN_CONTEXT(a_running_graph_stops_within_one_step),
    };

    return cmocka_run_group_tests_name("plans", tests, NULL, NULL);
}
