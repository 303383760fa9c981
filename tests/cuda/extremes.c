/* SPDX-License-Identifier: MIT */
/*
 * tests/cuda/extremes.c - values at the ends of what numbers are: infinities,
 * zeros, angles of any size, masks that hide everything, indices that are none.
 */
#include "config.h"

#include "tests/cuda/scene.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* ---- functions ---- */

typedef struct ggml_tensor *(*function_fn)(
    struct ggml_context *ctx, struct ggml_tensor *x);

static void
apply(function_fn function, const float *x, float *y, int n)
{
    struct scene scene = scene_begin();
    struct ggml_tensor *a = ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, n);
    struct ggml_tensor *node = function(scene.ctx, a);

    scene_place(&scene);
    scene_set(a, x);
    scene_compute(&scene, node, y);
    scene_end(&scene);
}

static void
turn_far(void)
{
    static const float x[] = { 1e5f,   -1e5f,    1e10f, -3e38f, 123456789.0f,
                               0x1p31f, 0x1p64f, 0x1p100f, 0x1.fffffep127f };
    enum { N = sizeof(x) / sizeof(x[0]) };
    float y[N];

    apply(ggml_sin, x, y, N);
    for (int i = 0; i < N; i++)
        CHECK(fabs((double)y[i] - sin((double)x[i])) < 1e-6);
    apply(ggml_cos, x, y, N);
    for (int i = 0; i < N; i++)
        CHECK(fabs((double)y[i] - cos((double)x[i])) < 1e-6);
}

static void
take_logarithms(void)
{
    static const float x[] = { 1.0f, 0x1p-126f, 0x1p-140f, 3e38f,
                               INFINITY, 0.0f, -1.0f };
    float y[7];

    apply(ggml_log, x, y, 7);
    for (int i = 0; i < 4; i++)
        CHECK(fabs((double)y[i] - log((double)x[i])) <
              1e-6 * (1 + fabs(log((double)x[i]))));
    CHECK(y[4] == INFINITY && y[5] == -INFINITY && isnan(y[6]));
}

static void
functions_are_right_at_their_ends(void **state)
{
    (void)state;
    cuda_case(turn_far, "", NULL);
    cuda_case(take_logarithms, "", NULL);
}

static void
convert_what_is_no_number(void)
{
    static const float x[] = { INFINITY, -INFINITY, 1.0f, 0.0f };
    const uint32_t nan_bits = 0x7f800001; /* whose upper half is infinity's */
    struct scene scene = scene_begin();
    struct ggml_tensor *a = ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, 5);
    struct ggml_tensor *b = ggml_new_tensor_1d(scene.ctx, GGML_TYPE_BF16, 5);
    struct ggml_tensor *node = ggml_cpy(scene.ctx, a, b);
    float values[5];
    ggml_bf16_t got[5];

    memcpy(values, x, sizeof(x));
    memcpy(&values[4], &nan_bits, sizeof(nan_bits));
    scene_place(&scene);
    scene_set(a, values);
    scene_compute(&scene, node, got);
    for (int i = 0; i < 4; i++)
        CHECK(ggml_bf16_to_fp32(got[i]) == x[i]);
    CHECK(isnan(ggml_bf16_to_fp32(got[4])));
    scene_end(&scene);
}

static void
a_nan_stays_one(void **state)
{
    (void)state;
    cuda_case(convert_what_is_no_number, "", NULL);
}

/* ---- blocks ---- */

/* Values that are all 0, and a single one, come back from every type. */
static void
quantize_one_value(enum ggml_type type, float value)
{
    enum { N = 512 };
    float x[N] = { 0.0f }, y[N];
    char data[N * 4];
    struct scene scene = scene_begin();
    struct ggml_tensor *a = ggml_new_tensor_1d(scene.ctx, GGML_TYPE_F32, N);
    struct ggml_tensor *b = ggml_new_tensor_1d(scene.ctx, type, N);
    struct ggml_tensor *node = ggml_cpy(scene.ctx, a, b);

    if (ggml_backend_supports_op(scene.backend, node)) {
        x[256] = value;
        scene_place(&scene);
        scene_set(a, x);
        scene_compute(&scene, node, data);
        ggml_get_type_traits(type)->to_float(data, y, N);
        for (int i = 0; i < N; i++)
            CHECK(fabsf(y[i] - x[i]) <= fabsf(value) * 0.35f);
    }
    scene_end(&scene);
}

