/* SPDX-License-Identifier: MIT */
/*
 * Functions of one operand: values, types, strides, limits.
 */
#include "tests/cpu/ops/driver.h"

static double
function(enum ggml_unary_op u, double x)
{
    switch ((int)u) {
    case GGML_UNARY_OP_ABS:
        return fabs(x);
    case GGML_UNARY_OP_SGN:
        return (x > 0) - (x < 0);
    case GGML_UNARY_OP_NEG:
        return -x;
    case GGML_UNARY_OP_STEP:
        return x > 0;
    case GGML_UNARY_OP_TANH:
        return tanh(x);
    case GGML_UNARY_OP_ELU:
        return x > 0 ? x : expm1(x);
    case GGML_UNARY_OP_RELU:
        return x > 0 ? x : 0;
    case GGML_UNARY_OP_SIGMOID:
        return 1 / (1 + exp(-x));
    case GGML_UNARY_OP_GELU:
        return 0.5 * x *
               (1 + tanh(0.79788456080286535588 * x *
                         (1 + 0.044715 * x * x)));
    case GGML_UNARY_OP_GELU_QUICK:
        return x / (1 + exp(-1.702 * x));
    case GGML_UNARY_OP_SILU:
        return x / (1 + exp(-x));
    case GGML_UNARY_OP_HARDSWISH:
        return x * fmin(1, fmax(0, (x + 3) / 6));
    case GGML_UNARY_OP_HARDSIGMOID:
        return fmin(1, fmax(0, (x + 3) / 6));
    default:
        return exp(x);
    }
}

static float
param(const struct ggml_tensor *node, int word)
{
    float value;

    memcpy(&value, &node->op_params[word], sizeof(value));
    return value;
}

static double
unary_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                int64_t i2, int64_t i3)
{
    const double x = at(node->src[0], i0, i1, i2, i3);

    switch ((int)node->op) {
    case GGML_OP_SQR:
        return x * x;
    case GGML_OP_SQRT:
        return sqrt(x);
    case GGML_OP_LOG:
        return log(x);
    case GGML_OP_SIN:
        return sin(x);
    case GGML_OP_COS:
        return cos(x);
    case GGML_OP_SCALE:
        return x * param(node, 0);
    case GGML_OP_CLAMP:
        return fmax(fmin(x, param(node, 1)), param(node, 0));
    case GGML_OP_LEAKY_RELU:
        return x > 0 ? x : x * param(node, 0);
    default:
        return function(ggml_get_unary_op(node), x);
    }
}

static void
every_function_over_its_range(void **state)
{
    static const double ranges[] = { 0.01, 1.0, 12.0, 85.0 };

    (void)state;
    for (int u = 0; u < GGML_UNARY_OP_COUNT; u++)
        for (size_t r = 0; r < 4; r++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, DENSE, 533, 3, 2, 2);

            fill(&bench, a, -ranges[r], ranges[r]);
            check(&bench, ggml_unary(bench.ctx, a, u), unary_reference, 1e-12);
            bench_close(&bench);
        }
}

static void
rows_of_any_stride_and_type(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16 };
    static const double bounds[] = { 1e-12, 1e-6, 1e-4 };

    (void)state;
    for (int u = 0; u < GGML_UNARY_OP_COUNT; u++)
        for (int t = 0; t < 3; t++)
            for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
                struct bench bench = bench_open();
                struct ggml_tensor *a =
                    tensor(&bench, types[t], layout, 37, 5, 3, 2);
                struct ggml_tensor *node;

                fill(&bench, a, -3.0, 3.0);
                /* The builder asks for more order than the function. */
                node = ggml_sqr(bench.ctx, a);
                node->op = GGML_OP_UNARY;
                node->op_params[0] = u;
                check(&bench, node, unary_reference, bounds[t]);
                bench_close(&bench);
            }
}

