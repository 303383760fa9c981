/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/cut.c - products on Vulkan0 whose operands have more bytes than
 * a binding shows of a buffer.
 *
 * cut.sh runs it where Vulkan0 is lavapipe and a binding shows 1 MiB, so that
 * operands have some more.  All values are small integers: sums are exact in
 * any order.
 */
#include "config.h"

#include "tests/vulkan/one-node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SHOWN ((size_t)1 << 20)

static ggml_backend_dev_t device;
static ggml_backend_t backend;

/* ---- values ---- */

/* Value I of operand WHICH: -4 ... 4. */
static int
value_of(int which, int64_t i)
{
    const uint64_t bits =
        (uint64_t)(i * 2 + which) * 0x9e3779b97f4a7c15u;

    return (int)((bits >> 40) % 9) - 4;
}

/* All of T, which is dense, F32 or F16. */
static void
fill(struct ggml_tensor *t, int which)
{
    const int64_t n = ggml_nelements(t);
    char *const data = malloc(ggml_nbytes(t));

    assert_non_null(data);
    for (int64_t i = 0; i < n; i++) {
        const float value = (float)value_of(which, i);

        if (t->type == GGML_TYPE_F32)
            ((float *)data)[i] = value;
        else
            ((ggml_fp16_t *)data)[i] = ggml_fp32_to_fp16(value);
    }
    ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
    free(data);
}

/* Row A of operand 0 times row B of operand 1, of K values each. */
static float
expected(int64_t k, int64_t a, int64_t b)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < k; i++)
        sum += value_of(0, a * k + i) * value_of(1, b * k + i);
    return (float)sum;
}

/* ---- claims ---- */

/* A product of M rows and N columns, of which some elements are looked at, the
 * last one among them. */
static void
check_product(enum ggml_type type, int64_t k, int64_t m, int64_t n)
{
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, type, k, m);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, k, n);
    struct ggml_tensor *node = ggml_mul_mat(ctx, a, b);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    const int64_t step = m * n / 50000 + 1;
    float *result;

    assert_true(ggml_nbytes(a) > SHOWN || ggml_nbytes(b) > SHOWN ||
                ggml_nbytes(node) > SHOWN);
    fill(a, 0);
    fill(b, 1);
    result = one_node_compute(backend, ctx, node);
    for (int64_t i = m * n - 1; i >= 0; i -= step)
        if (result[i] != expected(k, i % m, i / m))
            fail_msg("%d rows, %d columns: row %d, column %d: %g, not %g",
                     (int)m, (int)n, (int)(i % m), (int)(i / m), result[i],
                     expected(k, i % m, i / m));
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
weights_are_cut_by_rows(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F16, 256, 5000, 3);
    check_product(GGML_TYPE_F16, 256, 5000, 9);
}

static void
columns_are_cut(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F32, 512, 5, 1300);
}

static void
results_are_cut(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F32, 32, 1100, 600);
}

/* An id of each token, and one that is no expert's. */
static void
check_experts(int64_t n_tokens)
{
    const int64_t k = 256, m = 128, n_experts = 35, used = 2;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, k, m, n_experts);
    struct ggml_tensor *b =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, k, 1, n_tokens);
    struct ggml_tensor *ids =
        ggml_new_tensor_2d(ctx, GGML_TYPE_I32, used, n_tokens);
    struct ggml_tensor *node = ggml_mul_mat_id(ctx, a, b, ids);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    int32_t *const chosen = malloc(ggml_nbytes(ids));
    float *result;

    assert_non_null(chosen);
    assert_true(ggml_nbytes(a) > SHOWN);
    for (int64_t i = 0; i < used * n_tokens; i++)
        chosen[i] =
            i == 3 ? -1 : (int32_t)((n_experts - 1 + 11 * i) % n_experts);
    fill(a, 0);
    fill(b, 1);
    ggml_backend_tensor_set(ids, chosen, 0, ggml_nbytes(ids));
    result = one_node_compute(backend, ctx, node);
    for (int64_t i = m * used * n_tokens - 1; i >= 0; i -= 3) {
        const int64_t pair = i / m;
        const float wanted = chosen[pair] < 0
                                 ? 0.0f
                                 : expected(k, chosen[pair] * m + i % m,
                                            pair / used);

        if (result[i] != wanted)
            fail_msg("%d tokens: pair %d, row %d: %g, not %g", (int)n_tokens,
                     (int)pair, (int)(i % m), result[i], wanted);
    }
    free(result);
    free(chosen);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
experts_are_cut(void **state)
{
    (void)state;
    check_experts(3);  /* pairs one by one */
    check_experts(90); /* sorted */
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_cut_by_rows),
        cmocka_unit_test(columns_are_cut),
        cmocka_unit_test(results_are_cut),
        cmocka_unit_test(experts_are_cut),
    };
    int failed;

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; cut.sh brings one");
        return 0;
    }
    backend = ggml_backend_dev_init(device, NULL);
    if (backend == NULL)
        return 1;
    failed = cmocka_run_group_tests_name("cut products on Vulkan", tests, NULL,
                                         NULL);
    ggml_backend_free(backend);
    return failed;
}
