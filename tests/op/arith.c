/* SPDX-License-Identifier: MIT */
/*
 * tests/op/arith.c - builders of arithmetic and of functions of one element.
 */
#include "tests/op/node.h"

typedef struct ggml_tensor *(*unary_fn)(
    struct ggml_context *, struct ggml_tensor *);
typedef struct ggml_tensor *(*binary_fn)(
    struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *);

static void
arithmetic_repeats_b_into_a(void **state)
{
    static const struct {
        enum ggml_op op;
        const char *word;
        binary_fn fresh, inplace;
    } cases[] = {
        { GGML_OP_ADD, "add", ggml_add, ggml_add_inplace },
        { GGML_OP_SUB, "sub", ggml_sub, ggml_sub_inplace },
        { GGML_OP_MUL, "mul", ggml_mul, ggml_mul_inplace },
        { GGML_OP_DIV, "div", ggml_div, ggml_div_inplace },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ggml_tensor *a = leaf(GGML_TYPE_F16, 8, 6, 4, 2);
        struct ggml_tensor *b = f32(4, 1, 2, 1);
        struct ggml_tensor *none = f32(8, 0, 4, 2);
        const struct want want = { .op = cases[i].op,
                                   .type = GGML_TYPE_F16,
                                   .ne = { 8, 6, 4, 2 },
                                   .src = { a, b } };

        check_new(cases[i].fresh(world.ctx, a, b), &want);
        check_inplace(cases[i].inplace(world.ctx, a, b), &want);
        check_new(cases[i].fresh(world.ctx, none, none),
                  &(struct want){ .op = cases[i].op,
                                  .ne = { 8, 0, 4, 2 },
                                  .src = { none, none } });
        check_refused(cases[i].fresh(world.ctx, b, a), cases[i].word);
        check_refused(cases[i].fresh(world.ctx, a, f32(3, 1, 1, 1)),
                      cases[i].word);
        check_refused(cases[i].inplace(world.ctx, a, none), cases[i].word);
    }
}

static void
add_cast_gives_another_type(void **state)
{
    struct ggml_tensor *a = leaf(GGML_TYPE_Q8_0, 64, 6, 4, 2);
    struct ggml_tensor *b = f32(64, 1, 2, 1);

    (void)state;
    check_new(ggml_add_cast(world.ctx, a, b, GGML_TYPE_F32),
              &(struct want){ .op = GGML_OP_ADD,
                              .ne = { 64, 6, 4, 2 },
                              .src = { a, b } });
    check_refused(ggml_add_cast(world.ctx, b, b, GGML_TYPE_F32), "add_cast");
    check_refused(
        ggml_add_cast(world.ctx, a, f32(32, 1, 1, 1), GGML_TYPE_F32),
        "add_cast");
    check_refused(ggml_add_cast(world.ctx, a, b, (enum ggml_type)4), "add");
    check_refused(ggml_add_cast(world.ctx, a, b, GGML_TYPE_COUNT), "add");
    check_refused(ggml_add_cast(world.ctx, a, b, GGML_TYPE_Q4_K), "add");
}

/* Rows at one distance, planes at another one than n1 times that. */
static struct ggml_tensor *
padded_planes(void)
{
    struct ggml_tensor *a = f32(8, 6, 4, 1);

    return ggml_view_3d(world.ctx, a, 8, 4, 4, a->nb[1], a->nb[2], 0);
}

static void
add1_takes_one_number(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(1, 1, 1, 1);
    const struct want want = { .op = GGML_OP_ADD1,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a, b } };

    (void)state;
    check_new(ggml_add1(world.ctx, a, b), &want);
    check_inplace(ggml_add1_inplace(world.ctx, a, b), &want);
    check_refused(ggml_add1(world.ctx, a, f32(1, 2, 1, 1)), "add1");
    check_refused(ggml_add1(world.ctx, a, f32(0, 1, 1, 1)), "add1");
    check_refused(ggml_add1_inplace(world.ctx, padded_planes(), b), "add1");
    check_refused(ggml_add1(world.ctx, ggml_transpose(world.ctx, a), b),
                  "add1");
}

static void
scale_keeps_its_factor(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    const struct want want = { .op = GGML_OP_SCALE,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a },
                               .params = { bits(-2.5f) } };

    (void)state;
    check_new(ggml_scale(world.ctx, a, -2.5f), &want);
    check_inplace(ggml_scale_inplace(world.ctx, a, -2.5f), &want);
    check_refused(ggml_scale(world.ctx, padded_planes(), 2.0f), "scale");
    check_refused(ggml_scale_inplace(world.ctx, padded_planes(), 2.0f),
                  "scale");
}

static void
clamp_is_always_in_place(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2);

    (void)state;
    check_inplace(ggml_clamp(world.ctx, a, -1.0f, 2.0f),
                  &(struct want){ .op = GGML_OP_CLAMP,
                                  .ne = { 8, 6, 4, 2 },
                                  .src = { a },
                                  .params = { bits(-1.0f), bits(2.0f) } });
}

