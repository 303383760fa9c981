/* SPDX-License-Identifier: MIT */
/*
 * op/loss.c - builders of what training needs.
 */
#include "config.h"

#include "lib/op/build.h"

#define N_ADAMW_PARAMS 7

struct ggml_tensor *
ggml_cross_entropy_loss(struct ggml_context *ctx, struct ggml_tensor *a,
                        struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "cross_entropy_loss", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "cross_entropy_loss: a has shape %s, b %s", GB_SHAPE(a),
            GB_SHAPE(b));
    return gb_op_new(ctx, GGML_OP_CROSS_ENTROPY_LOSS, a->type,
                     (const int64_t[]){ 1, 1, 1, 1 }, GB_SRC(a, b));
}

struct ggml_tensor *
ggml_cross_entropy_loss_back(struct ggml_context *ctx, struct ggml_tensor *a,
                             struct ggml_tensor *b, struct ggml_tensor *c)
{
    GB_NEED_SOURCES(ctx, "cross_entropy_loss_back", a, b, c);
    GB_NEED(ctx, ggml_is_scalar(a),
            "cross_entropy_loss_back: the gradient a %s is no scalar",
            GB_SHAPE(a));
    GB_NEED(ctx, ggml_are_same_shape(b, c),
            "cross_entropy_loss_back: b has shape %s, c %s", GB_SHAPE(b),
            GB_SHAPE(c));
    return gb_op_new(ctx, GGML_OP_CROSS_ENTROPY_LOSS_BACK, b->type, b->ne,
                     GB_SRC(a, b, c));
}

struct ggml_tensor *
ggml_opt_step_adamw(struct ggml_context *ctx, struct ggml_tensor *a,
                    struct ggml_tensor *grad, struct ggml_tensor *m,
                    struct ggml_tensor *v, struct ggml_tensor *adamw_params)
{
    GB_NEED_SOURCES(ctx, "opt_step_adamw", a, grad, m, v, adamw_params);
    GB_NEED(ctx, (a->flags & GGML_TENSOR_FLAG_PARAM) != 0,
            "opt_step_adamw: a %s is not marked as parameter", GB_SHAPE(a));
    GB_NEED(ctx,
            ggml_are_same_shape(a, grad) && ggml_are_same_shape(a, m) &&
                ggml_are_same_shape(a, v),
            "opt_step_adamw: a has shape %s, grad %s, m %s, v %s", GB_SHAPE(a),
            GB_SHAPE(grad), GB_SHAPE(m), GB_SHAPE(v));
    GB_NEED(ctx,
            adamw_params->type == GGML_TYPE_F32 &&
                ggml_nelements(adamw_params) == N_ADAMW_PARAMS,
            "opt_step_adamw: the parameters %s of type %s are not %d of f32",
            GB_SHAPE(adamw_params), ggml_type_name(adamw_params->type),
            N_ADAMW_PARAMS);
    return gb_op_like(ctx, GGML_OP_OPT_STEP_ADAMW, GB_OP_INPLACE,
                      GB_SRC(a, grad, m, v, adamw_params));
}
