/* SPDX-License-Identifier: MIT */
/*
 * tests/cpu/threads/bits.c - a graph of many operations gives the same bits
 * with any number of threads, on every variant and through every way of
 * computing it.
 */
#include "config.h"

#include "backends/cpu/kernels/api/kernels.h"
#include "backends/cpu/pool/pool.h"

#include "ggml-alloc.h"
#include "ggml-cpu.h"

#include "tests/util/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_EMBD   96
#define N_HEADS  4
#define N_TOKENS 37

static struct ggml_context *ctx;
static struct ggml_cgraph *graph;
static struct gb_random random_state;

static struct ggml_tensor *
new_input(enum ggml_type type, int64_t ne0, int64_t ne1)
{
    struct ggml_tensor *tensor = ggml_new_tensor_2d(ctx, type, ne0, ne1);
    const int64_t n = ggml_nelements(tensor);
    float *values = malloc((size_t)n * sizeof(*values));

    assert_non_null(values);
    for (int64_t i = 0; i < n; i++)
        values[i] = gb_random_float(&random_state, -1.0f, 1.0f);
    if (type == GGML_TYPE_F32)
        memcpy(tensor->data, values, (size_t)n * sizeof(*values));
    else
        ggml_quantize_chunk(type, values, tensor->data, 0, ne1, ne0, NULL);
    free(values);
    return tensor;
}

/* Attention of a block as models have it. */
static struct ggml_tensor *
attend(struct ggml_tensor *x)
{
    struct ggml_tensor *positions =
        ggml_new_tensor_1d(ctx, GGML_TYPE_I32, N_TOKENS);
    const int64_t n_dims = N_EMBD / N_HEADS;
    struct ggml_tensor *q =
        ggml_mul_mat(ctx, new_input(GGML_TYPE_F16, N_EMBD, N_EMBD), x);
    struct ggml_tensor *k =
        ggml_mul_mat(ctx, new_input(GGML_TYPE_Q8_0, N_EMBD, N_EMBD), x);
    struct ggml_tensor *v =
        ggml_mul_mat(ctx, new_input(GGML_TYPE_F32, N_EMBD, N_EMBD), x);
    struct ggml_tensor *scores;

    for (int i = 0; i < N_TOKENS; i++)
        ((int32_t *)positions->data)[i] = i;
    q = ggml_reshape_3d(ctx, q, n_dims, N_HEADS, N_TOKENS);
    k = ggml_reshape_3d(ctx, k, n_dims, N_HEADS, N_TOKENS);
    q = ggml_rope(ctx, q, positions, (int)n_dims, 0);
    k = ggml_rope(ctx, k, positions, (int)n_dims, 2);
    q = ggml_permute(ctx, q, 0, 2, 1, 3);
    k = ggml_permute(ctx, k, 0, 2, 1, 3);
    scores = ggml_mul_mat(ctx, k, q);
    scores = ggml_diag_mask_inf(ctx, scores, 0);
    scores = ggml_soft_max_ext(ctx, scores, NULL, 0.2f, 0.0f);
    v = ggml_reshape_3d(ctx, v, n_dims, N_HEADS, N_TOKENS);
    v = ggml_cont(ctx, ggml_permute(ctx, v, 1, 2, 0, 3));
    v = ggml_mul_mat(ctx, v, scores);
    v = ggml_cont(ctx, ggml_permute(ctx, v, 0, 2, 1, 3));
    return ggml_reshape_2d(ctx, v, N_EMBD, N_TOKENS);
}

static struct ggml_tensor *
feed_forward(struct ggml_tensor *x)
{
    struct ggml_tensor *gate =
        ggml_mul_mat(ctx, new_input(GGML_TYPE_Q4_1, N_EMBD, 256), x);
    struct ggml_tensor *up =
        ggml_mul_mat(ctx, new_input(GGML_TYPE_Q4_0, N_EMBD, 256), x);

    gate = ggml_mul(ctx, ggml_silu(ctx, gate), up);
    return ggml_mul_mat(ctx, new_input(GGML_TYPE_Q6_K, 256, N_EMBD), gate);
}

/* Everything that joins many values into one, over more than one tile. */
static void
add_reductions(struct ggml_tensor *x)
{
    struct ggml_tensor *wide = new_input(GGML_TYPE_F32, 1000, 300);

    ggml_build_forward_expand(graph, ggml_sum(ctx, wide));
    ggml_build_forward_expand(graph, ggml_mean(ctx, wide));
    ggml_build_forward_expand(graph, ggml_sum_rows(ctx, x));
    ggml_build_forward_expand(graph, ggml_argmax(ctx, wide));
    ggml_build_forward_expand(graph, ggml_norm(ctx, wide, 1e-5f));
    ggml_build_forward_expand(
        graph, ggml_cross_entropy_loss(
                   ctx, wide, ggml_soft_max(ctx, new_input(
                                  GGML_TYPE_F32, 1000, 300))));
    ggml_build_forward_expand(
        graph, ggml_argsort(ctx, wide, GGML_SORT_ORDER_DESC));
    ggml_build_forward_expand(
        graph, ggml_out_prod(ctx, wide, new_input(GGML_TYPE_F32, 20, 300)));
    ggml_build_forward_expand(
        graph, ggml_gelu(ctx, ggml_sin(ctx, ggml_repeat(
                   ctx, x, ggml_new_tensor_2d(ctx, GGML_TYPE_F32, N_EMBD * 4,
                                              N_TOKENS * 3)))));
}

