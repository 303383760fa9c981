/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/shapes.c - graphs of several shapes on one backend: recordings,
 * kernels and scratch are what each needs.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static ggml_backend_t
backend_of(const char *name)
{
    ggml_backend_t backend = ggml_backend_dev_init(cuda_device(name), NULL);

    CHECK(backend != NULL);
    return backend;
}

/* A graph of two launches and more, whose result is known. */
struct chain {
    struct ggml_context *ctx;
    struct ggml_tensor *x, *weights, *result;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
};

static void
chain_place(struct chain *chain, ggml_backend_t backend)
{
    chain->graph = ggml_new_graph(chain->ctx);
    ggml_build_forward_expand(chain->graph, chain->result);
    chain->buffer = ggml_backend_alloc_ctx_tensors(chain->ctx, backend);
    CHECK(chain->buffer != NULL);
}

static struct ggml_context *
chain_context(void)
{
    struct ggml_context *ctx = ggml_init((struct ggml_init_params){
        .mem_size = 8 * ggml_tensor_overhead() + ggml_graph_overhead(),
        .no_alloc = true });

    CHECK(ctx != NULL);
    return ctx;
}

static void
chain_free(struct chain *chain)
{
    ggml_backend_buffer_free(chain->buffer);
    ggml_free(chain->ctx);
}

/* Every number of the tensor becomes VALUE. */
static void
fill(struct ggml_tensor *tensor, float value)
{
    const int64_t n = ggml_nelements(tensor);
    float *data = malloc((size_t)n * sizeof(*data));

    CHECK(data != NULL);
    for (int64_t i = 0; i < n; i++)
        data[i] = value;
    ggml_backend_tensor_set(tensor, data, 0, ggml_nbytes(tensor));
    free(data);
}

static bool
is_filled(const struct ggml_tensor *tensor, float value)
{
    const int64_t n = ggml_nelements(tensor);
    float *data = malloc((size_t)n * sizeof(*data));
    bool is_same = true;

    CHECK(data != NULL);
    ggml_backend_tensor_get(tensor, data, 0, ggml_nbytes(tensor));
    for (int64_t i = 0; i < n; i++)
        is_same = is_same && data[i] == value;
    free(data);
    return is_same;
}

/* ---- recordings ---- */

enum { CHAIN_K = 32 };

/* The double of products of M rows of K weights. */
static struct chain
products(ggml_backend_t backend, int64_t m)
{
    struct chain chain = { .ctx = chain_context() };

    chain.weights = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, CHAIN_K, m);
    chain.x = ggml_new_tensor_1d(chain.ctx, GGML_TYPE_F32, CHAIN_K);
    chain.result = ggml_mul_mat(chain.ctx, chain.weights, chain.x);
    chain.result = ggml_add(chain.ctx, chain.result, chain.result);
    chain_place(&chain, backend);
    fill(chain.weights, 0.5f);
    return chain;
}

