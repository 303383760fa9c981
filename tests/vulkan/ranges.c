/* SPDX-License-Identifier: MIT */
/*
 * tests/vulkan/ranges.c - products and attention on Vulkan0 with values that F16
 * does not have: larger than 65,504, or so small that F16 has few digits of them.
 *
 * ranges.sh runs it on lavapipe; with the argument "tiles" it is products of all
 * types instead, or of those named behind it, so large that a device has its largest
 * tiles for them, or with "many" so many tiles that they are of 64 by 64 elements; with
 * "dots" it is products by dot products of bytes.  Results are
 * compared with sums in double precision of what the types hold; each may be as wrong as
 * if both values of each product had been rounded to the 11 digits of F16, or with "dots"
 * as if each column's value had been rounded to a 127th of the largest of 32.
 */
#include "config.h"

#include "tests/vulkan/one-node.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* What is lost of a product, of the sum of their absolute values: 2^-11 by each of
 * two values, and something by a sum in F32. */
#define LOST (2.2 / 2048)

#define DOT_BLOCK 32

static ggml_backend_t backend;
static bool by_bytes; /* are columns rounded to bytes? */

/* ---- values ---- */

/* -1 to 1, none near 0. */
static float
value_of(int which, int64_t i)
{
    const uint64_t bits = (uint64_t)(i * 2 + which) * 0x9e3779b97f4a7c15u;
    const float value = 0.25f + 0.75f * (float)(bits >> 41) / 8388608.0f;

    return (bits >> 40 & 1) != 0 ? value : -value;
}

/* Powers of ten of successive rows. */
struct powers {
    const char *name;
    float of[4];
};

/* T's values as it holds them; row I has those of POWERS. */
static float *
fill(struct ggml_tensor *t, int which, const struct powers *powers)
{
    const int64_t k = t->ne[0], n = ggml_nelements(t);
    float *const values = malloc((size_t)n * sizeof(float));
    char *const data = malloc(ggml_nbytes(t));

    assert_non_null(values);
    assert_non_null(data);
    for (int64_t i = 0; i < n; i++)
        values[i] = value_of(which, i) * powers->of[i / k % 4];
    if (t->type == GGML_TYPE_F32) {
        memcpy(data, values, ggml_nbytes(t));
    } else {
        ggml_quantize_chunk(t->type, values, data, 0, n / k, k, NULL);
        ggml_get_type_traits(t->type)->to_float(data, values, n);
    }
    ggml_backend_tensor_set(t, data, 0, ggml_nbytes(t));
    free(data);
    return values;
}

/* ---- products ---- */

/* How wrong the sum of K products may be, ALL being that of their magnitudes. */
static double
lost_of(int64_t k, const float *a, const float *b, double all)
{
    double lost = 0.0;

    if (!by_bytes)
        return LOST * all;
    for (int64_t i = 0; i < k; i += DOT_BLOCK) {
        double most = 0.0, weights = 0.0;

        for (int64_t j = i; j < i + DOT_BLOCK; j++) {
            most = fabs((double)b[j]) > most ? fabs((double)b[j]) : most;
            weights += fabs((double)a[j]);
        }
        lost += weights * most / 254.0;
    }
    return 1.001 * lost + all / 65536.0;
}

/* Is RESULT the product of K values of A and B? */
static void
check_sum(const char *what, int64_t row, int64_t col, float result, int64_t k,
          const float *a, const float *b)
{
    double sum = 0.0, all = 0.0;

    for (int64_t i = 0; i < k; i++) {
        sum += (double)a[i] * b[i];
        all += fabs((double)a[i] * b[i]);
    }
    if (!(fabs(result - sum) <= lost_of(k, a, b, all)))
        fail_msg("%s: row %d, column %d: %g, not %g", what, (int)row, (int)col,
                 result, sum);
}

static const struct powers models = { "as models have", { 1, 0.05f, 2, 0.3f } };
static const struct powers large = { "1e6", { 1e6f, 1e6f, 1e6f, 1e6f } };
static const struct powers small = { "1e-6", { 1e-6f, 1e-6f, 1e-6f, 1e-6f } };
static const struct powers mixed = { "all", { 1e6f, 1, 1e-6f, 0 } };
static const struct powers extreme = { "1e18", { 1e18f, 1, 1e-18f, 1e9f } };

