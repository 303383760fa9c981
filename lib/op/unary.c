/* SPDX-License-Identifier: MIT */
/*
 * op/unary.c - builders of functions of one element.
 */
#include "config.h"

#include "lib/op/build.h"

/* A function that is an operation of its own and takes any layout. */
static struct ggml_tensor *
map(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
    struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, gb_op_word(op), a);
    return gb_op_like(ctx, op, place, GB_SRC(a));
}

struct ggml_tensor *
ggml_sqr(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SQR, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_sqr_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SQR, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_sqrt(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SQRT, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_sqrt_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SQRT, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_log(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_LOG, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_log_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_LOG, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_sin(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SIN, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_sin_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_SIN, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_cos(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_COS, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_cos_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return map(ctx, GGML_OP_COS, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_leaky_relu(struct ggml_context *ctx, struct ggml_tensor *a,
                float negative_slope, bool inplace)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "leaky_relu", a);
    node = map(ctx, GGML_OP_LEAKY_RELU, inplace ? GB_OP_INPLACE : GB_OP_NEW, a);
    gb_op_set_f32(node, 0, negative_slope);
    return node;
}

struct ggml_tensor *
ggml_silu_back(struct ggml_context *ctx, struct ggml_tensor *a,
               struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "silu_back", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "silu_back: a has shape %s, b %s", GB_SHAPE(a), GB_SHAPE(b));
    return gb_op_like(ctx, GGML_OP_SILU_BACK, GB_OP_NEW, GB_SRC(a, b));
}

/* A function of operation UNARY. */
static struct ggml_tensor *
unary(struct ggml_context *ctx, enum ggml_unary_op op, enum gb_op_place place,
      struct ggml_tensor *a)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "unary", a);
    GB_NEED(ctx, gb_op_is_unary(op), "unary: no function %d", (int)op);
    GB_NEED(ctx, ggml_is_contiguous_1(a),
            "unary: the elements of a %s do not lie row by row", GB_SHAPE(a));
    node = gb_op_like(ctx, GGML_OP_UNARY, place, GB_SRC(a));
    gb_op_set_i32(node, 0, (int32_t)op);
    return node;
}

struct ggml_tensor *
ggml_unary(struct ggml_context *ctx, struct ggml_tensor *a,
           enum ggml_unary_op op)
{
    return unary(ctx, op, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_unary_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                   enum ggml_unary_op op)
{
    return unary(ctx, op, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_abs(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_ABS, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_abs_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_ABS, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_sgn(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SGN, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_sgn_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SGN, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_neg(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_NEG, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_neg_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_NEG, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_step(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_STEP, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_step_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_STEP, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_tanh(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_TANH, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_tanh_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_TANH, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_elu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_ELU, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_elu_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_ELU, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_relu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_RELU, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_relu_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_RELU, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_sigmoid(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SIGMOID, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_sigmoid_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SIGMOID, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_gelu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_GELU, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_gelu_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_GELU, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_gelu_quick(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_GELU_QUICK, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_gelu_quick_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_GELU_QUICK, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_silu(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SILU, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_silu_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_SILU, GB_OP_INPLACE, a);
}

struct ggml_tensor *
ggml_hardswish(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_HARDSWISH, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_hardsigmoid(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_HARDSIGMOID, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_exp(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_EXP, GB_OP_NEW, a);
}

struct ggml_tensor *
ggml_exp_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return unary(ctx, GGML_UNARY_OP_EXP, GB_OP_INPLACE, a);
}
