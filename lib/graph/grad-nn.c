/* SPDX-License-Identifier: MIT */
/*
 * graph/grad-nn.c - derivatives of products, norms, attention's parts,
 * convolution, losses.
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "ggml-impl.h"

#define N_SECTIONS 4 /* streams of positions of ggml_rope_multi */

void
gb_grad_of_rms_norm(struct gb_grad *grad, struct ggml_tensor *y,
                    struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0],
                ggml_rms_norm_back(grad->ctx, gb_grad_cont(grad, g),
                                   y->src[0], ggml_get_op_params_f32(y, 0)));
}

/* A factor of an outer product, which takes f32, and weights as they are. */
static struct ggml_tensor *
as_factor(const struct gb_grad *grad, struct ggml_tensor *t,
          const struct ggml_tensor *other)
{
    const bool is_alike = t->ne[2] == other->ne[2] && t->ne[3] == other->ne[3];

    if (t->type == GGML_TYPE_F32 || (ggml_is_quantized(t->type) && is_alike))
        return t;
    return ggml_cast(grad->ctx, t, GGML_TYPE_F32);
}

/*
 * Dense T as [INNER, N, rest], summed over N: where each matrix of a stack took
 * part in N products that lie one behind another.
 */
static struct ggml_tensor *
sum_of_groups(const struct gb_grad *grad, struct ggml_tensor *t, int64_t inner,
              int64_t n)
{
    const size_t nb = t->nb[0] * (size_t)inner;
    const int64_t rest = inner == 0 ? 0 : ggml_nelements(t) / inner / n;
    struct ggml_tensor *first, *all;

    if (n == 1)
        return t;
    first = ggml_view_2d(grad->ctx, t, inner, rest, nb * (size_t)n, 0);
    all = ggml_view_3d(grad->ctx, t, inner, rest, n, nb * (size_t)n, nb, 0);
    return ggml_repeat_back(grad->ctx, all, first);
}

/*
 * y = a'b.  With gradients as matrices of the same layout: a gets b g', b gets
 * a g; both are outer products over dimension 1 of their factors.
 */
void
gb_grad_of_mul_mat(struct gb_grad *grad, struct ggml_tensor *y,
                   struct ggml_tensor *g)
{
    struct ggml_tensor *const a = y->src[0], *const b = y->src[1];

    if (gb_grad_wants(grad, a) && !ggml_is_empty(y)) {
        struct ggml_tensor *t =
            ggml_out_prod(grad->ctx, as_factor(grad, b, g), g);

        t = sum_of_groups(grad, t, a->ne[0] * a->ne[1], y->ne[2] / a->ne[2]);
        t = sum_of_groups(grad, t, a->ne[0] * a->ne[1] * a->ne[2],
                          y->ne[3] / a->ne[3]);
        gb_grad_add(grad, a, gb_grad_reshape(grad, t, a));
    }
    if (gb_grad_wants(grad, b))
        gb_grad_add(grad, b,
                    ggml_out_prod(grad->ctx, as_factor(grad, a, g),
                                  ggml_transpose(grad->ctx, g)));
}

void
gb_grad_of_soft_max(struct gb_grad *grad, struct ggml_tensor *y,
                    struct ggml_tensor *g)
{
    if (gb_grad_wants(grad, y->src[1])) {
        gb_grad_fail(grad,
                     "build_backward_expand: '%s': the mask of soft_max cannot "
                     "have a gradient",
                     y->name);
        return;
    }
    gb_grad_add(grad, y->src[0],
                ggml_soft_max_ext_back(grad->ctx, gb_grad_cont(grad, g), y,
                                       ggml_get_op_params_f32(y, 0),
                                       ggml_get_op_params_f32(y, 1)));
}

void
gb_grad_of_rope(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0], *const pos = y->src[1];
    struct ggml_tensor *const factors = y->src[2];
    const int n_dims = ggml_get_op_params_i32(y, 1);
    const int mode = ggml_get_op_params_i32(y, 2);
    const int n_ctx_orig = ggml_get_op_params_i32(y, 4);
    float p[6]; /* from the base of the frequencies to beta_slow */
    int sections[N_SECTIONS];
    struct ggml_tensor *term;

    if (gb_grad_wants(grad, factors)) {
        gb_grad_fail(grad,
                     "build_backward_expand: '%s': the factors of rope cannot "
                     "have a gradient",
                     y->name);
        return;
    }
    for (int i = 0; i < 6; i++)
        p[i] = ggml_get_op_params_f32(y, (uint32_t)(5 + i));
    for (int i = 0; i < N_SECTIONS; i++)
        sections[i] = ggml_get_op_params_i32(y, (uint32_t)(11 + i));
    g = gb_grad_cont(grad, g);
    if (pos->ne[0] == x->ne[2])
        term = ggml_rope_ext_back(grad->ctx, g, pos, factors, n_dims, mode,
                                  n_ctx_orig, p[0], p[1], p[2], p[3], p[4],
                                  p[5]);
    else
        term = ggml_rope_multi_back(grad->ctx, g, pos, factors, n_dims,
                                    sections, mode, n_ctx_orig, p[0], p[1],
                                    p[2], p[3], p[4], p[5]);
    gb_grad_add(grad, x, term);
}

void
gb_grad_of_im2col(struct gb_grad *grad, struct ggml_tensor *y,
                  struct ggml_tensor *g)
{
    struct ggml_tensor *const image = y->src[1];
    int p[7];

    for (int i = 0; i < 7; i++)
        p[i] = ggml_get_op_params_i32(y, (uint32_t)i);
    gb_grad_add(grad, image,
                ggml_im2col_back(grad->ctx, gb_grad_cont(grad, g), y->src[0],
                                 image->ne, p[0], p[1], p[2], p[3], p[4], p[5],
                                 p[6] != 0));
}

/* im2col_back is im2col transposed, so what goes back through it is im2col. */
void
gb_grad_of_im2col_back(struct gb_grad *grad, struct ggml_tensor *y,
                       struct ggml_tensor *g)
{
    int p[7];

    for (int i = 0; i < 7; i++)
        p[i] = ggml_get_op_params_i32(y, (uint32_t)i);
    gb_grad_add(grad, y->src[0],
                ggml_im2col(grad->ctx, y->src[1], gb_grad_cont(grad, g), p[0],
                            p[1], p[2], p[3], p[4], p[5], p[6] != 0,
                            GGML_TYPE_F32));
}

void
gb_grad_of_pool_2d(struct gb_grad *grad, struct ggml_tensor *y,
                   struct ggml_tensor *g)
{
    struct ggml_tensor *const x = y->src[0];
    int p[7];

    for (int i = 0; i < 7; i++)
        p[i] = ggml_get_op_params_i32(y, (uint32_t)i);
    gb_grad_add(grad, x,
                ggml_pool_2d_back(grad->ctx, gb_grad_cont(grad, g), x,
                                  (enum ggml_op_pool)p[0], p[1], p[2], p[3],
                                  p[4], (float)p[5], (float)p[6]));
}

void
gb_grad_of_cross_entropy_loss(struct gb_grad *grad, struct ggml_tensor *y,
                              struct ggml_tensor *g)
{
    struct ggml_tensor *const logits = y->src[0], *const labels = y->src[1];

    if (gb_grad_wants(grad, labels)) {
        gb_grad_fail(grad,
                     "build_backward_expand: '%s': the labels of "
                     "cross_entropy_loss cannot have a gradient",
                     y->name);
        return;
    }
    gb_grad_add(grad, logits,
                ggml_cross_entropy_loss_back(grad->ctx, g, logits, labels));
}