static void
quantize_zeros(void)
{
    for (int type = 0; type < GGML_TYPE_COUNT; type++) {
        if (!ggml_is_quantized((enum ggml_type)type) ||
            ggml_get_type_traits((enum ggml_type)type)->to_float == NULL)
            continue;
        quantize_one_value((enum ggml_type)type, 0.0f);
        quantize_one_value((enum ggml_type)type, -3.0f);
        quantize_one_value((enum ggml_type)type, 5.0f);
    }
}

static void
zeros_stay_zeros_in_every_type(void **state)
{
    (void)state;
    cuda_case(quantize_zeros, "", NULL);
}

/* ---- masks ---- */

/*
 * All values are the same, and so is what attention gives of them, but where
 * the mask hides every key: 0 there.  Rows see only keys far behind, so that
 * whole pieces of the keys are hidden from all.
 */
static void
hide_keys(enum ggml_type type, int n_queries, int n_keys)
{
    enum { D = 64, FIRST = 200 };
    const int n_rows = GGML_PAD(n_queries, GGML_KQ_MASK_PAD);
    struct scene scene = scene_begin();
    struct ggml_tensor *q =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, D, n_queries, 1);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(scene.ctx, type, D, n_keys, 1);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F16, n_keys, n_rows);
    struct ggml_tensor *node =
        ggml_flash_attn_ext(scene.ctx, q, k, k, mask, 0.125f, 0.0f, 0.0f);
    ggml_fp16_t *hidden = calloc((size_t)(n_rows * n_keys), sizeof(*hidden));
    float *values = malloc((size_t)(D * n_keys) * sizeof(*values));
    float *queries = calloc((size_t)(D * n_queries), sizeof(*queries));
    float *result = malloc((size_t)(D * n_queries) * sizeof(*result));

    CHECK(hidden != NULL && values != NULL && queries != NULL &&
          result != NULL);
    for (int i = 0; i < D * n_queries; i++)
        queries[i] = 2.5f;
    for (int i = 0; i < D * n_keys; i++)
        if (type == GGML_TYPE_F16)
            ((ggml_fp16_t *)values)[i] = ggml_fp32_to_fp16(2.5f);
        else
            values[i] = 2.5f;
    for (int row = 0; row < n_queries; row++)
        for (int key = 0; key < n_keys; key++)
            if (key < FIRST + row || row % 3 == 1)
                hidden[row * n_keys + key] = ggml_fp32_to_fp16(-INFINITY);
    scene_place(&scene);
    scene_set(q, queries);
    scene_set(k, values);
    scene_set(mask, hidden);
    scene_compute(&scene, node, result);
    for (int i = 0; i < D * n_queries; i++) {
        const float expected = i / D % 3 == 1 ? 0.0f : 2.5f;

        CHECK(fabsf(result[i] - expected) <= 1e-6f);
    }
    free(hidden);
    free(values);
    free(queries);
    free(result);
    scene_end(&scene);
}

static void
hide_keys_of_few_and_many(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16 };
    static const int queries[] = { 1, 5, 12, 40, 90 };

    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 5; j++) {
            hide_keys(types[i], queries[j], 300);
            hide_keys(types[i], queries[j], 304); /* pieces of 16 bytes */
        }
}

/* ---- values of different sizes ---- */

/*
 * Of each 64 keys the values are another power of two, far larger or smaller
 * than others.  All scores are 0, and rows see one of these pieces or all.
 */
