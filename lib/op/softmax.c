/* SPDX-License-Identifier: MIT */
/*
 * op/softmax.c - builders of soft maxima.
 */
#include "config.h"

#include "lib/op/build.h"

static struct ggml_tensor *
soft_max(struct ggml_context *ctx, enum gb_op_place place,
         struct ggml_tensor *a, struct ggml_tensor *mask, float scale,
         float max_bias)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "soft_max", a, GB_OR(mask, a));
    GB_NEED(ctx, ggml_is_contiguous(a), "soft_max: a %s is not contiguous",
            GB_SHAPE(a));
    if (mask != NULL) {
        GB_NEED(ctx,
                mask->type == GGML_TYPE_F16 || mask->type == GGML_TYPE_F32,
                "soft_max: the mask has type %s, not f16 or f32",
                ggml_type_name(mask->type));
        GB_NEED(ctx,
                ggml_is_contiguous(mask) && ggml_is_matrix(mask) &&
                    mask->ne[0] == a->ne[0] && mask->ne[1] >= a->ne[1],
                "soft_max: the mask %s is no contiguous matrix for a %s",
                GB_SHAPE(mask), GB_SHAPE(a));
    }
    GB_NEED(ctx, !(max_bias > 0.0f) || mask != NULL,
            "soft_max: max_bias is %g, and there is no mask",
            (double)max_bias);
    node = gb_op_like(ctx, GGML_OP_SOFT_MAX, place, GB_SRC(a, mask));
    gb_op_set_f32(node, 0, scale);
    gb_op_set_f32(node, 1, max_bias);
    return node;
}

struct ggml_tensor *
ggml_soft_max(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return soft_max(ctx, GB_OP_NEW, a, NULL, 1.0f, 0.0f);
}

struct ggml_tensor *
ggml_soft_max_inplace(struct ggml_context *ctx, struct ggml_tensor *a)
{
    return soft_max(ctx, GB_OP_INPLACE, a, NULL, 1.0f, 0.0f);
}

struct ggml_tensor *
ggml_soft_max_ext(struct ggml_context *ctx, struct ggml_tensor *a,
                  struct ggml_tensor *mask, float scale, float max_bias)
{
    return soft_max(ctx, GB_OP_NEW, a, mask, scale, max_bias);
}

static struct ggml_tensor *
soft_max_back(struct ggml_context *ctx, enum gb_op_place place,
              struct ggml_tensor *a, struct ggml_tensor *b, float scale,
              float max_bias)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "soft_max_back", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "soft_max_back: a has shape %s, b %s", GB_SHAPE(a), GB_SHAPE(b));
    node = gb_op_like(ctx, GGML_OP_SOFT_MAX_BACK, place, GB_SRC(a, b));
    gb_op_set_f32(node, 0, scale);
    gb_op_set_f32(node, 1, max_bias);
    return node;
}

struct ggml_tensor *
ggml_soft_max_ext_back(struct ggml_context *ctx, struct ggml_tensor *a,
                       struct ggml_tensor *b, float scale, float max_bias)
{
    return soft_max_back(ctx, GB_OP_NEW, a, b, scale, max_bias);
}

struct ggml_tensor *
ggml_soft_max_ext_back_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                               struct ggml_tensor *b, float scale,
                               float max_bias)
{
    return soft_max_back(ctx, GB_OP_INPLACE, a, b, scale, max_bias);
}
