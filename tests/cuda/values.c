/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/values.c - results that are known exactly: what the limits of
 * ggmlbackend-conformance are too wide for, and values that it does not draw.
 */
#include "config.h"

#include "tests/cuda/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- activations ---- */

/*
 * Weights of q8_0 that are the identity give the activations as they were
 * rounded: each block to multiples of its largest value / 127.
 */
static void
multiply_by_the_identity(void)
{
    enum { N = 96 };
    static float identity[N * N], x[N], y[N];
    static char weights[N * N * 2];
    struct scene scene = scene_begin();
    struct ggml_tensor *a = ggml_new_tensor_2d(scene.ctx, GGML_TYPE_Q8_0, N, N);
    struct ggml_tensor *b = ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *node = ggml_mul_mat(scene.ctx, a, b);

    for (int i = 0; i < N; i++) {
        identity[i * N + i] = 127.0f; /* a scale of 1 exactly */
        x[i] = sinf((float)(i * i + 1)) * (float)(1 + i / 32);
    }
    ggml_quantize_chunk(GGML_TYPE_Q8_0, identity, weights, 0, N, N, NULL);
    scene_place(&scene);
    scene_set(a, weights);
    scene_set(b, x);
    scene_compute(&scene, node, y);
    for (int block = 0; block < N; block += 32) {
        float largest = 0.0f;

        for (int i = block; i < block + 32; i++)
            largest = fmaxf(largest, fabsf(x[i]));
        for (int i = block; i < block + 32; i++)
            CHECK(fabsf(y[i] / 127.0f - x[i]) <= largest / 127.0f * 0.501f);
    }
    scene_end(&scene);
}

static void
activations_are_rounded_to_the_nearest_code(void **state)
{
    (void)state;
    cuda_case(multiply_by_the_identity, "GGMLBACKEND_GPU_VARIANT=plain", NULL);
    cuda_case(multiply_by_the_identity, "", NULL);
}

/* ---- numbers of rows ---- */

enum { N_ROWS = 5, N_IDS = 6 };

static const int32_t ids[N_IDS] = { 4, -1, 0, N_ROWS, INT32_MIN, INT32_MAX };

/* Element I of row ROW of 64; the rows of blocks have one scale each. */
static float
row_value(int64_t row, int i)
{
    return (float)((row + 1) * (i % 2 == 0 ? 127 : -64));
}

static void
get_rows_of(enum ggml_type type)
{
    static float values[N_ROWS * 64], result[N_IDS * 64];
    static char data[sizeof(values)];
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(scene.ctx, type, 64, N_ROWS);
    struct ggml_tensor *numbers =
        ggml_new_tensor_1d(scene.ctx, GGML_TYPE_I32, N_IDS);
    struct ggml_tensor *node = ggml_get_rows(scene.ctx, a, numbers);

    for (int i = 0; i < N_ROWS * 64; i++)
        values[i] = row_value(i / 64, i % 64);
    memcpy(data, values, sizeof(data));
    if (ggml_is_quantized(type))
        ggml_quantize_chunk(type, values, data, 0, N_ROWS, 64, NULL);
    scene_place(&scene);
    scene_set(a, data);
    scene_set(numbers, ids);
    scene_compute(&scene, node, result);
    for (int i = 0; i < N_IDS * 64; i++) {
        const int32_t row = ids[i / 64];
        const bool is_row = row >= 0 && row < N_ROWS;

        CHECK(result[i] == (is_row ? row_value(row, i % 64) : 0.0f));
    }
    scene_end(&scene);
}

/* With a norm of the rows and weights behind it, of rows for a warp and for a
 * thread block: of a row of plus and minus one value it makes ones. */
static void
norm_rows_of(int n)
{
    float *values = calloc((size_t)n * N_ROWS, sizeof(*values));
    float *result = calloc((size_t)n * N_IDS, sizeof(*result));
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F32, n, N_ROWS);
    struct ggml_tensor *numbers =
        ggml_new_tensor_1d(scene.ctx, GGML_TYPE_I32, N_IDS);
    struct ggml_tensor *weights =
        ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, n);
    struct ggml_tensor *node = ggml_get_rows(scene.ctx, a, numbers);

    CHECK(values != NULL && result != NULL);
    node = ggml_mul(scene.ctx, ggml_rms_norm(scene.ctx, node, 1e-12f), weights);
    scene_place(&scene);
    for (int i = 0; i < n; i++)
        values[i] = (float)(i + 1);
    scene_set(weights, values);
    for (int i = 0; i < n * N_ROWS; i++)
        values[i] = ((i % n * 7 + i / n) % 3 == 0 ? -1.0f : 1.0f) *
                    (float)(1 << i / n);
    scene_set(a, values);
    scene_set(numbers, ids);
    scene_compute(&scene, node, result);
    for (int i = 0; i < n * N_IDS; i++) {
        const int32_t row = ids[i / n];
        const float w = (float)(i % n + 1);
        const float x = row >= 0 && row < N_ROWS
                            ? values[row * n + i % n] / (float)(1 << row)
                            : 0.0f;

        CHECK(fabsf(result[i] - x * w) <= 1e-6f * w);
    }
    scene_end(&scene);
    free(values);
    free(result);
}