static void
mix_sizes(void)
{
    enum { D = 40, PIECE = 64, N = 4, N_KEYS = N * PIECE, ROWS = 20 };
    static const float sizes[N] = { 0x1p-10f, 0x1p+20f, 1.0f, 0x1p+5f };
    const int n_rows = GGML_PAD(ROWS, GGML_KQ_MASK_PAD);
    struct scene scene = scene_begin();
    struct ggml_tensor *q =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, D, ROWS, 1);
    struct ggml_tensor *k =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_BF16, D, N_KEYS, 1);
    struct ggml_tensor *v =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_BF16, D, N_KEYS, 1);
    struct ggml_tensor *mask =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_F16, N_KEYS, n_rows);
    struct ggml_tensor *node =
        ggml_flash_attn_ext(scene.ctx, q, k, v, mask, 1.0f, 0.0f, 0.0f);
    ggml_fp16_t *hidden = calloc((size_t)n_rows * N_KEYS, sizeof(*hidden));
    ggml_bf16_t *values = malloc(D * N_KEYS * sizeof(*values));
    float *queries = calloc(D * ROWS, sizeof(*queries));
    float *result = malloc(D * ROWS * sizeof(*result));

    CHECK(hidden != NULL && values != NULL && queries != NULL &&
          result != NULL);
    for (int i = 0; i < D * N_KEYS; i++)
        values[i] = ggml_fp32_to_bf16(sizes[i / D / PIECE]);
    for (int row = 0; row < ROWS; row++)
        for (int key = 0; key < N_KEYS; key++)
            if (row % 5 < N && key / PIECE != row % 5)
                hidden[row * N_KEYS + key] = ggml_fp32_to_fp16(-INFINITY);
    scene_place(&scene);
    scene_set(q, queries);
    scene_set(k, values);
    scene_set(v, values);
    scene_set(mask, hidden);
    scene_compute(&scene, node, result);
    for (int i = 0; i < D * ROWS; i++) {
        const int seen = i / D % 5;
        double expected = 0;

        for (int piece = 0; piece < N; piece++)
            expected += (double)sizes[seen < N ? seen : piece] / N;
        CHECK(fabs((double)result[i] - expected) <= 1e-6 * expected);
    }
    free(hidden);
    free(values);
    free(queries);
    free(result);
    scene_end(&scene);
}

static void
values_of_any_size_count(void **state)
{
    (void)state;
    cuda_case(mix_sizes, "", NULL);
    cuda_case(mix_sizes, "EMU_SMS=132", NULL);
}

static void
what_a_mask_hides_adds_nothing(void **state)
{
    (void)state;
    cuda_case(hide_keys_of_few_and_many, "", NULL);
    cuda_case(hide_keys_of_few_and_many, "EMU_SMS=132", NULL);
}

/* ---- experts ---- */

/* Expert E's weights are all E + 1. */
static void
choose_no_expert(int n_tokens)
{
    enum { K = 64, M = 5, EXPERTS = 3 };
    struct scene scene = scene_begin();
    struct ggml_tensor *w =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, K, M, EXPERTS);
    struct ggml_tensor *x =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, K, 1, n_tokens);
    struct ggml_tensor *ids =
        ggml_new_tensor_2d(scene.ctx, GGML_TYPE_I32, 1, n_tokens);
    struct ggml_tensor *node = ggml_mul_mat_id(scene.ctx, w, x, ids);
    float *weights = malloc(ggml_nbytes(w)), *ones = malloc(ggml_nbytes(x));
    int32_t *chosen = malloc(ggml_nbytes(ids));
    float *result = malloc(ggml_nbytes(node));

    CHECK(weights != NULL && ones != NULL && chosen != NULL && result != NULL);
    for (int i = 0; i < K * M * EXPERTS; i++)
        weights[i] = (float)(1 + i / (K * M));
    for (int i = 0; i < K * n_tokens; i++)
        ones[i] = 1.0f;
    for (int i = 0; i < n_tokens; i++)
        chosen[i] = i % 5 - 1; /* -1 and 3 are none */
    scene_place(&scene);
    scene_set(w, weights);
    scene_set(x, ones);
    scene_set(ids, chosen);
    scene_compute(&scene, node, result);
    for (int i = 0; i < M * n_tokens; i++) {
        const int expert = i / M % 5 - 1;
        const bool is_one = expert >= 0 && expert < EXPERTS;

        CHECK(result[i] == (is_one ? (float)(K * (expert + 1)) : 0.0f));
    }
    free(weights);
    free(ones);
    free(chosen);
    free(result);
    scene_end(&scene);
}

