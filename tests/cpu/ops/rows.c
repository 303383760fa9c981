/* SPDX-License-Identifier: MIT */
/*
 * Picking rows by number, and its gradient.
 */
#include "tests/cpu/ops/driver.h"

static double
get_rows_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    return at(node->src[0], i0, (int64_t)at(node->src[1], i1, i2, i3, 0), i2,
              i3);
}

static void
rows_of_every_type(void **state)
{
    (void)state;
    for (int t = 0; t < GGML_TYPE_COUNT; t++)
        for (int layout = DENSE; layout <= PERMUTED; layout++) {
            const bool is_plain = t == GGML_TYPE_F32 || t == GGML_TYPE_F16 ||
                                  t == GGML_TYPE_BF16 || t == GGML_TYPE_I32;
            struct bench bench;
            struct ggml_tensor *a;
            struct ggml_tensor *b;

            if (!is_plain &&
                (!ggml_is_quantized(t) || layout == TRANSPOSED ||
                 ggml_get_type_traits(t)->to_float == NULL))
                continue;
            bench = bench_open();
            a = tensor(&bench, t, layout, 256, 20, 3, 2);
            b = tensor(&bench, GGML_TYPE_I32, layout == DENSE ? DENSE : SPARSE,
                       17, 3, 2, 1);
            fill(&bench, a, -50.0, 50.0);
            fill(&bench, b, 0.0, 20.0);
            check(&bench, ggml_get_rows(bench.ctx, a, b), get_rows_reference,
                  0.0);
            bench_close(&bench);
        }
}

static void
a_row_that_is_not_there_is_an_error(void **state)
{
    static const int numbers[] = { -1, 20, INT32_MAX, INT32_MIN };

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, DENSE, 8, 20, 1, 1);
        struct ggml_tensor *b =
            tensor(&bench, GGML_TYPE_I32, DENSE, 3, 1, 1, 1);
        struct ggml_tensor *g =
            tensor(&bench, GGML_TYPE_F32, DENSE, 8, 3, 1, 1);

        fill(&bench, b, 0.0, 20.0);
        put(b, 2, 0, 0, 0, numbers[i]);
        check_fails(ggml_get_rows(bench.ctx, a, b));
        check_fails(ggml_get_rows_back(bench.ctx, g, b, a));
        bench_close(&bench);
    }
}

static double
get_rows_back_reference(const struct ggml_tensor *node, int64_t i0,
                        int64_t i1, int64_t i2, int64_t i3)
{
    double sum = 0;

    (void)i2;
    (void)i3;
    for (int64_t i = 0; i < node->src[1]->ne[0]; i++)
        if ((int64_t)at(node->src[1], i, 0, 0, 0) == i1)
            sum += at(node->src[0], i0, i, 0, 0);
    return sum;
}

static void
gradients_of_the_same_row_add_up(void **state)
{
    static const int lengths[] = { 5, 700 };

    (void)state;
    for (int half = 0; half < 2; half++)
        for (int n = 0; n < 2; n++) {
            struct bench bench = bench_open();
            struct ggml_tensor *g =
                tensor(&bench, half ? GGML_TYPE_F16 : GGML_TYPE_F32,
                       n ? PADDED : TRANSPOSED, lengths[n], 100, 1, 1);
            struct ggml_tensor *b =
                tensor(&bench, GGML_TYPE_I32, DENSE, 100, 1, 1, 1);
            struct ggml_tensor *c =
                tensor(&bench, GGML_TYPE_F32, DENSE, lengths[n], 40, 1, 1);

            fill(&bench, b, 0.0, 40.0);
            check(&bench, ggml_get_rows_back(bench.ctx, g, b, c),
                  get_rows_back_reference, 1e-13);
            bench_close(&bench);
        }
}

static void
gradients_beyond_the_numbers_do_not_count(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *g =
        tensor(&bench, GGML_TYPE_F32, DENSE, 300, 8, 1, 1);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_I32, DENSE, 5, 1, 1, 1);
    struct ggml_tensor *c =
        tensor(&bench, GGML_TYPE_F32, DENSE, 300, 4, 1, 1);

    (void)state;
    fill(&bench, b, 0.0, 4.0);
    check(&bench, ggml_get_rows_back(bench.ctx, g, b, c),
          get_rows_back_reference, 1e-13);
    bench_close(&bench);
}

static void
no_rows_of_anything(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_Q4_0, DENSE, 32, 4, 1, 1);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_I32, DENSE, 0, 1, 1, 1);

    (void)state;
    check(&bench, ggml_get_rows(bench.ctx, a, b), get_rows_reference, 0.0);
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_type),
        cmocka_unit_test(a_row_that_is_not_there_is_an_error),
        cmocka_unit_test(gradients_of_the_same_row_add_up),
        cmocka_unit_test(gradients_beyond_the_numbers_do_not_count),
        cmocka_unit_test(no_rows_of_anything),
    };

    return cmocka_run_group_tests_name("get-rows", tests, NULL, NULL);
}
