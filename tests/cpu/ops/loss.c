/* SPDX-License-Identifier: MIT */
/*
 * Cross entropy, its gradient, and the optimiser's step.
 */
#include "tests/cpu/ops/driver.h"

/* ln of softmax of one element. */
static double
log_softmax(const struct ggml_tensor *x, int64_t i0, int64_t i1, int64_t i2,
            int64_t i3)
{
    double max = -INFINITY;
    double sum = 0;

    for (int64_t i = 0; i < x->ne[0]; i++)
        max = fmax(max, at(x, i, i1, i2, i3));
    for (int64_t i = 0; i < x->ne[0]; i++)
        sum += exp(at(x, i, i1, i2, i3) - max);
    return at(x, i0, i1, i2, i3) - max - log(sum);
}

static double
loss_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
               int64_t i2, int64_t i3)
{
    const struct ggml_tensor *x = node->src[0];
    const struct ggml_tensor *labels = node->src[1];
    double sum = 0;

    for (i3 = 0; i3 < x->ne[3]; i3++)
        for (i2 = 0; i2 < x->ne[2]; i2++)
            for (i1 = 0; i1 < x->ne[1]; i1++)
                for (i0 = 0; i0 < x->ne[0]; i0++)
                    if (at(labels, i0, i1, i2, i3) != 0)
                        sum += at(labels, i0, i1, i2, i3) *
                               log_softmax(x, i0, i1, i2, i3);
    return -sum / (double)ggml_nrows(x);
}

static double
loss_back_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                    int64_t i2, int64_t i3)
{
    const double gradient = at(node->src[0], 0, 0, 0, 0);

    return (exp(log_softmax(node->src[1], i0, i1, i2, i3)) -
            at(node->src[2], i0, i1, i2, i3)) *
           gradient / (double)ggml_nrows(node);
}

static void
cross_entropy_and_its_gradient(void **state)
{
    static const int64_t lengths[] = { 1, 10, 33, 600 };

    (void)state;
    for (int n = 0; n < 4; n++)
        for (int range = 1; range <= 100; range *= 100) {
            struct bench bench = bench_open();
            struct ggml_tensor *x =
                tensor(&bench, GGML_TYPE_F32, DENSE, lengths[n], 4, 2, 1);
            struct ggml_tensor *labels =
                tensor(&bench, GGML_TYPE_F32, DENSE, lengths[n], 4, 2, 1);
            struct ggml_tensor *g =
                tensor(&bench, GGML_TYPE_F32, DENSE, 1, 1, 1, 1);

            fill(&bench, x, -range, range);
            fill(&bench, labels, 0.0, 1.0);
            check(&bench, ggml_cross_entropy_loss(bench.ctx, x, labels),
                  loss_reference, 1e-10);
            check(&bench,
                  ggml_cross_entropy_loss_back(bench.ctx, g, x, labels),
                  loss_back_reference, 1e-10);
            bench_close(&bench);
        }
}

static void
a_label_of_zero_does_not_meet_infinity(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *x = tensor(&bench, GGML_TYPE_F32, DENSE, 9, 2, 1, 1);
    struct ggml_tensor *labels =
        tensor(&bench, GGML_TYPE_F32, DENSE, 9, 2, 1, 1);

    (void)state;
    put(x, 4, 1, 0, 0, -INFINITY);
    put(labels, 4, 1, 0, 0, 0.0);
    check(&bench, ggml_cross_entropy_loss(bench.ctx, x, labels),
          loss_reference, 1e-10);
    bench_close(&bench);
}