static void
check_product(enum ggml_type type, int64_t k, const struct powers *of_a,
              const struct powers *of_b)
{
    const int64_t m = 70, n = 37;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, type, k, m);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, k, n);
    struct ggml_tensor *node = ggml_mul_mat(ctx, a, b);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    float *of[2] = { fill(a, 0, of_a), fill(b, 1, of_b) };
    float *result = one_node_compute(backend, ctx, node);
    char what[80];

    snprintf(what, sizeof(what), "%s, weights of %s, columns of %s",
             ggml_type_name(type), of_a->name, of_b->name);
    for (int64_t i = 0; i < m * n; i++)
        check_sum(what, i % m, i / m, result[i], k, of[0] + i % m * k,
                  of[1] + i / m * k);
    free(of[0]);
    free(of[1]);
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
columns_are_large_and_small(void **state)
{
    (void)state;
    check_product(GGML_TYPE_F16, 96, &models, &models);
    check_product(GGML_TYPE_F16, 100, &models, &large);
    check_product(GGML_TYPE_F16, 96, &models, &small);
    check_product(GGML_TYPE_F16, 2100, &models, &mixed);
    check_product(GGML_TYPE_Q8_0, 96, &models, &extreme);
}

static void
weights_are_large_and_small(void **state)
{
    (void)state;
    check_product(GGML_TYPE_BF16, 96, &large, &models);
    check_product(GGML_TYPE_BF16, 96, &small, &small);
    check_product(GGML_TYPE_BF16, 96, &mixed, &extreme);
    check_product(GGML_TYPE_Q8_0, 96, &large, &large);
    check_product(GGML_TYPE_F32, 96, &mixed, &extreme);
}

/* Results of the other columns are what they were. */
static void
check_beside(enum ggml_type type, float strange)
{
    const int64_t k = 64, m = 33, n = 20;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a = ggml_new_tensor_2d(ctx, type, k, m);
    struct ggml_tensor *b = ggml_new_tensor_2d(ctx, GGML_TYPE_F32, k, n);
    struct ggml_tensor *node = ggml_mul_mat(ctx, a, b);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    float *of[2] = { fill(a, 0, &models), fill(b, 1, &models) };
    float *result;

    ggml_backend_tensor_set(b, &strange, (size_t)(3 * k + 5) * sizeof(float),
                            sizeof(float));
    result = one_node_compute(backend, ctx, node);
    for (int64_t i = 0; i < m * n; i++)
        if (i / m == 3 && isinf(strange) && by_bytes)
            assert_true(result[i] == of[0][i % m * k + 5] * strange);
        else if (i / m == 3)
            assert_false(isfinite(result[i]));
        else
            check_sum("beside one that is not finite", i % m, i / m, result[i], k,
                      of[0] + i % m * k, of[1] + i / m * k);
    free(of[0]);
    free(of[1]);
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
an_infinite_value_stays_in_its_column(void **state)
{
    (void)state;
    check_beside(by_bytes ? GGML_TYPE_Q8_0 : GGML_TYPE_F16, INFINITY);
}

static void
experts_meet_large_and_small_columns(void **state)
{
    const int64_t k = 64, m = 40, n_experts = 3, used = 2, n_tokens = 50;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a =
        ggml_new_tensor_3d(ctx, GGML_TYPE_Q8_0, k, m, n_experts);
    struct ggml_tensor *b =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, k, 1, n_tokens);
    struct ggml_tensor *ids =
        ggml_new_tensor_2d(ctx, GGML_TYPE_I32, used, n_tokens);
    struct ggml_tensor *node = ggml_mul_mat_id(ctx, a, b, ids);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    float *of[2] = { fill(a, 0, &models), fill(b, 1, &mixed) };
    int32_t chosen[100];
    float *result;

    (void)state;
    for (int i = 0; i < 100; i++)
        chosen[i] = (i * 7 + i / 3) % (int)n_experts;
    ggml_backend_tensor_set(ids, chosen, 0, sizeof(chosen));
    result = one_node_compute(backend, ctx, node);
    for (int64_t i = 0; i < m * used * n_tokens; i++)
        check_sum("experts", i % m, i / m, result[i], k,
                  of[0] + (chosen[i / m] * m + i % m) * k,
                  of[1] + i / m / used * k);
    free(of[0]);
    free(of[1]);
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

/* ---- tiles ---- */

/* T's matrices, all alike; the values of one. */
static float *
fill_alike(struct ggml_tensor *t)
{
    const int64_t k = t->ne[0], m = t->ne[1];
    float *const values = malloc((size_t)(k * m) * sizeof(float));
    float *const importance = malloc((size_t)k * sizeof(float));
    char *const data = malloc(t->nb[2]);

    assert_non_null(values);
    assert_non_null(importance);
    assert_non_null(data);
    for (int64_t i = 0; i < k; i++)
        importance[i] = 1.0f;
    for (int64_t i = 0; i < k * m; i++)
        values[i] = value_of(0, i);
    ggml_quantize_chunk(t->type, values, data, 0, m, k, importance);
    if (t->type != GGML_TYPE_F32)
        ggml_get_type_traits(t->type)->to_float(data, values, k * m);
    for (int64_t i = 0; i < t->ne[2]; i++)
        ggml_backend_tensor_set(t, data, (size_t)i * t->nb[2], t->nb[2]);
    free(importance);
    free(data);
    return values;
}

/* Tiles that are full, and that are not; every 17th element is looked at. */
static void
check_matrices(enum ggml_type type, int64_t m, int64_t n, int64_t matrices)
{
    const int64_t k = 256;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *a = ggml_new_tensor_3d(ctx, type, k, m, matrices);
    struct ggml_tensor *b =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F32, k, n, matrices);
    struct ggml_tensor *node = ggml_mul_mat(ctx, a, b);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    float *of[2] = { fill_alike(a), fill(b, 1, &models) };
    float *result = one_node_compute(backend, ctx, node);

    for (int64_t i = m * n * matrices - 1; i >= 0; i -= 17)
        check_sum(ggml_type_name(type), i % m, i / m, result[i], k,
                  of[0] + i % m * k, of[1] + i / m * k);
    free(of[0]);
    free(of[1]);
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static char **wanted; /* names, and the end of them; none: all */

static bool
is_wanted(const char *name)
{
    char **item = wanted;

    while (*item != NULL && strcmp(*item, name) != 0)
        item++;
    return *item != NULL || *wanted == NULL;
}

static void
check_tiles(bool is_huge)
{
    for (int i = 0; i < GGML_TYPE_COUNT; i++) {
        const enum ggml_type type = (enum ggml_type)i;

        if (is_wanted(ggml_type_name(type)) && type != GGML_TYPE_Q8_1 &&
            type != GGML_TYPE_Q8_K &&
            (type == GGML_TYPE_F32
                 ? !is_huge
                 : ggml_get_type_traits(type)->to_float != NULL))
            check_matrices(type, is_huge ? 200 : 17, is_huge ? 140 : 17,
                           is_huge ? 16 : 64);
    }
}

static void
tiles_are_large(void **state)
{
    (void)state;
    check_tiles(true);
}

/* As many as devices without cooperative matrices ask for. */
static void
tiles_are_many(void **state)
{
    (void)state;
    check_tiles(false);
}

/* ---- dot products of bytes ---- */

static const enum ggml_type dots[] = {
    GGML_TYPE_Q4_0, GGML_TYPE_Q4_1, GGML_TYPE_Q5_0, GGML_TYPE_Q5_1,
    GGML_TYPE_Q8_0, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K, GGML_TYPE_Q4_K,
    GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL, GGML_TYPE_IQ4_XS,
};

/* Tiles of both sizes of each type: of few columns, and of many matrices. */
static void
dots_are_right(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(dots) / sizeof(dots[0]); i++) {
        check_product(dots[i], 512, &models, &models);
        check_matrices(dots[i], 70, 20, 64);
    }
}

