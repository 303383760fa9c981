/* SPDX-License-Identifier: MIT */
/*
 * tests/op/conv.c - builders of convolutions and pooling.
 */
#include "tests/op/node.h"

#include <math.h>

/* A node of OP and TYPE with these sizes and the sources A and B. */
static struct want
wanted(enum ggml_op op, enum ggml_type type, const int64_t ne[GGML_MAX_DIMS],
       struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct want want = { .op = op, .type = type, .src = { a, b } };

    memcpy(want.ne, ne, sizeof(want.ne));
    return want;
}

#define NE(...) ((const int64_t[GGML_MAX_DIMS]){ __VA_ARGS__ })

/* NODE is a view of op RESHAPE of a node of OP, which is given back. */
static struct ggml_tensor *
reshaped(struct ggml_tensor *node, const int64_t ne[GGML_MAX_DIMS],
         enum ggml_op op)
{
    assert_non_null(node);
    assert_int_equal(node->op, GGML_OP_RESHAPE);
    assert_memory_equal(node->ne, ne, sizeof(node->ne));
    assert_int_equal(node->src[0]->op, op);
    return node->src[0];
}

static void
im2col_2d_has_a_column_for_each_place(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 2, 4, 5), *b = f32(10, 9, 4, 2);
    struct want want = wanted(GGML_OP_IM2COL, GGML_TYPE_F16, NE(24, 5, 10, 2),
                              a, b);
    struct ggml_tensor *g = f32(24, 5, 10, 2);

    (void)state;
    memcpy(want.params, (int32_t[]){ 2, 1, 1, 2, 1, 3, 1 }, 28);
    check_new(ggml_im2col(ctx, a, b, 2, 1, 1, 2, 1, 3, true, GGML_TYPE_F16),
              &want);
    want.op = GGML_OP_IM2COL_BACK;
    want.type = GGML_TYPE_F32;
    want.src[0] = g;
    want.src[1] = a;
    memcpy(want.ne, b->ne, sizeof(want.ne));
    check_new(ggml_im2col_back(ctx, g, a, b->ne, 2, 1, 1, 2, 1, 3, true),
              &want);
}

static void
im2col_1d_takes_the_second_dimension_for_channels(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 4, 5, 1), *b = f32(10, 4, 2, 1);
    struct want want = wanted(GGML_OP_IM2COL, GGML_TYPE_F32, NE(12, 4, 2, 1),
                              a, b);

    (void)state;
    memcpy(want.params, (int32_t[]){ 2, 0, 1, 0, 2, 0, 0 }, 28);
    check_new(ggml_im2col(ctx, a, b, 2, 0, 1, 0, 2, 0, false, GGML_TYPE_F32),
              &want);
    want.op = GGML_OP_IM2COL_BACK;
    want.src[0] = f32(12, 4, 2, 1);
    want.src[1] = a;
    memcpy(want.ne, b->ne, sizeof(want.ne));
    check_new(
        ggml_im2col_back(ctx, want.src[0], a, b->ne, 2, 0, 1, 0, 2, 0, false),
        &want);
}

static void
im2col_2d_refuses(struct ggml_tensor *a, struct ggml_tensor *b, int s, int p,
                  int d)
{
    check_refused(ggml_im2col(world.ctx, a, b, s, s, p, p, d, d, true,
                              GGML_TYPE_F32),
                  "im2col");
    check_refused(ggml_conv_2d(world.ctx, a, b, s, s, p, p, d, d), "im2col");
}

static void
kernels_fit_their_image(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 2, 4, 5), *b = f32(10, 9, 4, 2);
    struct ggml_tensor *wide = f32(0, LARGEST, 4, 0);

    (void)state;
    im2col_2d_refuses(a, f32(10, 9, 3, 2), 1, 0, 1);
    im2col_2d_refuses(a, b, 0, 0, 1);
    im2col_2d_refuses(a, b, -1, 0, 1);
    im2col_2d_refuses(a, b, 1, 0, 0);
    im2col_2d_refuses(a, b, 1, 0, 5);
    im2col_2d_refuses(a, b, 1, -4, 1);
    im2col_2d_refuses(a, b, 1, 0, INT32_MAX);
    /* One place too few, whatever the stride. */
    im2col_2d_refuses(a, f32(2, 9, 4, 2), 2, 0, 1);
    im2col_2d_refuses(a, wide, 1, 0, 1);
    im2col_2d_refuses(wide, b, 1, 0, 2);
    check_refused(ggml_im2col(ctx, a, b, 1, 1, 0, 0, 1, 1, true,
                              GGML_TYPE_COUNT),
                  "im2col");
    check_refused(ggml_im2col(ctx, a, b, 1, 0, 0, 0, 1, 0, false,
                              GGML_TYPE_F32),
                  "im2col");
    check_refused(ggml_im2col(ctx, f32(3, 9, 4, 1), b, 1, 0, 0, 0, 1, 0,
                              false, GGML_TYPE_F32),
                  "im2col");
}

