/* SPDX-License-Identifier: MIT */
/*
 * Element-wise operations of two operands: types, strides, broadcasting.
 */
#include "tests/cpu/ops/driver.h"

/* Rounding once to the node's type: half an ulp of halves is 2^-11 of 1. */
static double
bound(enum ggml_type type)
{
    switch ((int)type) {
    case GGML_TYPE_F32:
        return 1e-13;
    case GGML_TYPE_F16:
        return 1e-7;
    case GGML_TYPE_BF16:
        return 1e-5;
    default:
        return 2e-2;
    }
}

static double
arith_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                int64_t i2, int64_t i3)
{
    const struct ggml_tensor *b = node->src[1];
    const double x = at(node->src[0], i0, i1, i2, i3);
    const double y = at(b, i0 % b->ne[0], i1 % b->ne[1], i2 % b->ne[2],
                        i3 % b->ne[3]);

    switch ((int)node->op) {
    case GGML_OP_SUB:
        return x - y;
    case GGML_OP_MUL:
        return x * y;
    case GGML_OP_DIV:
        return x / y;
    default:
        return x + y;
    }
}

typedef struct ggml_tensor *(*build_fn)(
    struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b);

static const build_fn builders[] = {
    ggml_add, ggml_sub, ggml_mul, ggml_div
};

static void
every_layout_and_length_of_floats(void **state)
{
    static const int64_t lengths[] = { 1, 7, 16, 33, 515, 1100 };

    (void)state;
    for (size_t f = 0; f < 4; f++)
        for (size_t n = 0; n < 6; n++)
            for (int la = 0; la < N_LAYOUTS; la++) {
                struct bench bench = bench_open();
                struct ggml_tensor *a =
                    tensor(&bench, GGML_TYPE_F32, la, lengths[n], 3, 2, 2);
                struct ggml_tensor *b =
                    tensor(&bench, GGML_TYPE_F32, N_LAYOUTS - 1 - la,
                           lengths[n], 3, 2, 2);

                check(&bench, builders[f](bench.ctx, a, b), arith_reference,
                      bound(GGML_TYPE_F32));
                bench_close(&bench);
            }
}

static void
the_second_operand_is_repeated(void **state)
{
    static const int64_t shapes[][4] = {
        { 1, 1, 1, 1 },  { 60, 1, 1, 1 }, { 1, 4, 1, 2 },
        { 20, 2, 3, 1 }, { 60, 4, 3, 1 }, { 12, 1, 1, 2 },
    };
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_BF16 };

    (void)state;
    for (size_t f = 0; f < 4; f++)
        for (size_t s = 0; s < 6; s++)
            for (size_t t = 0; t < 3; t++) {
                struct bench bench = bench_open();
                struct ggml_tensor *a =
                    tensor(&bench, types[t], DENSE, 60, 4, 3, 2);
                struct ggml_tensor *b =
                    tensor(&bench, types[t], s % 2 ? SPARSE : DENSE,
                           shapes[s][0], shapes[s][1], shapes[s][2],
                           shapes[s][3]);

                fill(&bench, b, 0.9, 1.1);
                check(&bench, builders[f](bench.ctx, a, b), arith_reference,
                      bound(types[t]));
                bench_close(&bench);
            }
}

/* First operand, second operand, result. */
static const enum ggml_type sums[][3] = {
    { GGML_TYPE_F16, GGML_TYPE_F16, GGML_TYPE_F16 },
    { GGML_TYPE_F16, GGML_TYPE_F32, GGML_TYPE_F16 },
    { GGML_TYPE_F16, GGML_TYPE_F32, GGML_TYPE_F32 },
    { GGML_TYPE_BF16, GGML_TYPE_BF16, GGML_TYPE_BF16 },
    { GGML_TYPE_BF16, GGML_TYPE_F32, GGML_TYPE_BF16 },
    { GGML_TYPE_BF16, GGML_TYPE_F32, GGML_TYPE_F32 },
    { GGML_TYPE_Q4_0, GGML_TYPE_F32, GGML_TYPE_F32 },
    { GGML_TYPE_Q8_0, GGML_TYPE_F32, GGML_TYPE_F16 },
    { GGML_TYPE_Q6_K, GGML_TYPE_F32, GGML_TYPE_BF16 },
    { GGML_TYPE_Q8_0, GGML_TYPE_F32, GGML_TYPE_Q8_0 },
    { GGML_TYPE_Q4_K, GGML_TYPE_F32, GGML_TYPE_Q4_K },
};

static void
sums_of_all_type_triples(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++)
        for (int layout = DENSE; layout <= PADDED; layout++) {
            struct bench bench = bench_open();
            struct ggml_tensor *a =
                tensor(&bench, sums[i][0], layout, 768, 3, 2, 1);
            struct ggml_tensor *b =
                tensor(&bench, sums[i][1], layout, 768, 3, 2, 1);
            struct ggml_tensor *node =
                sums[i][0] == sums[i][2]
                    ? ggml_add(bench.ctx, a, b)
                    : ggml_add_cast(bench.ctx, a, b, sums[i][2]);

            check(&bench, node, arith_reference, bound(sums[i][2]));
            bench_close(&bench);
        }
}