static void
dots_meet_large_and_small_columns(void **state)
{
    (void)state;
    check_product(GGML_TYPE_Q4_K, 256, &models, &large);
    check_product(GGML_TYPE_Q4_K, 4096, &models, &mixed);
    check_product(GGML_TYPE_Q8_0, 96, &models, &small);
    check_product(GGML_TYPE_Q8_0, 96, &large, &extreme);
    check_product(GGML_TYPE_Q2_K, 256, &small, &extreme);
}

static void
what_is_no_number_stays_in_its_column(void **state)
{
    (void)state;
    check_beside(GGML_TYPE_Q4_1, NAN);
    check_beside(GGML_TYPE_Q4_0, -INFINITY);
}

/* ---- attention ---- */

/* Element E of the result of query R, and how wrong its scores may be. */
static double
attend(const float *q, const float *keys, const float *values, int64_t d,
       int64_t n_keys, double scale, int64_t e, double *wrong)
{
    double most = -INFINITY, sum = 0.0, result = 0.0, all = 0.0;
    double score[100];

    *wrong = 0.0;
    for (int64_t i = 0; i < n_keys; i++) {
        double abs = 0.0;

        score[i] = 0.0;
        for (int64_t j = 0; j < d; j++) {
            score[i] += scale * q[j] * keys[i * d + j];
            abs += fabs(scale * q[j] * keys[i * d + j]);
        }
        most = score[i] > most ? score[i] : most;
        *wrong = abs * LOST > *wrong ? abs * LOST : *wrong;
    }
    for (int64_t i = 0; i < n_keys; i++) {
        const double by = exp(score[i] - most);

        sum += by;
        result += by * values[i * d + e];
        all += by * fabs(values[i * d + e]);
    }
    *wrong = (2.0 * *wrong + LOST) * all / sum;
    return result / sum;
}

