/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/early.c - kernels that may begin before the one in front of them
 * has ended: which do, and what a product may read before it has waited.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- which begin early ---- */

enum { N_SUMS = 5, N_COMPUTES = 4 };

static uint64_t n_expected;

static void
repeat_a_graph(void)
{
    ggml_backend_t backend;
    struct sums sums;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    sums = sums_make(ggml_backend_get_default_buffer_type(backend), N_SUMS);
    CHECK(sums.buffer != NULL);
    for (int seed = 0; seed < N_COMPUTES; seed++) {
        sums_set(&sums, seed);
        CHECK(ggml_backend_graph_compute(backend, sums.graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(sums_are_right(&sums, N_SUMS, seed));
    }
    CHECK(emulator.count(EMU_KERNELS) == N_COMPUTES * N_SUMS);
    CHECK(emulator.count(EMU_EARLY) == n_expected);
    sums_free(&sums);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* Of each graph all kernels but the first. */
static void
kernels_begin_early_where_the_card_can(void **state)
{
    (void)state;
    n_expected = N_COMPUTES * (N_SUMS - 1);
    cuda_case(repeat_a_graph, "EMU_ARCH=90", NULL);
    cuda_case(repeat_a_graph, "EMU_ARCH=120", NULL);
    cuda_case(repeat_a_graph, "EMU_ARCH=90 GGML_CUDA_DISABLE_GRAPHS=1", NULL);
}

static void
images_of_older_cards_do_not_wait(void **state)
{
    (void)state;
    n_expected = 0;
    cuda_case(repeat_a_graph, "EMU_ARCH=89", NULL);
    cuda_case(repeat_a_graph, "EMU_ARCH=75", NULL);
}

static void
the_environment_forbids_it(void **state)
{
    (void)state;
    n_expected = 0;
    cuda_case(repeat_a_graph, "GGMLBACKEND_GPU_OVERLAP=off", NULL);
    n_expected = N_COMPUTES * (N_SUMS - 1);
    cuda_case_says(repeat_a_graph, "GGMLBACKEND_GPU_OVERLAP=perhaps",
                   "GGMLBACKEND_GPU_OVERLAP: perhaps is neither on nor "
                   "off, and not used");
}

/* One by one they still may. */
static void
edges_that_cannot_be_added_end_recording(void **state)
{
    (void)state;
    n_expected = N_COMPUTES * (N_SUMS - 1);
    cuda_case_says(repeat_a_graph,
                   "EMU_FAIL=cuGraphAddDependencies_v2:1:801",
                   "cannot be recorded");
}

/* ---- what a product reads ---- */

enum { K = 2304, ROWS = 6, ALL = K * ROWS };

static enum ggml_type type; /* of the weights */
static bool are_written;    /* by the graph */
static bool are_moments;    /* which a step of AdamW writes, then */

struct product {
    struct ggml_context *ctx, *weights_ctx;
    struct ggml_tensor *weights, *other, *copy, *column, *result;
    struct ggml_tensor *params; /* of a step; or NULL */
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer, weights_buffer;
};

static struct ggml_context *
context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 16 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

/* A step that makes the weights others: they are its first moment, and its
 * parameters are of no use. */
static struct ggml_tensor *
step(struct product *p)
{
    struct ggml_tensor *w = ggml_dup_tensor(p->ctx, p->weights);
    struct ggml_tensor *v = ggml_dup_tensor(p->ctx, p->weights);

    ggml_set_param(p->ctx, w);
    p->params = ggml_new_tensor_1d(p->ctx, GGML_TYPE_F32, 7);
    return ggml_opt_step_adamw(p->ctx, w, p->other, p->weights, v, p->params);
}

/* result = weights * (column + column); the weights are copied from others
 * before. */
static struct product
make(ggml_backend_t backend)
{
    struct product p = { .ctx = context(), .weights_ctx = context() };

    p.weights = ggml_new_tensor_2d(p.weights_ctx, type, K, ROWS);
    p.other = ggml_new_tensor_2d(p.ctx, type, K, ROWS);
    p.column = ggml_new_tensor_1d(p.ctx, GGML_TYPE_F32, K);
    p.graph = ggml_new_graph(p.ctx);
    if (are_written)
        ggml_build_forward_expand(
            p.graph, are_moments ? step(&p)
                                 : ggml_cpy(p.ctx, p.other, p.weights));
    p.result = ggml_mul_mat(p.ctx, p.weights,
                            ggml_add(p.ctx, p.column, p.column));
    ggml_build_forward_expand(p.graph, p.result);
    p.weights_buffer =
        ggml_backend_alloc_ctx_tensors(p.weights_ctx, backend);
    p.buffer = ggml_backend_alloc_ctx_tensors(p.ctx, backend);
    CHECK(p.buffer != NULL && p.weights_buffer != NULL);
    ggml_backend_buffer_set_usage(p.weights_buffer,
                                  GGML_BACKEND_BUFFER_USAGE_WEIGHTS);
    if (p.params != NULL) {
        static const float params[] = { 0, 0, 0, 1, 0, 1, 0 };

        ggml_backend_buffer_clear(p.buffer, 0);
        ggml_backend_tensor_set(p.params, params, 0, sizeof(params));
    }
    return p;
}

static void
unmake(struct product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_buffer_free(p->weights_buffer);
    ggml_free(p->ctx);
    ggml_free(p->weights_ctx);
}

/* Values from -0.5 to 1.5 that differ by SEED, as bytes of the type; VALUES get
 * what these are. */
static void
set_weights(struct ggml_tensor *t, int seed, float *values)
{
    static char bytes[ALL * sizeof(float)];
    static float importance[K];

    for (int i = 0; i < ALL; i++)
        values[i] = (float)((i * 7919 + 977 * seed + i / 13) % 401 - 100) /
                    201.0f;
    for (int i = 0; i < K; i++)
        importance[i] = 1.0f;
    CHECK(ggml_quantize_chunk(type, values, bytes, 0, ROWS, K, importance) ==
          ggml_nbytes(t));
    ggml_backend_tensor_set(t, bytes, 0, ggml_nbytes(t));
    if (type != GGML_TYPE_F32)
        ggml_get_type_traits(type)->to_float(bytes, values, ALL);
}

static void
check(const struct product *p, const float *weights, const float *column)
{
    float results[ROWS];
    double error = 0.0, square = 0.0;

    ggml_backend_tensor_get(p->result, results, 0, sizeof(results));
    for (int row = 0; row < ROWS; row++) {
        double sum = 0.0;

        for (int i = 0; i < K; i++)
            sum += 2.0 * (double)weights[row * K + i] * (double)column[i];
        error += (sum - (double)results[row]) * (sum - (double)results[row]);
        square += sum * sum;
    }
    CHECK(square > 0.0 && error / square < 5e-4);
}

static void
multiply(void)
{
    static float weights[ALL], others[ALL], column[K];
    ggml_backend_t backend;
    struct product p;

    CHECK(cuda_load() != NULL);
    backend = cuda_backend("CUDA0");
    p = make(backend);
    for (int seed = 0; seed < 3; seed++) {
        for (int i = 0; i < K; i++)
            column[i] = (float)((i * 31 + 7 * seed) % 127 - 30) / 61.0f;
        ggml_backend_tensor_set(p.column, column, 0, sizeof(column));
        set_weights(p.weights, seed, weights);
        set_weights(p.other, seed + 100, others);
        CHECK(ggml_backend_graph_compute(backend, p.graph) ==
              GGML_STATUS_SUCCESS);
        check(&p, are_written ? others : weights, column);
    }
    CHECK(emulator.count(EMU_EARLY) > 0);
    unmake(&p);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static const enum ggml_type types[] = {
    GGML_TYPE_F32,   GGML_TYPE_F16,     GGML_TYPE_BF16,   GGML_TYPE_Q4_0,
    GGML_TYPE_Q5_1,  GGML_TYPE_Q8_0,    GGML_TYPE_Q2_K,   GGML_TYPE_Q4_K,
    GGML_TYPE_Q6_K,  GGML_TYPE_IQ2_XXS, GGML_TYPE_IQ4_XS, GGML_TYPE_TQ1_0,
};

static void
multiply_all(const char *variables)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        type = types[i];
        cuda_case(multiply, variables, NULL);
    }
}

static void
weights_are_read_before_the_columns_are_there(void **state)
{
    (void)state;
    are_written = false;
    multiply_all("");
    multiply_all("GGMLBACKEND_GPU_VARIANT=mma8 EMU_ORDER=2");
}

static void
weights_that_the_graph_writes_are_waited_for(void **state)
{
    (void)state;
    are_written = true;
    multiply_all("");
    multiply_all("GGMLBACKEND_GPU_VARIANT=mma8 EMU_ORDER=1");
}

static void
moments_that_a_step_writes_are_waited_for(void **state)
{
    (void)state;
    are_written = are_moments = true;
    type = GGML_TYPE_F32;
    cuda_case(multiply, "", NULL);
    cuda_case(multiply, "GGMLBACKEND_GPU_VARIANT=mma8 EMU_ORDER=1", NULL);
    cuda_case(multiply, "GGML_CUDA_DISABLE_GRAPHS=1", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_begin_early_where_the_card_can),
        cmocka_unit_test(images_of_older_cards_do_not_wait),
        cmocka_unit_test(the_environment_forbids_it),
        cmocka_unit_test(edges_that_cannot_be_added_end_recording),
        cmocka_unit_test(weights_are_read_before_the_columns_are_there),
        cmocka_unit_test(weights_that_the_graph_writes_are_waited_for),
        cmocka_unit_test(moments_that_a_step_writes_are_waited_for),
    };

    return cmocka_run_group_tests_name("kernels that begin early", tests, NULL,
                                       NULL);
}
