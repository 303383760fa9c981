/* SPDX-License-Identifier: MIT */
/*
 * Sums, means, largest elements, counts and orders.
 */
#include "tests/cpu/ops/driver.h"

static double
sum_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
              int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    double sum = 0;

    (void)i0;
    if (node->op == GGML_OP_SUM) {
        for (i3 = 0; i3 < a->ne[3]; i3++)
            for (i2 = 0; i2 < a->ne[2]; i2++)
                for (i1 = 0; i1 < a->ne[1]; i1++)
                    for (i0 = 0; i0 < a->ne[0]; i0++)
                        sum += at(a, i0, i1, i2, i3);
        return sum;
    }
    for (i0 = 0; i0 < a->ne[0]; i0++)
        sum += at(a, i0, i1, i2, i3);
    return node->op == GGML_OP_MEAN ? sum / (double)a->ne[0] : sum;
}

static void
sums_over_rows_and_over_everything(void **state)
{
    static const int64_t lengths[] = { 1, 9, 100, 1000, 40000 };

    (void)state;
    for (int n = 0; n < 5; n++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, layout, lengths[n], 3, 2, 1);

            check(&bench, ggml_sum(bench.ctx, a), sum_reference, 1e-9);
            check(&bench, ggml_sum_rows(bench.ctx, a), sum_reference, 1e-9);
            check(&bench, ggml_mean(bench.ctx, a), sum_reference, 1e-9);
            bench_close(&bench);
        }
}

static void
sums_of_halves(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F16, GGML_TYPE_BF16 };

    (void)state;
    for (int t = 0; t < 2; t++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a = tensor(&bench, types[t], PADDED, 700, 5, 2, 2);

        fill(&bench, a, 0.0, 1.0);
        check(&bench, ggml_sum(bench.ctx, a), sum_reference,
              t ? 1e-5 : 1e-6);
        bench_close(&bench);
    }
}

static void
nothing_sums_up_to_zero(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 0, 3, 1, 1);

    (void)state;
    check(&bench, ggml_sum(bench.ctx, a), sum_reference, 0.0);
    check(&bench, ggml_sum_rows(bench.ctx, a), sum_reference, 0.0);
    check(&bench, ggml_mean(bench.ctx, a), sum_reference, 0.0);
    bench_close(&bench);
}

static double
argmax_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                 int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    int64_t best = 0;

    (void)i1;
    (void)i2;
    (void)i3;
    for (int64_t i = 0; i < a->ne[0]; i++)
        if (at(a, i, i0, 0, 0) >= at(a, best, i0, 0, 0))
            best = i;
    return (double)best;
}

static void
the_last_of_the_largest(void **state)
{
    static const int64_t lengths[] = { 1, 8, 33, 1025 };

    (void)state;
    for (int n = 0; n < 4; n++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, layout, lengths[n], 40, 1, 1);

            for (int64_t i = 0; i < 40; i++)
                for (int64_t j = 0; j < lengths[n]; j++)
                    put(a, j, i, 0, 0, floor(draw(&bench, -5.0, 5.0)));
            check(&bench, ggml_argmax(bench.ctx, a), argmax_reference, 0.0);
            bench_close(&bench);
        }
}

static void
nan_is_never_the_largest(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 37, 2, 1, 1);
    struct ggml_tensor *node = ggml_argmax(bench.ctx, a);

    (void)state;
    for (int64_t i = 0; i < 37; i++) {
        put(a, i, 0, 0, 0, NAN);
        put(a, i, 1, 0, 0, i % 3 ? (double)-i : NAN);
    }
    for (int i = 0; gb_cpu_kernels_all()[i] != NULL; i++) {
        compute(node, gb_cpu_kernels_all()[i], false);
        assert_int_equal(at(node, 0, 0, 0, 0), 0);
        assert_int_equal(at(node, 1, 0, 0, 0), 1);
    }
    bench_close(&bench);
}