static int
build(void **state)
{
    struct ggml_tensor *x, *ones;

    (void)state;
    ctx = ggml_init((struct ggml_init_params){ .mem_size = (size_t)16 << 20 });
    gb_random_init(&random_state, gb_test_seed(1));
    graph = ggml_new_graph(ctx);
    x = new_input(GGML_TYPE_F32, N_EMBD, N_TOKENS);
    ones = new_input(GGML_TYPE_F32, N_EMBD, 1);
    x = ggml_add(ctx, x, attend(ggml_mul(
                             ctx, ggml_rms_norm(ctx, x, 1e-6f), ones)));
    x = ggml_add(ctx, x, feed_forward(ggml_rms_norm(ctx, x, 1e-6f)));
    ggml_build_forward_expand(graph, x);
    add_reductions(x);
    return ggml_graph_n_nodes(graph) < 40;
}

static int
clear(void **state)
{
    (void)state;
    ggml_free(ctx);
    return 0;
}

/* A node that owns data. */
static bool
has_result(const struct ggml_tensor *node)
{
    return node->view_src == NULL && node->data != NULL;
}

static void
forget_results(void)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        struct ggml_tensor *node = ggml_graph_node(graph, i);

        if (has_result(node))
            memset(node->data, 0xAA, ggml_nbytes(node));
    }
}

/* Keep the results as the expected ones, or compare them with those. */
static void
keep_or_compare(char *kept, bool is_first, const char *how, int n_threads)
{
    for (int i = 0; i < ggml_graph_n_nodes(graph); i++) {
        const struct ggml_tensor *node = ggml_graph_node(graph, i);
        const size_t size = ggml_nbytes(node);

        if (!has_result(node))
            continue;
        if (is_first)
            memcpy(kept, node->data, size);
        else if (memcmp(kept, node->data, size) != 0)
            fail_msg("%s, %s, %d threads: %s %d differs",
                     gb_cpu_kernels()->variant, how, n_threads,
                     ggml_op_desc(node), i);
        kept += size;
    }
}

static struct ggml_threadpool *
new_pool(int n_threads)
{
    struct ggml_threadpool_params params =
        ggml_threadpool_params_default(n_threads);
    struct ggml_threadpool *pool = gb_cpu_pool_new(&params, n_threads);

    assert_non_null(pool);
    return pool;
}

/* With a pool that has so many threads, whatever this machine has. */
static void
compute_with_pool(int n_threads)
{
    struct ggml_threadpool *pool = new_pool(n_threads);
    struct ggml_cplan plan = ggml_graph_plan(graph, n_threads, pool);

    assert_int_equal(plan.n_threads, n_threads);
    assert_int_equal(ggml_graph_compute(graph, &plan), GGML_STATUS_SUCCESS);
    ggml_threadpool_free(pool);
}

/* With a backend, its own pool and then another; as a graph and as a plan. */
static void
compute_with_backend(int n_threads)
{
    ggml_backend_t backend = ggml_backend_cpu_init();
    struct ggml_threadpool *pool = new_pool(n_threads);
    ggml_backend_graph_plan_t plan;

    ggml_backend_cpu_set_n_threads(backend, n_threads);
    assert_int_equal(ggml_backend_graph_compute(backend, graph),
                     GGML_STATUS_SUCCESS);
    forget_results();
    ggml_backend_cpu_set_threadpool(backend, pool);
    plan = ggml_backend_graph_plan_create(backend, graph);
    assert_non_null(plan);
    assert_int_equal(ggml_backend_graph_plan_compute(backend, plan),
                     GGML_STATUS_SUCCESS);
    ggml_backend_graph_plan_free(backend, plan);
    ggml_backend_cpu_set_threadpool(backend, NULL);
    ggml_backend_free(backend);
    ggml_threadpool_free(pool);
}

static void
check_all_variants(void (*compute)(int n_threads), const char *how)
{
    static const int threads[] = { 1, 2, 3, 7, 16 };
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();
    char *kept = malloc((size_t)16 << 20);

    assert_non_null(kept);
    for (; *variants != NULL; variants++) {
        gb_cpu_kernels_use(*variants);
        for (int t = 0; t < 5; t++) {
            forget_results();
            compute(threads[t]);
            keep_or_compare(kept, t == 0, how, threads[t]);
        }
    }
    gb_cpu_kernels_use(NULL);
    free(kept);
}

static void
pools_of_all_sizes_give_the_same_bits(void **state)
{
    (void)state;
    check_all_variants(compute_with_pool, "pool");
}

static void
backends_and_plans_give_the_same_bits(void **state)
{
    (void)state;
    check_all_variants(compute_with_backend, "backend");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(pools_of_all_sizes_give_the_same_bits),
        cmocka_unit_test(backends_and_plans_give_the_same_bits),
    };

    return cmocka_run_group_tests_name(
        "the same bits with any number of threads", tests, build, clear);
}