static void
choose_among_few_and_many(void)
{
    choose_no_expert(2);
    choose_no_expert(7);
    choose_no_expert(64);
}

static void
an_index_that_is_no_experts_gives_zeros(void **state)
{
    (void)state;
    cuda_case(choose_among_few_and_many, "", NULL);
}

/* ---- elements of all sizes ---- */

/* Bytes of a tensor of 3 x 2 elements with one more column and row of zeros. */
static void
pad_elements_of(enum ggml_type type)
{
    const size_t size = ggml_type_size(type);
    uint8_t bytes[6 * 8], result[12 * 8], expected[12 * 8] = { 0 };
    struct scene scene = scene_begin();
    struct ggml_tensor *a = ggml_new_tensor_2d(scene.ctx, type, 3, 2);
    struct ggml_tensor *node = ggml_pad(scene.ctx, a, 1, 1, 0, 0);

    for (size_t i = 0; i < 6 * size; i++)
        bytes[i] = (uint8_t)(17 * i + 1);
    for (size_t row = 0; row < 2; row++)
        memcpy(expected + row * 4 * size, bytes + row * 3 * size, 3 * size);
    CHECK(ggml_backend_supports_op(scene.backend, node));
    scene_place(&scene);
    scene_set(a, bytes);
    scene_compute(&scene, node, result);
    CHECK(memcmp(result, expected, 12 * size) == 0);
    scene_end(&scene);
}

/* A window of 2 x 2 of 3 columns and a row: the rest is zeros. */
static void
divide_elements_of(enum ggml_type type)
{
    const size_t size = ggml_type_size(type);
    uint8_t bytes[3 * 8], result[8 * 8], expected[8 * 8] = { 0 };
    struct scene scene = scene_begin();
    struct ggml_tensor *a =
        ggml_new_tensor_3d(scene.ctx, GGML_TYPE_F32, 1, 3, 1);
    struct ggml_tensor *node = ggml_win_part(scene.ctx, a, 2);

    a->type = node->type = type;
    a->nb[0] = node->nb[0] = size;
    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        a->nb[d] = a->nb[d - 1] * (size_t)a->ne[d - 1];
        node->nb[d] = node->nb[d - 1] * (size_t)node->ne[d - 1];
    }
    for (size_t i = 0; i < 3 * size; i++)
        bytes[i] = (uint8_t)(13 * i + 1);
    memcpy(expected, bytes, 2 * size);
    memcpy(expected + 4 * size, bytes + 2 * size, size);
    CHECK(ggml_nelements(node) == 8);
    CHECK(ggml_backend_supports_op(scene.backend, node));
    scene_place(&scene);
    scene_set(a, bytes);
    scene_compute(&scene, node, result);
    CHECK(memcmp(result, expected, 8 * size) == 0);
    scene_end(&scene);
}

static void
move_elements_of_all_sizes(void)
{
    static const enum ggml_type types[] = { GGML_TYPE_I8, GGML_TYPE_F16,
                                            GGML_TYPE_F32, GGML_TYPE_I64 };

    for (int i = 0; i < 4; i++) {
        pad_elements_of(types[i]);
        divide_elements_of(types[i]);
    }
}

static void
elements_of_all_sizes_are_moved(void **state)
{
    (void)state;
    cuda_case(move_elements_of_all_sizes, "", NULL);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_are_right_at_their_ends),
        cmocka_unit_test(a_nan_stays_one),
        cmocka_unit_test(zeros_stay_zeros_in_every_type),
        cmocka_unit_test(values_of_any_size_count),
        cmocka_unit_test(what_a_mask_hides_adds_nothing),
        cmocka_unit_test(an_index_that_is_no_experts_gives_zeros),
        cmocka_unit_test(elements_of_all_sizes_are_moved),
    };

    return cmocka_run_group_tests_name("extremes", tests, NULL, NULL);
}
