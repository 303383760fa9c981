/* SPDX-License-Identifier: MIT */
/*
 * Norms and their gradient, softmax and its gradient.
 */
#include "tests/cpu/ops/driver.h"

static float
param(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

static double
square(double x)
{
    return x * x;
}

/* The row that an element belongs to, in double. */
struct row {
    double mean, mean_sq, variance;
};

static struct row
row_of(const struct ggml_tensor *a, int64_t i1, int64_t i2, int64_t i3)
{
    const double n = (double)a->ne[0];
    struct row row = { 0 };

    for (int64_t i = 0; i < a->ne[0]; i++) {
        row.mean += at(a, i, i1, i2, i3) / n;
        row.mean_sq += square(at(a, i, i1, i2, i3)) / n;
    }
    for (int64_t i = 0; i < a->ne[0]; i++)
        row.variance += square(at(a, i, i1, i2, i3) - row.mean) / n;
    return row;
}

static double
norm_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const struct row row = row_of(node->src[0], i1, i2, i3);
    const double x = at(node->src[0], i0, i1, i2, i3);

    if (node->op == GGML_OP_RMS_NORM)
        return x / sqrt(row.mean_sq + param(node, 0));
    return (x - row.mean) / sqrt(row.variance + param(node, 0));
}

static double
rms_norm_back_reference(const struct ggml_tensor *node, int64_t i0,
                        int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *dz = node->src[0];
    const struct ggml_tensor *x = node->src[1];
    const double n = (double)x->ne[0];
    const double eps = param(node, 0);
    const double sum_sq = row_of(x, i1, i2, i3).mean_sq * n;
    double along = 0;

    for (int64_t i = 0; i < x->ne[0]; i++)
        along += at(x, i, i1, i2, i3) * at(dz, i, i1, i2, i3);
    return (at(dz, i0, i1, i2, i3) -
            at(x, i0, i1, i2, i3) * along / (sum_sq + n * eps)) /
           sqrt(sum_sq / n + eps);
}

static void
rows_of_every_length(void **state)
{
    static const int64_t lengths[] = { 1, 5, 16, 67, 576, 1030 };
    static const enum layout layouts[] = { DENSE, PADDED, PERMUTED };

    (void)state;
    for (int n = 0; n < 6; n++)
        for (int l = 0; l < 3; l++) {
            /* The references take the square of a row's length. */
            const int64_t n_rows = n < 4 ? 3 : 1;
            struct bench bench = bench_open();
            struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, layouts[l],
                                           lengths[n], n_rows, 2, n_rows);
            struct ggml_tensor *b = tensor(&bench, GGML_TYPE_F32, layouts[l],
                                           lengths[n], n_rows, 2, n_rows);

            check(&bench, ggml_norm(bench.ctx, a, 1e-5f), norm_reference,
                  1e-10);
            check(&bench, ggml_rms_norm(bench.ctx, a, 1e-6f), norm_reference,
                  1e-12);
            check(&bench, ggml_rms_norm_back(bench.ctx, a, b, 1e-6f),
                  rms_norm_back_reference, 1e-9);
            check(&bench, ggml_rms_norm_inplace(bench.ctx, a, 1e-6f),
                  norm_reference, 1e-12);
            bench_close(&bench);
        }
}

/* With a mean of 1000 the squares alone would lose the variance. */
static void
a_large_mean_does_not_hide_the_variance(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 1000, 2, 1, 1);

    (void)state;
    fill(&bench, a, 999.0, 1001.0);
    check(&bench, ggml_norm(bench.ctx, a, 0.0f), norm_reference, 1e-7);
    bench_close(&bench);
}

static double
group_norm_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                     int64_t i2, int64_t i3)
{
    const struct ggml_tensor *a = node->src[0];
    const int64_t groups = node->op_params[0];
    const int64_t size = (a->ne[2] + groups - 1) / groups;
    const int64_t first = i2 / size * size;
    double mean = 0, variance = 0, n = 0;

    for (int64_t c = first; c < first + size && c < a->ne[2]; c++)
        for (int64_t y = 0; y < a->ne[1]; y++)
            for (int64_t x = 0; x < a->ne[0]; x++, n++)
                mean += at(a, x, y, c, i3);
    mean /= n;
    for (int64_t c = first; c < first + size && c < a->ne[2]; c++)
        for (int64_t y = 0; y < a->ne[1]; y++)
            for (int64_t x = 0; x < a->ne[0]; x++)
                variance += square(at(a, x, y, c, i3) - mean) / n;
    return (at(a, i0, i1, i2, i3) - mean) / sqrt(variance + param(node, 1));
}

