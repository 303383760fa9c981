/* SPDX-License-Identifier: MIT */
/*
 * op/arith.c - builders of arithmetic on elements.
 */
#include "config.h"

#include "lib/op/build.h"

/* A op B, where B repeats into A. */
static struct ggml_tensor *
broadcast(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
          struct ggml_tensor *a, struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, gb_op_word(op), a, b);
    GB_NEED(ctx, ggml_can_repeat(b, a), "%s: b %s does not repeat into a %s",
            gb_op_word(op), GB_SHAPE(b), GB_SHAPE(a));
    return gb_op_like(ctx, op, place, GB_SRC(a, b));
}

struct ggml_tensor *
ggml_add(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_ADD, GB_OP_NEW, a, b);
}

struct ggml_tensor *
ggml_add_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_ADD, GB_OP_INPLACE, a, b);
}

struct ggml_tensor *
ggml_sub(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_SUB, GB_OP_NEW, a, b);
}

struct ggml_tensor *
ggml_sub_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_SUB, GB_OP_INPLACE, a, b);
}

struct ggml_tensor *
ggml_mul(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_MUL, GB_OP_NEW, a, b);
}

struct ggml_tensor *
ggml_mul_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_MUL, GB_OP_INPLACE, a, b);
}

struct ggml_tensor *
ggml_div(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_DIV, GB_OP_NEW, a, b);
}

struct ggml_tensor *
ggml_div_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    return broadcast(ctx, GGML_OP_DIV, GB_OP_INPLACE, a, b);
}

struct ggml_tensor *
ggml_add_cast(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b, enum ggml_type type)
{
    GB_NEED_SOURCES(ctx, "add_cast", a, b);
    GB_NEED(ctx, a->ne[0] == b->ne[0] && ggml_can_repeat(b, a),
            "add_cast: b %s does not repeat its rows into a %s", GB_SHAPE(b),
            GB_SHAPE(a));
    GB_NEED(ctx,
            ggml_is_quantized(a->type) || a->type == GGML_TYPE_F16 ||
                a->type == GGML_TYPE_BF16,
            "add_cast: a has type %s and not a quantised, f16 or bf16 one",
            ggml_type_name(a->type));
    return gb_op_new(ctx, GGML_OP_ADD, type, a->ne, GB_SRC(a, b));
}

static struct ggml_tensor *
add_scalar(struct ggml_context *ctx, enum gb_op_place place,
           struct ggml_tensor *a, struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "add1", a, b);
    GB_NEED(ctx, ggml_is_scalar(b), "add1: b has shape %s and is no scalar",
            GB_SHAPE(b));
    GB_NEED(ctx, gb_is_padded_1d(a),
            "add1: the rows of a %s are not at one distance", GB_SHAPE(a));
    return gb_op_like(ctx, GGML_OP_ADD1, place, GB_SRC(a, b));
}

struct ggml_tensor *
ggml_add1(struct ggml_context *ctx, struct ggml_tensor *a,
          struct ggml_tensor *b)
{
    return add_scalar(ctx, GB_OP_NEW, a, b);
}

struct ggml_tensor *
ggml_add1_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *b)
{
    return add_scalar(ctx, GB_OP_INPLACE, a, b);
}

static struct ggml_tensor *
scale(struct ggml_context *ctx, enum gb_op_place place, struct ggml_tensor *a,
      float s)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "scale", a);
    GB_NEED(ctx, gb_is_padded_1d(a),
            "scale: the rows of a %s are not at one distance", GB_SHAPE(a));
    node = gb_op_like(ctx, GGML_OP_SCALE, place, GB_SRC(a));
    gb_op_set_f32(node, 0, s);
    return node;
}

struct ggml_tensor *
ggml_scale(struct ggml_context *ctx, struct ggml_tensor *a, float s)
{
    return scale(ctx, GB_OP_NEW, a, s);
}

struct ggml_tensor *
ggml_scale_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float s)
{
    return scale(ctx, GB_OP_INPLACE, a, s);
}

struct ggml_tensor *
ggml_clamp(struct ggml_context *ctx, struct ggml_tensor *a, float min,
           float max)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "clamp", a);
    node = gb_op_like(ctx, GGML_OP_CLAMP, GB_OP_INPLACE, GB_SRC(a));
    gb_op_set_f32(node, 0, min);
    gb_op_set_f32(node, 1, max);
    return node;
}