static void
check_attention(const struct powers *of_q, const struct powers *of_k,
                const struct powers *of_v, float scale)
{
    const int64_t d = 72, n = 19, n_keys = 100;
    struct ggml_context *ctx = one_node_context();
    struct ggml_tensor *q = ggml_new_tensor_3d(ctx, GGML_TYPE_F32, d, n, 1);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, d, n_keys, 1);
    struct ggml_tensor *v =
        ggml_new_tensor_3d(ctx, GGML_TYPE_F16, d, n_keys, 1);
    struct ggml_tensor *node =
        ggml_flash_attn_ext(ctx, q, k, v, NULL, scale, 0.0f, 0.0f);
    ggml_backend_buffer_t buffer = one_node_place(backend, ctx, node);
    float *of[3] = { fill(q, 0, of_q), fill(k, 1, of_k), fill(v, 2, of_v) };
    float *result = one_node_compute(backend, ctx, node);

    for (int64_t i = 0; i < n * d; i++) {
        double wrong;
        const double wanted = attend(of[0] + i / d * d, of[1], of[2], d, n_keys,
                                     scale, i % d, &wrong);

        if (!(fabs(result[i] - wanted) <= wrong))
            fail_msg("queries of %s, keys of %s: query %d, element %d: %g, "
                     "not %g (by %g)", of_q->name, of_k->name, (int)(i / d),
                     (int)(i % d), result[i], wanted, wrong);
    }
    for (int i = 0; i < 3; i++)
        free(of[i]);
    free(result);
    ggml_backend_buffer_free(buffer);
    ggml_free(ctx);
}

static void
queries_are_large_and_small(void **state)
{
    /* Scores that rise, so that sums have to follow a maximum. */
    static const struct powers rising = { "rising", { 0.1f, 1, 6, 30 } };
    static const struct powers wide = { "wide", { 6e4f, 1, 1e-3f, 0 } };

    (void)state;
    check_attention(&models, &models, &models, 0.125f);
    check_attention(&models, &rising, &models, 0.125f);
    check_attention(&large, &models, &wide, 1e-7f);
    check_attention(&small, &models, &models, 1e6f);
    check_attention(&mixed, &models, &models, 1e-6f);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_large_and_small),
        cmocka_unit_test(weights_are_large_and_small),
        cmocka_unit_test(an_infinite_value_stays_in_its_column),
        cmocka_unit_test(experts_meet_large_and_small_columns),
        cmocka_unit_test(queries_are_large_and_small),
    };
    static const struct CMUnitTest large_tiles[] = {
        cmocka_unit_test(tiles_are_large),
    };
    static const struct CMUnitTest many_tiles[] = {
        cmocka_unit_test(tiles_are_many),
    };
    static const struct CMUnitTest by_dots[] = {
        cmocka_unit_test(dots_are_right),
        cmocka_unit_test(dots_meet_large_and_small_columns),
        cmocka_unit_test(an_infinite_value_stays_in_its_column),
        cmocka_unit_test(what_is_no_number_stays_in_its_column),
        cmocka_unit_test(experts_meet_large_and_small_columns),
    };
    ggml_backend_dev_t device;
    int failed;

    ggml_backend_load_all();
    device = ggml_backend_dev_by_name("Vulkan0");
    if (device == NULL) {
        puts("1..0 # SKIP there is no device of Vulkan; ranges.sh brings one");
        return 0;
    }
    backend = ggml_backend_dev_init(device, NULL);
    if (backend == NULL)
        return 1;
    wanted = argv + (argc > 1 ? 2 : 1);
    by_bytes = argc > 1 && strcmp(argv[1], "dots") == 0;
    if (by_bytes)
        failed = cmocka_run_group_tests_name("dots on Vulkan", by_dots, NULL,
                                             NULL);
    else if (argc > 1 && strcmp(argv[1], "many") == 0)
        failed = cmocka_run_group_tests_name("many tiles on Vulkan", many_tiles,
                                             NULL, NULL);
    else if (argc > 1 && strcmp(argv[1], "tiles") == 0)
        failed = cmocka_run_group_tests_name("tiles on Vulkan", large_tiles,
                                             NULL, NULL);
    else
        failed = cmocka_run_group_tests_name("ranges on Vulkan", tests, NULL,
                                             NULL);
    ggml_backend_free(backend);
    return failed;
}