static void
compute_products(ggml_backend_t backend, struct chain *chain, float value)
{
    fill(chain->x, value);
    CHECK(ggml_backend_graph_compute(backend, chain->graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(is_filled(chain->result, CHAIN_K * value));
}

/* The mean of rows, of the mean of rows: of long rows by other kernels. */
static struct chain
means(ggml_backend_t backend, int64_t n)
{
    struct chain chain = { .ctx = chain_context() };

    chain.x = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, n, 256);
    chain.result = ggml_mean(chain.ctx, chain.x);
    chain.result = ggml_transpose(chain.ctx, chain.result);
    chain.result = ggml_mean(chain.ctx, chain.result);
    chain_place(&chain, backend);
    return chain;
}

static void
compute_means(ggml_backend_t backend, struct chain *chain, float value)
{
    fill(chain->x, value);
    CHECK(ggml_backend_graph_compute(backend, chain->graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(is_filled(chain->result, value));
}

static void
graphs_of_two_sizes(void)
{
    struct chain small, large, narrow, wide;
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    small = products(backend, 3);
    large = products(backend, 77);
    narrow = means(backend, 64);
    wide = means(backend, 1024);
    for (int turn = 1; turn < 5; turn++) {
        compute_products(backend, &small, (float)turn);
        compute_products(backend, &large, (float)turn);
        compute_means(backend, &narrow, (float)turn);
        compute_means(backend, &wide, (float)turn);
    }
    chain_free(&small);
    chain_free(&large);
    chain_free(&narrow);
    chain_free(&wide);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
a_recording_follows_sizes_and_kernels(void **state)
{
    (void)state;
    cuda_case(graphs_of_two_sizes, "", NULL);
}

/* ---- kernels that do not fit the card ---- */

static void
multiply_halves(void)
{
    enum { M = 70, N = 65 };
    struct chain chain = { .ctx = chain_context() };
    ggml_fp16_t weights[M * CHAIN_K];
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    chain.weights = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F16, CHAIN_K, M);
    chain.x = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, CHAIN_K, N);
    chain.result = ggml_mul_mat(chain.ctx, chain.weights, chain.x);
    chain_place(&chain, backend);
    for (int i = 0; i < M * CHAIN_K; i++)
        weights[i] = ggml_fp32_to_fp16(0.5f);
    ggml_backend_tensor_set(chain.weights, weights, 0, sizeof(weights));
    for (int turn = 1; turn < 3; turn++) {
        fill(chain.x, (float)turn);
        CHECK(ggml_backend_graph_compute(backend, chain.graph) ==
              GGML_STATUS_SUCCESS);
        CHECK(is_filled(chain.result, CHAIN_K / 2 * (float)turn));
    }
    chain_free(&chain);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
kernels_of_a_lower_variant_take_the_place_of_what_does_not_fit(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(multiply_halves,
              ON_HIP("GGMLBACKEND_GPU_VARIANT=mma8", ""), &errors);
    assert_null(strstr(errors, "is missing"));
    cuda_case(multiply_halves,
              ON_HIP("GGMLBACKEND_GPU_VARIANT=mma8 "
                     "EMU_FAIL=cuModuleLoadData:2:209",
                     "EMU_FAIL=hipModuleLoadData:2:209"),
              &errors);
    assert_non_null(strstr(errors,
                           ON_HIP("kernel variant mma instead of mma8",
                                  "kernel variant dot4 instead of mfma")));
}

/* ---- scratch ---- */

/* Products of quantised weights with N columns of K values, which are packed
 * into scratch; then one with a column. */
static struct chain
packed_products(ggml_backend_t backend, int64_t k, int64_t n)
{
    struct chain chain = { .ctx = chain_context() };
    struct ggml_tensor *row;

    chain.weights = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_Q8_0, k, k);
    chain.x = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, k, n);
    chain.result = ggml_mul_mat(chain.ctx, chain.weights, chain.x);
    row = ggml_view_1d(chain.ctx, chain.result, k, 0);
    chain.result = ggml_mul_mat(chain.ctx, chain.weights, row);
    chain_place(&chain, backend);
    return chain;
}

/* Weights of 0: what matters is where the activations lie on their way. */
static void
grow_scratch_while_it_is_used(void)
{
    struct chain little, much;
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    little = packed_products(backend, 64, 2);
    much = packed_products(backend, 256, 8);
    ggml_backend_buffer_clear(little.buffer, 0);
    ggml_backend_buffer_clear(much.buffer, 0);
    CHECK(ggml_backend_graph_compute_async(backend, little.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(ggml_backend_graph_compute_async(backend, much.graph) ==
          GGML_STATUS_SUCCESS);
    ggml_backend_synchronize(backend);
    CHECK(is_filled(little.result, 0.0f) && is_filled(much.result, 0.0f));
    CHECK(emulator.reports() == 0);
    chain_free(&little);
    chain_free(&much);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* Four long rows, cut into splits that meet in scratch; then what needs none. */
static void
join_splits_before_another_node(void)
{
    enum { LONG = 8192 };
    struct chain chain = { .ctx = chain_context() };
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    chain.weights = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, LONG, 4);
    chain.x = ggml_new_tensor_1d(chain.ctx, GGML_TYPE_F32, LONG);
    chain.result = ggml_mul_mat(chain.ctx, chain.weights, chain.x);
    chain.result = ggml_neg(chain.ctx, chain.result);
    chain_place(&chain, backend);
    fill(chain.weights, 0.5f);
    fill(chain.x, 1.0f);
    CHECK(ggml_backend_graph_compute(backend, chain.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(is_filled(chain.result, -LONG / 2));
    chain_free(&chain);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

/* Three products of one launch, whose splits of k lie in scratch at once. */
static void
join_splits_of_one_launch(void)
{
    enum { LONG = 4096, COLUMNS = 12, PRODUCTS = 3 };
    static const int64_t rows[PRODUCTS] = { 4, 70, 3 };
    struct chain chain = { .ctx = chain_context() };
    struct ggml_tensor *weights[PRODUCTS], *results[PRODUCTS];
    ggml_backend_t backend;

    CHECK(cuda_load() != NULL);
    backend = backend_of("CUDA0");
    chain.x = ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F32, LONG, COLUMNS);
    chain.graph = ggml_new_graph(chain.ctx);
    for (int i = 0; i < PRODUCTS; i++) {
        weights[i] =
            ggml_new_tensor_2d(chain.ctx, GGML_TYPE_F16, LONG, rows[i]);
        results[i] = ggml_mul_mat(chain.ctx, weights[i], chain.x);
        ggml_build_forward_expand(chain.graph, results[i]);
    }
    chain.buffer = ggml_backend_alloc_ctx_tensors(chain.ctx, backend);
    CHECK(chain.buffer != NULL);
    fill(chain.x, 1.0f);
    /* Halves of these bytes are 1080 / 2048. */
    for (int i = 0; i < PRODUCTS; i++)
        ggml_backend_tensor_memset(weights[i], 0x38, 0,
                                   ggml_nbytes(weights[i]));
    CHECK(ggml_backend_graph_compute(backend, chain.graph) ==
          GGML_STATUS_SUCCESS);
    for (int i = 0; i < PRODUCTS; i++)
        CHECK(is_filled(results[i], LONG * (1080.0f / 2048.0f)));
    /* What packs the columns, the products, what joins their parts; without warp
     * groups all three of each product. */
    CHECK(emulator.count(EMU_KERNELS) == ON_HIP(3, 7));
    chain_free(&chain);
    ggml_backend_free(backend);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
scratch_is_for_the_node_that_needs_most(void **state)
{
    (void)state;
    cuda_case(grow_scratch_while_it_is_used, "", NULL);
    cuda_case(join_splits_before_another_node, "", NULL);
    cuda_case(join_splits_of_one_launch, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_recording_follows_sizes_and_kernels),
        cmocka_unit_test(
            kernels_of_a_lower_variant_take_the_place_of_what_does_not_fit),
        cmocka_unit_test(scratch_is_for_the_node_that_needs_most),
    };

    return cmocka_run_group_tests_name("shapes", tests, NULL, NULL);
}
