/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/lowering.c - kernels that cannot be loaded: those that do not fit
 * the card are done without, for good; memory that is short, and a card that
 * fails, change nothing of what is chosen afterwards.
 */
#include "config.h"

#include "tests/cuda/emulated.h"

#include "ggmlbackend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { N = 64 };

#define LOAD ON_HIP("cuModuleLoadData", "hipModuleLoadData")

/* A product that the highest variant has a kernel of its own for. */
struct product {
    struct ggml_context *ctx;
    struct ggml_tensor *a, *b, *result;
    struct ggml_cgraph *graph;
    ggml_backend_buffer_t buffer;
    ggml_backend_t backend;
};

static struct product
product_make(void)
{
    ggml_fp16_t weights[N * N];
    float values[N * N];
    struct product p = {
        .ctx = ggml_init((struct ggml_init_params){
            .mem_size = 4 * ggml_tensor_overhead() + ggml_graph_overhead(),
            .no_alloc = true }),
        .backend = ggml_backend_dev_init(cuda_device("CUDA0"), NULL),
    };

    CHECK(p.ctx != NULL && p.backend != NULL);
    p.a = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F16, N, N);
    p.b = ggml_new_tensor_2d(p.ctx, GGML_TYPE_F32, N, N);
    p.result = ggml_mul_mat(p.ctx, p.a, p.b);
    p.graph = ggml_new_graph(p.ctx);
    ggml_build_forward_expand(p.graph, p.result);
    p.buffer = ggml_backend_alloc_ctx_tensors(p.ctx, p.backend);
    CHECK(p.buffer != NULL);
    for (int i = 0; i < N * N; i++) {
        values[i] = (float)(i % 7 - 3);
        weights[i] = ggml_fp32_to_fp16((float)(i % 5 - 2));
    }
    ggml_backend_tensor_set(p.a, weights, 0, sizeof(weights));
    ggml_backend_tensor_set(p.b, values, 0, sizeof(values));
    return p;
}

static void
product_free(struct product *p)
{
    ggml_backend_buffer_free(p->buffer);
    ggml_backend_free(p->backend);
    ggml_free(p->ctx);
}

/* Sums of small whole numbers: no variant rounds them. */
static bool
is_right(const struct product *p)
{
    float result[N][N];

    ggml_backend_tensor_get(p->result, result, 0, sizeof(result));
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) {
            int sum = 0;

            for (int k = 0; k < N; k++)
                sum += ((i * N + k) % 7 - 3) * ((j * N + k) % 5 - 2);
            if (!(fabsf(result[i][j] - (float)sum) < 0.5f))
                return false;
        }
    }
    return true;
}

/* Made in a process of its own, as it stays. */
static int n_failing, failing_result;
static const char *failing_call;

/* "SUCCESS" or what else, and how often a call failed. */
static void
multiply_while_a_call_fails(void)
{
    struct product p;
    enum ggml_status status;

    CHECK(cuda_load() != NULL);
    p = product_make();
    emulator.fail_call(failing_call, (uint64_t)n_failing, failing_result);
    status = ggml_backend_graph_compute(p.backend, p.graph);
    if (status == GGML_STATUS_SUCCESS)
        CHECK(is_right(&p));
    fprintf(stderr, "status %d, %d failed\n", (int)status,
            (int)emulator.failures());
    product_free(&p);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static const char *
outcome_of(const char *call, int n, int result)
{
    const char *errors;

    failing_call = call;
    n_failing = n;
    failing_result = result;
    cuda_case(multiply_while_a_call_fails, "", &errors);
    return errors;
}

/* Each call of it in its turn; how many were done without. */
static int
count_lowered(const char *call, int result, const char *reason)
{
    int n_lowered = 0;

    for (int n = 1;; n++) {
        const char *errors = outcome_of(call, n, result);

        if (strstr(errors, "0 failed") != NULL)
            return n_lowered;
        print_message("# %s", errors);
        if (strstr(errors, "status 0") == NULL)
            assert_non_null(strstr(errors, "is missing"));
        else
            n_lowered += strstr(errors, " instead of ") != NULL;
        if (reason != NULL)
            assert_non_null(strstr(errors, reason));
    }
}

static void
a_kernel_that_does_not_fit_is_done_without(void **state)
{
    (void)state;
    assert_true(count_lowered("cuModuleLoadData", 209,
                              "(" NO_BINARY ")") >= 1);
    assert_true(count_lowered("cuModuleGetFunction", 500, NULL) >= 1);
}

/* ---- what passes ---- */

static void
fail_and_multiply_again(void)
{
    struct product p;
    uint64_t kernels;

    CHECK(cuda_load() != NULL);
    p = product_make();
    emulator.fail_call("cuModuleLoadData", 1, 2);
    CHECK(ggml_backend_graph_compute(p.backend, p.graph) ==
          GGML_STATUS_ALLOC_FAILED);
    CHECK(ggml_backend_graph_compute(p.backend, p.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(is_right(&p));
    emulator.fail_call("cuModuleLoadData", 1, 700);
    product_free(&p);

    /* A card that fails while it loads a kernel. */
    p = product_make();
    CHECK(ggml_backend_graph_compute(p.backend, p.graph) ==
          GGML_STATUS_FAILED);
    product_free(&p);
    p = product_make();
    kernels = emulator.count(EMU_KERNELS);
    CHECK(ggml_backend_graph_compute(p.backend, p.graph) ==
          GGML_STATUS_SUCCESS);
    CHECK(is_right(&p) && emulator.count(EMU_KERNELS) > kernels);
    product_free(&p);
    CHECK(emulator.live() == 0 && emulator.reports() == 0);
}

static void
short_memory_and_a_failing_card_lower_nothing(void **state)
{
    const char *errors;

    (void)state;
    cuda_case(fail_and_multiply_again, "", &errors);
    print_message("# %s", errors);
    assert_non_null(strstr(errors, DEVICES "0: " LOAD ": out of memory "
                                   "(" OUT_OF_MEMORY ")"));
    assert_non_null(strstr(errors, "(" ILLEGAL_ADDRESS ")"));
    assert_null(strstr(errors, " instead of "));
    assert_null(strstr(errors, "is missing"));
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_does_not_fit_is_done_without),
        cmocka_unit_test(short_memory_and_a_failing_card_lower_nothing),
    };

    return cmocka_run_group_tests_name("kernels that are missing", tests, NULL,
                                       NULL);
}