static void
groups_of_channels(void **state)
{
    static const int groups[] = { 1, 2, 3, 4, 7, 9 };

    (void)state;
    for (int g = 0; g < 6; g++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, g % 2 ? PADDED : DENSE, 9, 5, 7, 2);

        check(&bench, ggml_group_norm(bench.ctx, a, groups[g], 1e-6f),
              group_norm_reference, 1e-10);
        bench_close(&bench);
    }
}

static double
slope(const struct ggml_tensor *node, int64_t head)
{
    const double bias = param(node, 1);
    const double log2_heads = floor(log2((double)node->ne[2]));
    const double low = exp2(log2_heads);

    if (bias <= 0)
        return 1;
    if ((double)head < low)
        return pow(exp2(-bias / low), (double)head + 1);
    return pow(exp2(-bias / (2 * low)), 2 * ((double)head - low) + 1);
}

static double
score(const struct ggml_tensor *node, int64_t i0, int64_t i1, int64_t i2,
      int64_t i3)
{
    const double s = at(node->src[0], i0, i1, i2, i3) * param(node, 0);

    if (node->src[1] == NULL)
        return s;
    return s + slope(node, i2) * at(node->src[1], i0, i1, 0, 0);
}

static double
soft_max_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                   int64_t i2, int64_t i3)
{
    double max = -INFINITY;
    double sum = 0;

    for (int64_t i = 0; i < node->ne[0]; i++)
        max = fmax(max, score(node, i, i1, i2, i3));
    if (max == -INFINITY)
        return 0;
    for (int64_t i = 0; i < node->ne[0]; i++)
        sum += exp(score(node, i, i1, i2, i3) - max);
    return exp(score(node, i0, i1, i2, i3) - max) / sum;
}

/* Everything right of the diagonal, and all of row 1, is out. */
static void
mask_out(struct ggml_tensor *mask)
{
    for (int64_t i1 = 0; i1 < mask->ne[1]; i1++)
        for (int64_t i0 = 0; i0 < mask->ne[0]; i0++)
            if (i0 > i1 + 3 || i1 == 1)
                put(mask, i0, i1, 0, 0, -INFINITY);
}

static void
softmax_with_and_without_a_mask(void **state)
{
    static const int64_t lengths[] = { 1, 7, 32, 77, 550 };
    static const enum ggml_type masks[] = { GGML_TYPE_COUNT, GGML_TYPE_F32,
                                            GGML_TYPE_F16 };

    (void)state;
    for (int n = 0; n < 5; n++)
        for (int m = 0; m < 3; m++)
            for (int bias = 0; bias <= (m > 0 ? 8 : 0); bias += 8) {
                struct bench bench = bench_open();
                struct ggml_tensor *a =
                    tensor(&bench, GGML_TYPE_F32, DENSE, lengths[n],
                           n < 4 ? 5 : 2, 6, n < 4 ? 2 : 1);
                struct ggml_tensor *mask =
                    m == 0 ? NULL
                           : tensor(&bench, masks[m], DENSE, lengths[n], 8, 1,
                                    1);

                fill(&bench, a, -30.0, 30.0);
                if (mask != NULL)
                    mask_out(mask);
                check(&bench,
                      ggml_soft_max_ext(bench.ctx, a, mask, 0.125f,
                                        (float)bias),
                      soft_max_reference, 1e-11);
                bench_close(&bench);
            }
}

static void
softmax_over_its_own_operand(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 300, 7, 3, 1);

    (void)state;
    check(&bench, ggml_soft_max_inplace(bench.ctx, a), soft_max_reference,
          1e-11);
    bench_close(&bench);
}

/* The largest score must be found wherever it stands, or exponentials of those
 * above the one that was found overflow. */