static void
norm_rows_that_are_none(void)
{
    norm_rows_of(64);
    norm_rows_of(1025);
}

static void
get_rows_that_are_none(void)
{
    get_rows_of(GGML_TYPE_F32);
    get_rows_of(GGML_TYPE_Q8_0);
}

/* Numbers that lie apart, some of which are no rows'. */
static void
add_to_rows(void)
{
    enum { N = 3 };
    static float gradients[N_IDS * N], result[N_ROWS * N];
    int32_t apart[2 * N_IDS];
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F32, N, N_IDS);
    struct ggml_tensor *whole =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_I32, 2, N_IDS);
    struct ggml_tensor *numbers = ggml_transpose(
        scene.ctx, ggml_view_2d(scene.ctx, whole, 1, N_IDS, whole->nb[1], 0));
    struct ggml_tensor *node = ggml_get_rows_back(
        scene.ctx, a, numbers,
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F32, N, N_ROWS));

    for (int i = 0; i < N_IDS * N; i++)
        gradients[i] = (float)(i + 1);
    for (int i = 0; i < N_IDS; i++) {
        apart[2 * i] = i == 3 ? 4 : ids[i];
        apart[2 * i + 1] = 1;
    }
    CHECK(ggml_backend_supports_op(scene.backend, node));
    scene_place(&scene);
    scene_set(a, gradients);
    scene_set(whole, apart);
    scene_compute(&scene, node, result);
    for (int row = 0; row < N_ROWS; row++)
        for (int i = 0; i < N; i++) {
            float sum = 0.0f;

            for (int j = 0; j < N_IDS; j++)
                if (apart[2 * j] == row)
                    sum += gradients[j * N + i];
            CHECK(result[row * N + i] == sum);
        }
    scene_end(&scene);
}

static void
numbers_that_are_no_rows_give_zeros(void **state)
{
    (void)state;
    cuda_case(get_rows_that_are_none, "", NULL);
    cuda_case(norm_rows_that_are_none, "", NULL);
    cuda_case(norm_rows_that_are_none, "GGMLBACKEND_GPU_FUSE=off", NULL);
    cuda_case(add_to_rows, "", NULL);
}

/* ---- infinities ---- */

/* Two classes of the same logit, and others that cannot be: a loss of log 2,
 * whether a label says nothing about the others or a block has the row. */
static void
lose_nothing_for_what_cannot_be(void)
{
    static const int64_t lengths[] = { 4, 700 };
    static float logits[700], labels[700];

    for (int l = 0; l < 2; l++) {
        const int64_t n = lengths[l];
        struct scene scene = scene_begin();
        struct ggml_tensor *a =
            ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, n);
        struct ggml_tensor *b =
            ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, n);
        struct ggml_tensor *node =
            ggml_cross_entropy_loss(scene.ctx, a, b);
        float loss = 0.0f;

        for (int64_t i = 0; i < n; i++) {
            logits[i] = i < 2 ? 3.0f : -INFINITY;
            labels[i] = i == 1 ? 1.0f : 0.0f;
        }
        scene_place(&scene);
        scene_set(a, logits);
        scene_set(b, labels);
        scene_compute(&scene, node, &loss);
        CHECK(fabsf(loss - 0.693147181f) < 1e-6f);
        scene_end(&scene);
    }
}

static void
a_label_of_0_makes_an_infinite_logit_nothing(void **state)
{
    (void)state;
    cuda_case(lose_nothing_for_what_cannot_be, "", NULL);
}

/* ---- forms ---- */

/* Rows of a mask for all queries, and numbers for all keys. */
static void
ask_about_masks(void)
{
    struct scene scene = scene_begin();
    struct ggml_tensor *q =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, 64, 7, 2);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F16, 64, 9, 2);
    struct ggml_tensor *mask = ggml_new_tensor_2d(
        scene.ctx, GGML_TYPE_F16, 9, GGML_PAD(7, GGML_KQ_MASK_PAD));
    struct ggml_tensor *node =
        ggml_flash_attn_ext(scene.ctx, q, k, k, mask, 1.0f, 0.0f, 0.0f);

    CHECK(ggml_backend_supports_op(scene.backend, node));
    mask->ne[1] = 7;
    CHECK(ggml_backend_supports_op(scene.backend, node));
    mask->ne[1] = 6;
    CHECK(!ggml_backend_supports_op(scene.backend, node));
    mask->ne[1] = 7;
    mask->ne[0] = 8;
    CHECK(!ggml_backend_supports_op(scene.backend, node));
    scene_end(&scene);
}

static void
a_mask_that_is_too_small_is_refused(void **state)
{
    (void)state;
    cuda_case(ask_about_masks, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(activations_are_rounded_to_the_nearest_code),
        cmocka_unit_test(numbers_that_are_no_rows_give_zeros),
        cmocka_unit_test(a_label_of_0_makes_an_infinite_logit_nothing),
        cmocka_unit_test(a_mask_that_is_too_small_is_refused),
    };

    return cmocka_run_group_tests_name("exact values", tests, NULL, NULL);
}