static void
one_number_is_added_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a = tensor(&bench, sums[i][0], DENSE, 256, 3, 2, 2);
        struct ggml_tensor *b = tensor(&bench, sums[i][1], DENSE, 1, 1, 1, 1);

        check(&bench, ggml_add1(bench.ctx, a, b), arith_reference,
              bound(sums[i][0]));
        bench_close(&bench);
    }
}

static void
in_place_results_lie_over_the_first_operand(void **state)
{
    static const enum ggml_type types[] = { GGML_TYPE_F32, GGML_TYPE_F16,
                                            GGML_TYPE_Q8_0 };

    (void)state;
    for (size_t t = 0; t < 3; t++) {
        struct bench bench = bench_open();
        struct ggml_tensor *a = tensor(&bench, types[t], PADDED, 96, 5, 1, 1);
        struct ggml_tensor *b =
            tensor(&bench, GGML_TYPE_F32, DENSE, 96, 1, 1, 1);
        struct ggml_tensor *node = ggml_add_inplace(bench.ctx, a, b);

        assert_ptr_equal(node->data, a->data);
        check(&bench, node, arith_reference, bound(types[t]));
        bench_close(&bench);
    }
}

static double
silu_back_reference(const struct ggml_tensor *node, int64_t i0, int64_t i1,
                    int64_t i2, int64_t i3)
{
    const double dy = at(node->src[0], i0, i1, i2, i3);
    const double x = at(node->src[1], i0, i1, i2, i3);
    const double s = 1.0 / (1.0 + exp(-x));

    return dy * s * (1.0 + x * (1.0 - s));
}

static void
the_gradient_of_silu(void **state)
{
    (void)state;
    for (int half = 0; half < 2; half++) {
        const enum ggml_type type = half ? GGML_TYPE_F16 : GGML_TYPE_F32;
        struct bench bench = bench_open();
        struct ggml_tensor *dy = tensor(&bench, type, DENSE, 130, 3, 2, 1);
        struct ggml_tensor *x = tensor(&bench, type, PADDED, 130, 3, 2, 1);

        fill(&bench, x, -20.0, 20.0);
        check(&bench, ggml_silu_back(bench.ctx, dy, x), silu_back_reference,
              half ? 1e-6 : 1e-12);
        bench_close(&bench);
    }
}

static void
types_that_are_not_computed_are_refused(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *ints = tensor(&bench, GGML_TYPE_I32, DENSE, 8, 1, 1, 1);
    struct ggml_tensor *blocks =
        tensor(&bench, GGML_TYPE_Q4_0, DENSE, 256, 1, 1, 1);
    struct ggml_tensor *floats =
        tensor(&bench, GGML_TYPE_F32, DENSE, 256, 1, 1, 1);

    (void)state;
    assert_false(can_run(ggml_add(bench.ctx, ints, ints)));
    assert_false(can_run(ggml_mul(bench.ctx, floats, blocks)));
    assert_false(can_run(
        ggml_add_cast(bench.ctx, blocks, floats, GGML_TYPE_IQ2_XXS)));
    bench_close(&bench);
}

static void
empty_operands_give_an_empty_result(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 0, 3, 1, 1);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_F32, DENSE, 0, 1, 1, 1);

    (void)state;
    check(&bench, ggml_add(bench.ctx, a, b), arith_reference, 0.0);
    bench_close(&bench);
}

/* A batch of which no output is wanted goes through its last layers so. */
static void
no_rows_take_a_row(void **state)
{
    struct bench bench = bench_open();
    struct ggml_tensor *a = tensor(&bench, GGML_TYPE_F32, DENSE, 5, 0, 1, 1);
    struct ggml_tensor *b = tensor(&bench, GGML_TYPE_F32, DENSE, 5, 1, 1, 1);
    struct ggml_tensor *product = ggml_mul(bench.ctx, a, b);

    (void)state;
    assert_int_equal(product->ne[0], 5);
    check(&bench, product, arith_reference, 0.0);
    bench_close(&bench);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout_and_length_of_floats),
        cmocka_unit_test(the_second_operand_is_repeated),
        cmocka_unit_test(sums_of_all_type_triples),
        cmocka_unit_test(one_number_is_added_everywhere),
        cmocka_unit_test(in_place_results_lie_over_the_first_operand),
        cmocka_unit_test(the_gradient_of_silu),
        cmocka_unit_test(types_that_are_not_computed_are_refused),
        cmocka_unit_test(empty_operands_give_an_empty_result),
        cmocka_unit_test(no_rows_take_a_row),
    };

    return cmocka_run_group_tests_name("arith", tests, NULL, NULL);
}