static void
leaky_relu_is_in_place_on_demand(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    const struct want want = { .op = GGML_OP_LEAKY_RELU,
                               .ne = { 8, 6, 4, 2 },
                               .src = { a },
                               .params = { bits(0.25f) } };

    (void)state;
    check_new(ggml_leaky_relu(world.ctx, a, 0.25f, false), &want);
    check_inplace(ggml_leaky_relu(world.ctx, a, 0.25f, true), &want);
}

static void
plain_functions_take_any_layout(void **state)
{
    static const struct {
        enum ggml_op op;
        unary_fn fresh, inplace;
    } cases[] = {
        { GGML_OP_SQR, ggml_sqr, ggml_sqr_inplace },
        { GGML_OP_SQRT, ggml_sqrt, ggml_sqrt_inplace },
        { GGML_OP_LOG, ggml_log, ggml_log_inplace },
        { GGML_OP_SIN, ggml_sin, ggml_sin_inplace },
        { GGML_OP_COS, ggml_cos, ggml_cos_inplace },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ggml_tensor *a = f32(8, 6, 4, 2);
        struct ggml_tensor *turned = ggml_permute(world.ctx, a, 2, 0, 1, 3);

        check_new(cases[i].fresh(world.ctx, turned),
                  &(struct want){ .op = cases[i].op,
                                  .ne = { 6, 4, 8, 2 },
                                  .src = { turned } });
        check_inplace(cases[i].inplace(world.ctx, a),
                      &(struct want){ .op = cases[i].op,
                                      .ne = { 8, 6, 4, 2 },
                                      .src = { a } });
    }
}

static void
unary_functions_need_whole_rows(void **state)
{
    static const struct {
        enum ggml_unary_op op;
        unary_fn fresh, inplace;
    } cases[] = {
        { GGML_UNARY_OP_ABS, ggml_abs, ggml_abs_inplace },
        { GGML_UNARY_OP_SGN, ggml_sgn, ggml_sgn_inplace },
        { GGML_UNARY_OP_NEG, ggml_neg, ggml_neg_inplace },
        { GGML_UNARY_OP_STEP, ggml_step, ggml_step_inplace },
        { GGML_UNARY_OP_TANH, ggml_tanh, ggml_tanh_inplace },
        { GGML_UNARY_OP_ELU, ggml_elu, ggml_elu_inplace },
        { GGML_UNARY_OP_RELU, ggml_relu, ggml_relu_inplace },
        { GGML_UNARY_OP_SIGMOID, ggml_sigmoid, ggml_sigmoid_inplace },
        { GGML_UNARY_OP_GELU, ggml_gelu, ggml_gelu_inplace },
        { GGML_UNARY_OP_GELU_QUICK, ggml_gelu_quick,
          ggml_gelu_quick_inplace },
        { GGML_UNARY_OP_SILU, ggml_silu, ggml_silu_inplace },
        { GGML_UNARY_OP_HARDSWISH, ggml_hardswish, NULL },
        { GGML_UNARY_OP_HARDSIGMOID, ggml_hardsigmoid, NULL },
        { GGML_UNARY_OP_EXP, ggml_exp, ggml_exp_inplace },
    };
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct ggml_tensor *wide = f32(24, 6, 4, 2);
    struct ggml_tensor *part = ggml_view_4d(
        world.ctx, wide, 8, 6, 4, 2, wide->nb[1], wide->nb[2], wide->nb[3], 0);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct want want = { .op = GGML_OP_UNARY,
                             .ne = { 8, 6, 4, 2 },
                             .src = { a },
                             .params = { (int32_t)cases[i].op } };

        check_new(cases[i].fresh(world.ctx, a), &want);
        check_new(ggml_unary(world.ctx, a, cases[i].op), &want);
        check_inplace(ggml_unary_inplace(world.ctx, a, cases[i].op), &want);
        if (cases[i].inplace != NULL)
            check_inplace(cases[i].inplace(world.ctx, a), &want);
        want.src[0] = part;
        check_new(cases[i].fresh(world.ctx, part), &want);
        check_refused(
            cases[i].fresh(world.ctx, ggml_transpose(world.ctx, a)), "unary");
    }
    check_refused(ggml_unary(world.ctx, a, GGML_UNARY_OP_COUNT), "unary");
    check_refused(ggml_unary_inplace(world.ctx, a, (enum ggml_unary_op)-1),
                  "unary");
}

static void
silu_back_needs_equal_shapes(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(8, 6, 4, 2);

    (void)state;
    check_new(ggml_silu_back(world.ctx, a, b),
              &(struct want){ .op = GGML_OP_SILU_BACK,
                              .ne = { 8, 6, 4, 2 },
                              .src = { a, b } });
    check_refused(ggml_silu_back(world.ctx, a, f32(8, 6, 4, 1)), "silu_back");
}

typedef struct ggml_tensor *(*part_fn)(
    struct ggml_context *, struct ggml_tensor *, struct ggml_tensor *, size_t,
    size_t, size_t, size_t);