static void
the_other_functions(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++)
        for (int layout = DENSE; layout < N_LAYOUTS; layout++) {
            const enum ggml_type type = half ? GGML_TYPE_F16 : GGML_TYPE_F32;
            const double bound = half ? 1e-6 : 1e-12;
            struct bench bench = bench_open();
            struct ggml_tensor *a = tensor(&bench, type, layout, 41, 4, 3, 2);

            fill(&bench, a, 0.5, 6.5);
            check(&bench, ggml_sqr(bench.ctx, a), unary_reference, bound);
            check(&bench, ggml_sqrt(bench.ctx, a), unary_reference, bound);
            check(&bench, ggml_log(bench.ctx, a), unary_reference, bound);
            fill(&bench, a, -6.5, 6.5);
            check(&bench, ggml_sin(bench.ctx, a), unary_reference, bound);
            check(&bench, ggml_cos(bench.ctx, a), unary_reference, bound);
            check(&bench, ggml_leaky_relu(bench.ctx, a, 0.1f, false),
                  unary_reference, bound);
            check(&bench, ggml_clamp(bench.ctx, a, -2.0f, 3.0f),
                  unary_reference, bound);
            bench_close(&bench);
        }
}

static void
scaling_in_place_and_not(void **state)
{
    (void)state;
    for (int in_place = 0; in_place < 2; in_place++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a =
            tensor(&bench, GGML_TYPE_F32, PADDED, 70, 9, 1, 1);

        check(&bench,
              in_place ? ggml_scale_inplace(bench.ctx, a, -1.5f)
                       : ggml_scale(bench.ctx, a, -1.5f),
              unary_reference, 1e-14);
        bench_close(&bench);
    }
}

/* What the C library's functions answer is what the facts ask for. */
static void
limits_behave_as_in_the_c_library(void **state)
{
    static const float special[] = {
        0.0f, -0.0f, INFINITY, -INFINITY, NAN, FLT_MAX, -FLT_MAX, FLT_MIN
    };
    static const enum ggml_unary_op functions[] = {
        GGML_UNARY_OP_ABS,     GGML_UNARY_OP_NEG, GGML_UNARY_OP_TANH,
        GGML_UNARY_OP_SIGMOID, GGML_UNARY_OP_EXP, GGML_UNARY_OP_SILU,
        GGML_UNARY_OP_ELU,
    };

    (void)state;
    for (size_t f = 0; f < sizeof(functions) / sizeof(functions[0]); f++)
        for (size_t i = 0; i < 8; i++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, GGML_TYPE_F32, DENSE, 1, 1, 1, 1);
            double want;
            struct ggml_tensor *node = ggml_unary(bench.ctx, a, functions[f]);

            *(float *)a->data = special[i];
            want = unary_reference(node, 0, 0, 0, 0);
            assert_int_equal(
                compute(node, gb_cpu_kernels_all()[0], false),
                GGML_STATUS_SUCCESS);
            if (isnan(want) != isnan(*(float *)node->data) ||
                (!isnan(want) && (float)want != *(float *)node->data))
                fail_msg("%s of %g: %g, not %g", ggml_op_desc(node),
                         (double)special[i], (double)*(float *)node->data,
                         want);
            bench_close(&bench);
        }
}

static void
gelu_of_minus_infinity_is_zero(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 3, 1, 1, 1);
    struct ggml_tensor *node = ggml_gelu(bench.ctx, a);
    float *x = a->data;
    const float *y = node->data;

    (void)state;
    x[0] = -INFINITY;
    x[1] = INFINITY;
    x[2] = NAN;
    compute(node, gb_cpu_kernels_all()[0], false);
    assert_true(y[0] == 0.0f);
    assert_true(y[1] == INFINITY);
    assert_true(isnan(y[2]));
    bench_close(&bench);
}

static void
clamping_keeps_nan(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 1, 1, 1, 1);
    struct ggml_tensor *node = ggml_clamp(bench.ctx, a, -1.0f, 1.0f);

    (void)state;
    *(float *)a->data = NAN;
    compute(node, gb_cpu_kernels_all()[0], false);
    assert_true(isnan(*(float *)node->data));
    bench_close(&bench);
}

static void
integers_are_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_I32, DENSE, 3, 1, 1, 1);

    (void)state;
    assert_false(can_run(ggml_sqr(bench.ctx, a)));
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_over_its_range),
        cmocka_unit_test(rows_of_any_stride_and_type),
        cmocka_unit_test(the_other_functions),
        cmocka_unit_test(scaling_in_place_and_not),
        cmocka_unit_test(limits_behave_as_in_the_c_library),
        cmocka_unit_test(gelu_of_minus_infinity_is_zero),
        cmocka_unit_test(clamping_keeps_nan),
        cmocka_unit_test(integers_are_refused),
    };

    return cmocka_run_group_tests_name("unary", tests, NULL, NULL);
}