static void
im2col_back_needs_the_shape_of_im2col(void **state)
{
    static const char word[] = "im2col_back";
    static const int64_t none[] = { 10, 9, 4, -2 };
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 2, 4, 5), *b = f32(10, 9, 4, 2);
    struct ggml_tensor *g = f32(24, 8, 8, 2);
    int64_t ne[GGML_MAX_DIMS];

    (void)state;
    assert_false(gb_tensor_is_failed(
        ggml_im2col_back(ctx, g, a, b->ne, 1, 1, 0, 0, 1, 1, true)));
    check_refused(ggml_im2col_back(ctx, g, a, NULL, 1, 1, 0, 0, 1, 1, true),
                  word);
    check_refused(ggml_im2col_back(ctx, g, a, b->ne, 1, 1, 1, 0, 1, 1, true),
                  word);
    check_refused(ggml_im2col_back(ctx, g, a, b->ne, 1, 1, 0, 0, 1, 1, false),
                  word);
    check_refused(ggml_im2col_back(ctx, f32(24, 8, 8, 1), a, b->ne, 1, 1, 0, 0,
                                   1, 1, true),
                  word);
    memcpy(ne, none, sizeof(ne));
    check_refused(ggml_im2col_back(ctx, g, a, ne, 1, 1, 0, 0, 1, 1, true),
                  word);
}

static void
conv_1d_is_a_product_with_columns(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 4, 5, 1);
    struct ggml_tensor *b = f32(10, 4, 2, 1), *product, *columns;
    struct want want;

    (void)state;
    product = reshaped(ggml_conv_1d(ctx, a, b, 2, 1, 2), NE(4, 5, 2, 1),
                       GGML_OP_MUL_MAT);
    columns = reshaped(product->src[0], NE(12, 8, 1, 1), GGML_OP_IM2COL);
    want = wanted(GGML_OP_IM2COL, GGML_TYPE_F16, NE(12, 4, 2, 1), a, b);
    memcpy(want.params, (int32_t[]){ 2, 0, 1, 0, 2, 0, 0 }, 28);
    check_new(columns, &want);
    assert_ptr_equal(reshaped(product->src[1], NE(12, 5, 1, 1), GGML_OP_NONE),
                     a);

    /* Half of three is one. */
    product = ggml_conv_1d_ph(ctx, a, b, 1, 1)->src[0];
    columns = product->src[0]->src[0];
    assert_memory_equal(columns->op_params,
                        ((int32_t[]){ 1, 0, 1, 0, 1, 0, 0 }), 28);
    check_refused(ggml_conv_1d(ctx, a, f32(10, 3, 2, 1), 1, 1, 1), "im2col");
    check_refused(ggml_conv_1d(ctx, a, b, 0, 1, 1), "im2col");
    check_refused(ggml_conv_1d(ctx, ggml_transpose(ctx, f32(4, 3, 5, 1)), b, 1,
                               1, 1),
                  "reshape");
}

static void
conv_1d_dw_keeps_channels_apart(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 1, 4, 1);
    struct ggml_tensor *b = f32(10, 4, 1, 1), *product, *columns;
    struct want want;

    (void)state;
    product = reshaped(ggml_conv_1d_dw(ctx, a, b, 1, 1, 1), NE(10, 4, 1, 1),
                       GGML_OP_MUL_MAT);
    columns = product->src[0];
    assert_ptr_equal(product->src[1], a);
    want = wanted(GGML_OP_IM2COL, GGML_TYPE_F16, NE(3, 10, 4, 1),
                  columns->src[0], columns->src[1]);
    memcpy(want.params, (int32_t[]){ 1, 0, 1, 0, 1, 0, 0 }, 28);
    check_new(columns, &want);
    assert_ptr_equal(
        reshaped(columns->src[0], NE(3, 1, 1, 4), GGML_OP_NONE), a);
    assert_ptr_equal(
        reshaped(columns->src[1], NE(10, 1, 4, 1), GGML_OP_NONE), b);
    reshaped(ggml_conv_1d_dw_ph(ctx, a, b, 1, 1), NE(10, 4, 1, 1),
             GGML_OP_MUL_MAT);
    /* The length has to stay. */
    check_refused(ggml_conv_1d_dw(ctx, a, b, 1, 0, 1), "reshape");
}