static void
acc_and_set_stay_within_a(void **state)
{
    static const struct {
        enum ggml_op op;
        const char *word;
        part_fn fresh, inplace;
    } cases[] = {
        { GGML_OP_ACC, "acc", ggml_acc, ggml_acc_inplace },
        { GGML_OP_SET, "set", ggml_set, ggml_set_inplace },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const part_fn fresh = cases[i].fresh, inplace = cases[i].inplace;
        const char *const word = cases[i].word;
        struct ggml_tensor *a = f32(8, 6, 4, 2), *b = f32(4, 3, 2, 1);
        struct ggml_tensor *none = f32(4, 0, 1, 1);
        struct want want = { .op = cases[i].op,
                             .ne = { 8, 6, 4, 2 },
                             .src = { a, b },
                             .params = { 32, 192, 768, 64, 0 } };

        check_new(fresh(world.ctx, a, b, 32, 192, 768, 64), &want);
        want.params[4] = 1;
        check_inplace(inplace(world.ctx, a, b, 32, 192, 768, 64), &want);
        want.params[4] = 0;

        /* The last byte of a, and one more. */
        want.params[3] = 1536 - 2 * 32 - 192 - 16;
        check_new(
            fresh(world.ctx, a, b, 32, 192, 768, (size_t)want.params[3]),
            &want);
        check_refused(
            fresh(world.ctx, a, b, 32, 192, 768, (size_t)want.params[3] + 4),
            word);
        check_refused(inplace(world.ctx, a, b, 32, 1500, 768, 0), word);
        check_refused(fresh(world.ctx, a, b, SIZE_MAX, 192, 768, 0), word);
        check_refused(fresh(world.ctx, a, b, 1, (size_t)1 << 31, 1, 0), word);
        check_refused(fresh(world.ctx, a, b, 32, 192, 768, (size_t)1 << 30),
                      word);
        check_refused(fresh(world.ctx, a, b, 32, 192, 768, SIZE_MAX), word);
        check_refused(fresh(world.ctx, b, a, 16, 48, 96, 0), word);

        /* A stride that nobody takes may be anything. */
        want.params[2] = want.params[3] = 0;
        check_new(fresh(world.ctx, a, b, 32, 192, SIZE_MAX, 0), &want);
        /* Nothing lies within anything. */
        want.src[1] = none;
        want.params[0] = want.params[1] = want.params[2] = 1;
        check_new(fresh(world.ctx, a, none, 1, 1, 1, 0), &want);
    }
}

static void
acc_adds_f32_to_contiguous_f32(void **state)
{
    struct ggml_tensor *a = f32(8, 6, 1, 1), *b = f32(4, 3, 1, 1);

    (void)state;
    check_refused(ggml_acc(world.ctx, ggml_transpose(world.ctx, a), b, 16, 16,
                           16, 0),
                  "acc");
    check_refused(ggml_acc(world.ctx, leaf(GGML_TYPE_F16, 8, 6, 1, 1), b, 16,
                           16, 16, 0),
                  "acc");
    check_refused(ggml_acc_inplace(world.ctx, a,
                                   leaf(GGML_TYPE_F16, 4, 3, 1, 1), 16, 16,
                                   16, 0),
                  "acc");
}

static void
set_takes_missing_strides_from_a(void **state)
{
    struct ggml_tensor *a = leaf(GGML_TYPE_I32, 8, 6, 4, 2);
    struct ggml_tensor *b = leaf(GGML_TYPE_I32, 5, 1, 1, 1);
    struct ggml_tensor *c = leaf(GGML_TYPE_I32, 2, 3, 1, 1);
    struct want want = { .op = GGML_OP_SET,
                         .type = GGML_TYPE_I32,
                         .ne = { 8, 6, 4, 2 },
                         .src = { a, b },
                         .params = { 32, 192, 768, 12 } };

    (void)state;
    check_new(ggml_set_1d(world.ctx, a, b, 12), &want);
    want.params[4] = 1;
    check_inplace(ggml_set_1d_inplace(world.ctx, a, b, 12), &want);
    want.src[1] = c;
    want.params[0] = 40;
    check_inplace(ggml_set_2d_inplace(world.ctx, a, c, 40, 12), &want);
    want.params[4] = 0;
    check_new(ggml_set_2d(world.ctx, a, c, 40, 12), &want);
    check_refused(ggml_set_1d(world.ctx, a, b, 1520), "set");
    check_refused(ggml_set_2d_inplace(world.ctx, a, c, 800, 0), "set");
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(arithmetic_repeats_b_into_a),
        TEST(add_cast_gives_another_type),
        TEST(add1_takes_one_number),
        TEST(scale_keeps_its_factor),
        TEST(clamp_is_always_in_place),
        TEST(leaky_relu_is_in_place_on_demand),
        TEST(plain_functions_take_any_layout),
        TEST(unary_functions_need_whole_rows),
        TEST(silu_back_needs_equal_shapes),
        TEST(acc_and_set_stay_within_a),
        TEST(acc_adds_f32_to_contiguous_f32),
        TEST(set_takes_missing_strides_from_a),
    };

    return cmocka_run_group_tests_name("arithmetic", tests, NULL, NULL);
}