static void
softmax_of_large_scores(void **state)
{
    static const int64_t lengths[] = { 7, 33, 70 };

    (void)state;
    for (int n = 0; n < 3; n++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE,
                                       lengths[n], lengths[n], 1, 1);

        fill(&bench, a, -300.0, 100.0);
        for (int64_t i = 0; i < lengths[n]; i++)
            put(a, i, i, 0, 0, 300.0);
        check(&bench, ggml_soft_max(bench.ctx, a), soft_max_reference, 1e-11);
        bench_close(&bench);
    }
}

static void
a_row_without_a_finite_score_gives_zeros(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 19, 2, 1, 1);

    (void)state;
    fill(&bench, a, 0.0, 1.0);
    for (int64_t i = 0; i < 19; i++)
        put(a, i, 1, 0, 0, -INFINITY);
    check(&bench, ggml_soft_max(bench.ctx, a), soft_max_reference, 1e-11);
    bench_close(&bench);
}

static void
nan_in_a_row_is_not_lost(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 40, 1, 1, 1);
    struct ggml_tensor *node = ggml_soft_max(bench.ctx, a);

    (void)state;
    for (int64_t at_i = 0; at_i < 40; at_i++) {
        for (int64_t i = 0; i < 40; i++)
            put(a, i, 0, 0, 0, i == at_i ? NAN : -INFINITY);
        for (int i = 0; gb_cpu_kernels_all()[i] != NULL; i++) {
            compute(node, gb_cpu_kernels_all()[i], false);
            assert_true(isnan(*(float *)node->data));
        }
    }
    bench_close(&bench);
}

static double
soft_max_back_reference(const struct ggml_tensor *node, int64_t i0,
                        int64_t i1, int64_t i2, int64_t i3)
{
    const struct ggml_tensor *dy = node->src[0];
    const struct ggml_tensor *y = node->src[1];
    double sum = 0;

    for (int64_t i = 0; i < node->ne[0]; i++)
        sum += at(dy, i, i1, i2, i3) * at(y, i, i1, i2, i3);
    return param(node, 0) * at(y, i0, i1, i2, i3) *
           (at(dy, i0, i1, i2, i3) - sum);
}

static void
the_gradient_of_softmax(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *dy = tensor(&bench, GGML_TYPE_F32, DENSE, 77, 3, 2, 2);
    struct ggml_tensor *y = tensor(&bench, GGML_TYPE_F32, PADDED, 77, 3, 2, 2);

    (void)state;
    check(&bench, ggml_soft_max_ext_back(bench.ctx, dy, y, 0.5f, 0.0f),
          soft_max_back_reference, 1e-11);
    check(&bench, ggml_soft_max_ext_back_inplace(bench.ctx, dy, y, 0.5f, 0.0f),
          soft_max_back_reference, 1e-11);
    assert_false(
        can_run(ggml_soft_max_ext_back(bench.ctx, dy, y, 0.5f, 8.0f)));
    bench_close(&bench);
}

static void
what_is_not_computed_is_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *half = tensor(&bench, GGML_TYPE_F16, DENSE, 8, 2, 1, 1);
    struct ggml_tensor *strided =
        tensor(&bench, GGML_TYPE_F32, TRANSPOSED, 8, 2, 1, 1);

    (void)state;
    assert_false(can_run(ggml_rms_norm(bench.ctx, half, 0.0f)));
    assert_false(can_run(ggml_norm(bench.ctx, strided, 0.0f)));
    assert_false(can_run(ggml_soft_max(bench.ctx, half)));
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(a_large_mean_does_not_hide_the_variance),
        cmocka_unit_test(groups_of_channels),
        cmocka_unit_test(softmax_with_and_without_a_mask),
        cmocka_unit_test(softmax_over_its_own_operand),
        cmocka_unit_test(softmax_of_large_scores),
        cmocka_unit_test(a_row_without_a_finite_score_gives_zeros),
        cmocka_unit_test(nan_in_a_row_is_not_lost),
        cmocka_unit_test(the_gradient_of_softmax),
        cmocka_unit_test(what_is_not_computed_is_refused),
    };

    return cmocka_run_group_tests_name("norm", tests, NULL, NULL);
}