static void
conv_2d_is_a_product_with_columns(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 2, 4, 5);
    struct ggml_tensor *b = f32(10, 9, 4, 2), *node, *product, *columns;
    struct want want;

    (void)state;
    node = ggml_conv_2d(ctx, a, b, 2, 1, 1, 2, 1, 3);
    assert_int_equal(node->op, GGML_OP_CONT);
    assert_memory_equal(node->ne, NE(5, 10, 5, 2), sizeof(node->ne));
    assert_int_equal(node->src[0]->op, GGML_OP_PERMUTE);
    assert_memory_equal(node->src[0]->op_params, ((int32_t[]){ 0, 1, 3, 2 }),
                        16);
    product = reshaped(node->src[0]->src[0], NE(5, 10, 2, 5),
                       GGML_OP_MUL_MAT);
    columns = reshaped(product->src[0], NE(24, 100, 1, 1), GGML_OP_IM2COL);
    want = wanted(GGML_OP_IM2COL, GGML_TYPE_F16, NE(24, 5, 10, 2), a, b);
    memcpy(want.params, (int32_t[]){ 2, 1, 1, 2, 1, 3, 1 }, 28);
    check_new(columns, &want);
    assert_ptr_equal(reshaped(product->src[1], NE(24, 5, 1, 1), GGML_OP_NONE),
                     a);
}

/* The im2col that a 2D convolution is built on. */
static const struct ggml_tensor *
columns_of(const struct ggml_tensor *node)
{
    assert_int_equal(node->op, GGML_OP_CONT);
    return node->src[0]->src[0]->src[0]->src[0]->src[0];
}

static void
conv_2d_knows_usual_strides(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 2, 4, 5), *b = f32(10, 9, 4, 2);

    (void)state;
    assert_memory_equal(columns_of(ggml_conv_2d_sk_p0(ctx, a, b))->op_params,
                        ((int32_t[]){ 3, 2, 0, 0, 1, 1, 1 }), 28);
    assert_memory_equal(columns_of(ggml_conv_2d_s1_ph(ctx, a, b))->op_params,
                        ((int32_t[]){ 1, 1, 1, 1, 1, 1, 1 }), 28);
}

static void
kernels_too_large_for_parameters_are_refused(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_I8, (int64_t)3 << 30, 1, 1, 1);
    struct ggml_tensor *b = f32(10, 1, 1, 1);

    (void)state;
    check_refused(ggml_conv_1d_ph(ctx, a, b, 1, 1), "conv_1d");
    check_refused(ggml_conv_1d_dw_ph(ctx, a, b, 1, 1), "conv_1d_dw");
    check_refused(ggml_conv_2d_sk_p0(ctx, a, b), "conv_2d");
    check_refused(ggml_conv_2d_s1_ph(ctx, ggml_transpose(ctx, a), b),
                  "conv_2d");
}

static void
conv_2d_dw_keeps_channels_apart(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 2, 1, 4);
    struct ggml_tensor *b = f32(10, 9, 4, 2), *product, *columns, *kernel;
    struct want want;

    (void)state;
    product = reshaped(ggml_conv_2d_dw(ctx, a, b, 2, 1, 1, 0, 1, 1),
                       NE(5, 8, 4, 2), GGML_OP_MUL_MAT);
    kernel = reshaped(product->src[0], NE(6, 1, 4, 1), GGML_OP_RESHAPE);
    assert_ptr_equal(reshaped(kernel, NE(3, 2, 1, 4), GGML_OP_NONE), a);
    columns = reshaped(product->src[1], NE(6, 40, 4, 2), GGML_OP_IM2COL);
    assert_ptr_equal(columns->src[0], kernel);
    want = wanted(GGML_OP_IM2COL, GGML_TYPE_F16, NE(6, 5, 8, 8), kernel,
                  columns->src[1]);
    memcpy(want.params, (int32_t[]){ 2, 1, 1, 0, 1, 1, 1 }, 28);
    check_new(columns, &want);
    check_refused(ggml_conv_2d_dw(ctx, f32(3, 2, 1, 5), b, 1, 1, 0, 0, 1, 1),
                  "mul_mat");
}

