/* SPDX-License-Identifier: MIT */
/*
 * op/norm.c - builders of normalisations.
 */
#include "config.h"

#include "lib/op/build.h"

/* Each row by itself. */
static struct ggml_tensor *
norm(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
     struct ggml_tensor *a, float eps)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, gb_op_word(op), a);
    GB_NEED(ctx, eps >= 0.0f, "%s: eps is %g", gb_op_word(op), (double)eps);
    node = gb_op_like(ctx, op, place, GB_SRC(a));
    gb_op_set_f32(node, 0, eps);
    return node;
}

struct ggml_tensor *
ggml_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_NORM, GB_OP_NEW, a, eps);
}

struct ggml_tensor *
ggml_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_NORM, GB_OP_INPLACE, a, eps);
}

struct ggml_tensor *
ggml_rms_norm(struct ggml_context *ctx, struct ggml_tensor *a, float eps)
{
    return norm(ctx, GGML_OP_RMS_NORM, GB_OP_NEW, a, eps);
}

struct ggml_tensor *
ggml_rms_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                      float eps)
{
    return norm(ctx, GGML_OP_RMS_NORM, GB_OP_INPLACE, a, eps);
}

struct ggml_tensor *
ggml_rms_norm_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, float eps)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "rms_norm_back", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "rms_norm_back: a has shape %s, b %s", GB_SHAPE(a), GB_SHAPE(b));
    GB_NEED(ctx, eps >= 0.0f, "rms_norm_back: eps is %g", (double)eps);
    node = gb_op_like(ctx, GGML_OP_RMS_NORM_BACK, GB_OP_NEW, GB_SRC(a, b));
    gb_op_set_f32(node, 0, eps);
    return node;
}

/* Groups of planes together. */
static struct ggml_tensor *
group_norm(struct ggml_context *ctx, enum gb_op_place place,
           struct ggml_tensor *a, int n_groups, float eps)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "group_norm", a);
    GB_NEED(ctx, n_groups > 0 && eps >= 0.0f,
            "group_norm: %d groups, eps is %g", n_groups, (double)eps);
    node = gb_op_like(ctx, GGML_OP_GROUP_NORM, place, GB_SRC(a));
    gb_op_set_i32(node, 0, n_groups);
    gb_op_set_f32(node, 1, eps);
    return node;
}

struct ggml_tensor *
ggml_group_norm(struct ggml_context *ctx, struct ggml_tensor *a, int n_groups,
                float eps)
{
    return group_norm(ctx, GB_OP_NEW, a, n_groups, eps);
}

struct ggml_tensor *
ggml_group_norm_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                        int n_groups, float eps)
{
    return group_norm(ctx, GB_OP_INPLACE, a, n_groups, eps);
}