static double
count_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    double count = 0;

    for (i3 = 0; i3 < a->ne[3]; i3++)
        for (i2 = 0; i2 < a->ne[2]; i2++)
            for (i1 = 0; i1 < a->ne[1]; i1++)
                for (i0 = 0; i0 < a->ne[0]; i0++)
                    count += at(a, i0, i1, i2, i3) ==
                             at(node->src[1], i0, i1, i2, i3);
    return count;
}

static void
equal_numbers_are_counted(void **state)
{
    (void)state;
    for (int la = DENSE; la < N_LAYOUTS; la++)
        for (int lb = DENSE; lb < N_LAYOUTS; lb++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_I32, la, 300, 30, 2, 2);
            struct ggml_tensor *b =
                tensor(&bench, GGML_TYPE_I32, lb, 300, 30, 2, 2);

            fill(&bench, a, -3.0, 3.0);
            fill(&bench, b, -3.0, 3.0);
            check(&bench, ggml_count_equal(bench.ctx, a, b), count_reference,
                  0.0);
            bench_close(&bench);
        }
}

/* All numbers once, and each element not before one that must precede it; equal
 * ones in the order of their numbers. */
static void
check_order(const struct ggml_tensor *node, int64_t i1)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t n = a->ne[0];
    char seen[1024] = { 0 };

    for (int64_t i = 0; i < n; i++) {
        const int64_t number = (int64_t)at(node, i, i1, 0, 0);

        assert_in_range(number, 0, n - 1);
        assert_false(seen[number]);
        seen[number] = 1;
        if (i > 0) {
            const double here = at(a, number, i1, 0, 0);
            const int64_t last = (int64_t)at(node, i - 1, i1, 0, 0);
            const double before = at(a, last, i1, 0, 0);

            if (before == here || (isnan(before) && isnan(here)))
                assert_true(last < number);
            assert_true(isnan(here) ||
                        (node->op_params[0] == GGML_SORT_ORDER_ASC
                             ? before <= here
                             : before >= here));
        }
    }
}

static void
orders_of_rows(void **state)
{
    static const int64_t lengths[] = { 1, 2, 3, 16, 17, 1000 };

    (void)state;
    for (int n = 0; n < 6; n++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++)
            for (int order = 0; order < 2; order++) {
                struct bench bench = bench_open();
                struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, layout,
                                               lengths[n], 21, 1, 1);
                struct ggml_tensor *node =
                    ggml_argsort(bench.ctx, a, (enum ggml_sort_order)order);

                for (int64_t i = 0; i < lengths[n]; i += 3)
                    put(a, i, 1, 0, 0, i % 2 ? NAN : INFINITY);
                for (int64_t i = 0; i < lengths[n]; i++)
                    put(a, i, 2, 0, 0, (double)(i * i % 5));
                assert_true(can_run(node));
                assert_int_equal(
                    compute(node, gb_cpu_kernels_all()[0], false),
                    GGML_STATUS_SUCCESS);
                for (int64_t i = 0; i < 21; i++)
                    check_order(node, i);
                bench_close(&bench);
            }
}

static void
what_is_not_computed_is_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *ints = tensor(&bench, GGML_TYPE_I32, DENSE, 8, 2, 1, 1);
    struct ggml_tensor *floats =
        tensor(&bench, GGML_TYPE_F32, DENSE, 8, 2, 1, 1);
    struct ggml_tensor *node = ggml_count_equal(bench.ctx, ints, ints);

    (void)state;
    assert_false(can_run(ggml_sum(bench.ctx, ints)));
    assert_false(can_run(ggml_argsort(bench.ctx, ints, 0)));
    node->src[0] = floats;
    assert_false(can_run(node));
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_over_rows_and_over_everything),
        cmocka_unit_test(sums_of_halves),
        cmocka_unit_test(nothing_sums_up_to_zero),
        cmocka_unit_test(the_last_of_the_largest),
        cmocka_unit_test(nan_is_never_the_largest),
        cmocka_unit_test(equal_numbers_are_counted),
        cmocka_unit_test(orders_of_rows),
        cmocka_unit_test(what_is_not_computed_is_refused),
    };

    return cmocka_run_group_tests_name("reduce", tests, NULL, NULL);
}