static void
conv_transpose_1d_spreads(void **state)
{
    static const char word[] = "conv_transpose_1d";
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(3, 5, 4, 1), *b = f32(10, 4, 1, 1);
    struct want want = wanted(GGML_OP_CONV_TRANSPOSE_1D, GGML_TYPE_F32,
                              NE(21, 5, 1, 1), a, b);

    (void)state;
    want.params[0] = 2;
    want.params[2] = 1;
    check_new(ggml_conv_transpose_1d(ctx, a, b, 2, 0, 1), &want);
    check_refused(ggml_conv_transpose_1d(ctx, a, b, 0, 0, 1), word);
    check_refused(ggml_conv_transpose_1d(ctx, a, b, 2, 1, 1), word);
    check_refused(ggml_conv_transpose_1d(ctx, a, b, 2, 0, 2), word);
    check_refused(ggml_conv_transpose_1d(ctx, a, f32(10, 3, 1, 1), 2, 0, 1),
                  word);
    check_refused(ggml_conv_transpose_1d(ctx, a, f32(10, 4, 2, 1), 2, 0, 1),
                  word);
    check_refused(ggml_conv_transpose_1d(ctx, a, f32(0, 4, 1, 1), 2, 0, 1),
                  word);
    check_refused(ggml_conv_transpose_1d(ctx, f32(3, 5, 4, 2), b, 2, 0, 1),
                  word);
    check_refused(
        ggml_conv_transpose_1d(ctx, a, leaf(GGML_TYPE_I8, LARGEST / 4, 4, 1, 1),
                               INT32_MAX, 0, 1),
        word);
}

static void
conv_transpose_2d_spreads(void **state)
{
    static const char word[] = "conv_transpose_2d";
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 3, 2, 5, 4);
    struct ggml_tensor *b = f32(10, 9, 4, 2);
    struct want want = wanted(GGML_OP_CONV_TRANSPOSE_2D, GGML_TYPE_F32,
                              NE(30, 26, 5, 2), a, b);

    (void)state;
    want.params[0] = 3;
    check_new(ggml_conv_transpose_2d_p0(ctx, a, b, 3), &want);
    check_refused(ggml_conv_transpose_2d_p0(ctx, a, b, 0), word);
    check_refused(ggml_conv_transpose_2d_p0(ctx, a, f32(10, 9, 3, 2), 3),
                  word);
    check_refused(ggml_conv_transpose_2d_p0(ctx, a, f32(10, 0, 4, 2), 3),
                  word);
}

static void
pool_1d_cuts_sizes(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = leaf(GGML_TYPE_F16, 8, 6, 4, 2);
    struct want want = wanted(GGML_OP_POOL_1D, GGML_TYPE_F32, NE(4, 6, 4, 2),
                              a, NULL);

    (void)state;
    memcpy(want.params, (int32_t[]){ 1, 2, 2, 0 }, 16);
    check_new(ggml_pool_1d(ctx, a, GGML_OP_POOL_AVG, 2, 2, 0), &want);
    memcpy(want.params, (int32_t[]){ 0, 3, 2, 1 }, 16);
    check_new(ggml_pool_1d(ctx, a, GGML_OP_POOL_MAX, 3, 2, 1), &want);
    want.ne[0] = 0;
    memcpy(want.params, (int32_t[]){ 0, 9, 2, 0 }, 16);
    check_new(ggml_pool_1d(ctx, a, GGML_OP_POOL_MAX, 9, 2, 0), &want);
    check_refused(ggml_pool_1d(ctx, a, GGML_OP_POOL_COUNT, 2, 2, 0),
                  "pool_1d");
    check_refused(ggml_pool_1d(ctx, a, GGML_OP_POOL_AVG, 0, 2, 0), "pool_1d");
    check_refused(ggml_pool_1d(ctx, a, GGML_OP_POOL_AVG, 2, 0, 0), "pool_1d");
    check_refused(ggml_pool_1d(ctx, a, GGML_OP_POOL_AVG, 2, 2, -1), "pool_1d");
    check_refused(ggml_pool_1d(ctx, a, GGML_OP_POOL_AVG, 12, 2, 0), "pool_1d");
}

