/* SPDX-License-Identifier: MIT */
/*
 * graph/grad-arith.c - derivatives of what goes element by element, and of
 * sums.
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "ggml-impl.h"

void
gb_grad_of_add(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], g);
    if (gb_grad_wants(grad, y->src[1]))
        gb_grad_add(grad, y->src[1], gb_grad_fold(grad, g, y->src[1]));
}

void
gb_grad_of_add1(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], g);
    if (gb_grad_wants(grad, y->src[1]))
        gb_grad_add(grad, y->src[1],
                    gb_grad_reshape(grad, ggml_sum(grad->ctx, g), y->src[1]));
}

void
gb_grad_of_sub(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], g);
    if (gb_grad_wants(grad, y->src[1]))
        gb_grad_sub(grad, y->src[1], gb_grad_fold(grad, g, y->src[1]));
}

void
gb_grad_of_mul(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    struct ggml_tensor *const a = y->src[0], *const b = y->src[1];

    if (gb_grad_wants(grad, a))
        gb_grad_add(grad, a, ggml_mul(grad->ctx, g, b));
    if (gb_grad_wants(grad, b))
        gb_grad_add(grad, b,
                    gb_grad_fold(grad, ggml_mul(grad->ctx, a, g), b));
}

void
gb_grad_of_div(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    struct ggml_tensor *const a = y->src[0], *const b = y->src[1];

    if (gb_grad_wants(grad, a))
        gb_grad_add(grad, a, ggml_div(grad->ctx, g, b));
    if (gb_grad_wants(grad, b)) {
        struct ggml_tensor *slope = ggml_div(grad->ctx, y, b);

        gb_grad_sub(grad, b,
                    gb_grad_fold(grad, ggml_mul(grad->ctx, g, slope), b));
    }
}

void
gb_grad_of_sqr(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];

    gb_grad_add(grad, x,
                ggml_scale(grad->ctx, ggml_mul(grad->ctx, x, g), 2.0f));
}

void
gb_grad_of_sqrt(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0],
                ggml_scale(grad->ctx, ggml_div(grad->ctx, g, y), 0.5f));
}

void
gb_grad_of_log(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], ggml_div(grad->ctx, g, y->src[0]));
}

void
gb_grad_of_sin(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];

    gb_grad_add(grad, x, ggml_mul(grad->ctx, g, ggml_cos(grad->ctx, x)));
}

void
gb_grad_of_cos(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];

    gb_grad_sub(grad, x, ggml_mul(grad->ctx, g, ggml_sin(grad->ctx, x)));
}

void
gb_grad_of_scale(struct gb_grad *grad, struct ggml_tensor *y,
                 struct ggml_tensor *g)
{
    const float factor = ggml_get_op_params_f32(y, 0);

    gb_grad_add(grad, y->src[0],
                ggml_scale(grad->ctx, gb_grad_cont(grad, g), factor));
}

void
gb_grad_of_sum(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add_to_all(grad, y->src[0], g);
}

void
gb_grad_of_sum_rows(struct gb_grad *grad, struct ggml_tensor *y,
                    struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], ggml_repeat(grad->ctx, g, y->src[0]));
}

void
gb_grad_of_mean(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];
    struct ggml_tensor *share = ggml_scale(
        grad->ctx, gb_grad_cont(grad, g), 1.0f / (float)x->ne[0]);

    gb_grad_add(grad, x, ggml_repeat(grad->ctx, share, x));
}

void
gb_grad_of_repeat(struct gb_grad *grad, struct ggml_tensor *y,
                  struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], gb_grad_fold(grad, g, y->src[0]));
}

void
gb_grad_of_repeat_back(struct gb_grad *grad, struct ggml_tensor *y,
                       struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], ggml_repeat(grad->ctx, g, y->src[0]));
}

void
gb_grad_of_unary(struct gb_grad *grad, struct ggml_tensor *y,
                 struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];
    struct ggml_context *const ctx = grad->ctx;
    const enum ggml_unary_op f = ggml_get_unary_op(y);

    switch (f) {
    case GGML_UNARY_OP_ABS:
        gb_grad_add(grad, x, ggml_mul(ctx, ggml_sgn(ctx, x), g));
        break;
    case GGML_UNARY_OP_SGN:
    case GGML_UNARY_OP_STEP:
        break; /* flat wherever there is a slope */
    case GGML_UNARY_OP_NEG:
        gb_grad_sub(grad, x, g);
        break;
    case GGML_UNARY_OP_RELU:
        gb_grad_add(grad, x, ggml_mul(ctx, ggml_step(ctx, x), g));
        break;
    case GGML_UNARY_OP_SILU:
        gb_grad_add(grad, x, ggml_silu_back(ctx, gb_grad_cont(grad, g), x));
        break;
    case GGML_UNARY_OP_EXP:
        gb_grad_add(grad, x, ggml_mul(ctx, y, g));
        break;
    default:
        gb_grad_fail(grad, "build_backward_expand: '%s': %s has no derivative",
                     y->name, ggml_unary_op_name(f));
    }
}