/* Weights, moments after one step, in double. */
static void
the_optimiser_changes_weights_and_moments(void **state)
{
    static const float params[] = { 1e-3f, 0.9f, 0.999f, 1e-8f,
                                    0.1f,  1.5f, 3.0f };
    const struct gb_cpu_kernels *const *variants = gb_cpu_kernels_all();

    (void)state;
    for (int variant = 0; variants[variant] != NULL; variant++)
        for (int layout = DENSE; layout <= PADDED; layout++) {
            struct bench bench = bench_open();
            struct ggml_context *ctx = bench.ctx;
            struct ggml_tensor *t[4];
            struct ggml_tensor *p =
                tensor(&bench, GGML_TYPE_F32, DENSE, 7, 1, 1, 1);
            struct ggml_tensor *node;
            double want[4][133 * 6];

            for (int i = 0; i < 4; i++) {
                t[i] = tensor(&bench, GGML_TYPE_F32, layout, 133, 3, 2, 1);
                if (i == 3)
                    fill(&bench, t[i], 0.0, 1.0);
                for (int64_t j = 0; j < 133 * 6; j++)
                    want[i][j] = at(t[i], j % 133, j / 133 % 3, j / 399, 0);
            }
            memcpy(p->data, params, sizeof(params));
            ggml_set_param(ctx, t[0]);
            node = ggml_opt_step_adamw(ctx, t[0], t[1], t[2], t[3], p);
            for (int64_t j = 0; j < 133 * 6; j++) {
                const double g = want[1][j];

                want[2][j] = params[1] * want[2][j] + (1 - params[1]) * g;
                want[3][j] =
                    params[2] * want[3][j] + (1 - params[2]) * g * g;
                want[0][j] = want[0][j] * (1 - params[0] * params[4]) -
                             params[0] * want[2][j] * params[5] /
                                 (sqrt(want[3][j] * params[6]) + params[3]);
            }
            assert_true(can_run(node));
            assert_int_equal(compute(node, variants[variant], false),
                             GGML_STATUS_SUCCESS);
            for (int i = 0; i < 4; i++)
                for (int64_t j = 0; j < 133 * 6; j++)
                    if (fabs(at(t[i], j % 133, j / 133 % 3, j / 399, 0) -
                             want[i][j]) > 3e-7)
                        fail_msg("%s: source %d, element %d",
                                 variants[variant]->variant, i, (int)j);
            bench_close(&bench);
        }
}

/* A node that was edited to stand on other weights still changes its own. */
static void
the_optimiser_changes_the_memory_of_its_node(void **state)
{
    static const float params[] = { 1e-3f, 0.9f, 0.999f, 1e-8f,
                                    0.1f,  1.5f, 3.0f };
    struct bench bench = bench_open();
    struct ggml_tensor *t[4], *node;
    struct ggml_tensor *p = tensor(&bench, GGML_TYPE_F32, DENSE, 7, 1, 1, 1);
    float weights[8], gradient[8];

    (void)state;
    for (int i = 0; i < 4; i++) {
        t[i] = tensor(&bench, GGML_TYPE_F32, DENSE, 8, 1, 1, 1);
        fill(&bench, t[i], 0.5, 1.0);
    }
    memcpy(p->data, params, sizeof(params));
    ggml_set_param(bench.ctx, t[0]);
    node = ggml_opt_step_adamw(bench.ctx, t[0], t[1], t[2], t[3], p);
    node->src[0] = t[1];
    memcpy(weights, t[0]->data, sizeof(weights));
    memcpy(gradient, t[1]->data, sizeof(gradient));
    assert_int_equal(compute(node, gb_cpu_kernels(), false),
                     GGML_STATUS_SUCCESS);
    assert_memory_equal(t[1]->data, gradient, sizeof(gradient));
    assert_memory_not_equal(t[0]->data, weights, sizeof(weights));
    bench_close(&bench);
}

/* Three dimensions, of which the last has a stride so large that the bytes suffice for
 * all elements, while rows overlap: threads would race for what both write. */
static void
what_is_written_shares_no_bytes(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *t[4], *node;
    struct ggml_tensor *p = tensor(&bench, GGML_TYPE_F32, DENSE, 7, 1, 1, 1);

    (void)state;
    for (int i = 0; i < 4; i++)
        t[i] = ggml_view_3d(bench.ctx,
                            tensor(&bench, GGML_TYPE_F32, DENSE, 64, 1, 1, 1), 8,
                            2, 2, 32, 96, 0);
    ggml_set_param(bench.ctx, t[0]);
    node = ggml_opt_step_adamw(bench.ctx, t[0], t[1], t[2], t[3], p);
    assert_true(can_run(node));
    for (int i = 0; i < 4; i++) {
        struct ggml_tensor *edited = i == 0 ? node : t[i];

        edited->nb[1] = 16;
        /* The gradient is read alone. */
        assert_int_equal(can_run(node), i == 1);
        edited->nb[1] = 32;
        assert_true(can_run(node));
    }
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_entropy_and_its_gradient),
        cmocka_unit_test(a_label_of_zero_does_not_meet_infinity),
        cmocka_unit_test(the_optimiser_changes_weights_and_moments),
        cmocka_unit_test(the_optimiser_changes_the_memory_of_its_node),
        cmocka_unit_test(what_is_written_shares_no_bytes),
    };

    return cmocka_run_group_tests_name("loss", tests, NULL, NULL);
}