static void
pool_2d_counts_half_a_padding(void **state)
{
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(8, 6, 4, 2);
    struct want want = wanted(GGML_OP_POOL_2D, GGML_TYPE_F32, NE(4, 8, 4, 2),
                              a, NULL);

    (void)state;
    memcpy(want.params, (int32_t[]){ 0, 3, 2, 2, 1, 0, 1 }, 28);
    check_new(ggml_pool_2d(ctx, a, GGML_OP_POOL_MAX, 3, 2, 2, 1, 0.5f, 1.5f),
              &want);
    memcpy(want.params, (int32_t[]){ 1, 3, 3, 1, 1, 1, 1 }, 28);
    memcpy(want.ne, NE(8, 6, 4, 2), sizeof(want.ne));
    check_new(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 3, 1, 1, 1, 1), &want);
    check_refused(
        ggml_pool_2d(ctx, a, (enum ggml_op_pool)-1, 3, 3, 1, 1, 1, 1),
        "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 0, 1, 1, 1, 1),
                  "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 3, 0, 1, 1, 1),
                  "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 3, 1, 1, -1, 1),
                  "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 3, 1, 1, 1, NAN),
                  "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 3, 1, 1, 1e20f, 1),
                  "pool_2d");
    check_refused(ggml_pool_2d(ctx, a, GGML_OP_POOL_AVG, 3, 9, 1, 1, 1, 0),
                  "pool_2d");
}

static void
pool_2d_back_needs_the_shape_of_pool_2d(void **state)
{
    static const char word[] = "pool_2d_back";
    struct ggml_context *ctx = world.ctx;
    struct ggml_tensor *a = f32(4, 8, 4, 2), *af = f32(8, 6, 4, 2);
    struct want want = wanted(GGML_OP_POOL_2D_BACK, GGML_TYPE_F32,
                              NE(8, 6, 4, 2), a, af);

    (void)state;
    memcpy(want.params, (int32_t[]){ 0, 3, 2, 2, 1, 0, 1 }, 28);
    check_new(ggml_pool_2d_back(ctx, a, af, GGML_OP_POOL_MAX, 3, 2, 2, 1, 0.5f,
                                1.5f),
              &want);
    check_refused(ggml_pool_2d_back(ctx, a, af, GGML_OP_POOL_MAX, 3, 2, 2, 1,
                                    1.5f, 1.5f),
                  word);
    check_refused(ggml_pool_2d_back(ctx, f32(4, 8, 4, 1), af, GGML_OP_POOL_MAX,
                                    3, 2, 2, 1, 0.5f, 1.5f),
                  word);
    check_refused(ggml_pool_2d_back(ctx, a, af, GGML_OP_POOL_COUNT, 3, 2, 2, 1,
                                    0.5f, 1.5f),
                  word);
    check_refused(ggml_pool_2d_back(ctx, a, af, GGML_OP_POOL_MAX, 3, 2, 0, 1,
                                    0.5f, 1.5f),
                  word);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        TEST(im2col_2d_has_a_column_for_each_place),
        TEST(im2col_1d_takes_the_second_dimension_for_channels),
        TEST(kernels_fit_their_image),
        TEST(im2col_back_needs_the_shape_of_im2col),
        TEST(conv_1d_is_a_product_with_columns),
        TEST(conv_1d_dw_keeps_channels_apart),
        TEST(conv_2d_is_a_product_with_columns),
        TEST(conv_2d_knows_usual_strides),
        TEST(kernels_too_large_for_parameters_are_refused),
        TEST(conv_2d_dw_keeps_channels_apart),
        TEST(conv_transpose_1d_spreads),
        TEST(conv_transpose_2d_spreads),
        TEST(pool_1d_cuts_sizes),
        TEST(pool_2d_counts_half_a_padding),
        TEST(pool_2d_back_needs_the_shape_of_pool_2d),
    };

    return cmocka_run_group_tests_name("convolutions", tests, NULL, NULL);
}
