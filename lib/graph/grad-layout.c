/* SPDX-License-Identifier: MIT */
/*
 * graph/grad-layout.c - derivatives of what moves elements: copies, views, rows,
 * parts.
 */
#include "config.h"

#include "lib/graph/grad.h"

#include "ggml-impl.h"

/* Where a part lies within a whole, as ACC and SET have it. */
struct part {
    size_t nb1, nb2, nb3, offset;
};

static struct part
part_of(const struct ggml_tensor *y)
{
    return (struct part){ (size_t)ggml_get_op_params_i32(y, 0),
                          (size_t)ggml_get_op_params_i32(y, 1),
                          (size_t)ggml_get_op_params_i32(y, 2),
                          (size_t)ggml_get_op_params_i32(y, 3) };
}

/* What of the whole T, dense, the part B was written to. */
static struct ggml_tensor *
view_part(const struct gb_grad *grad, struct ggml_tensor *t,
          const struct part *p, const struct ggml_tensor *b)
{
    return ggml_view_4d(grad->ctx, t, b->ne[0], b->ne[1], b->ne[2], b->ne[3],
                        p->nb1, p->nb2, p->nb3, p->offset);
}

void
gb_grad_of_dup(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], g);
}

void
gb_grad_of_acc(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    const struct part p = part_of(y);
    struct ggml_tensor *const b = y->src[1];

    gb_grad_add(grad, y->src[0], g);
    if (gb_grad_wants(grad, b)) {
        struct ggml_tensor *part =
            view_part(grad, gb_grad_cont(grad, g), &p, b);

        gb_grad_add(grad, b, gb_grad_reshape(grad, part, b));
    }
}

/* What is written over counts no more. */
void
gb_grad_of_set(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    const struct part p = part_of(y);
    struct ggml_tensor *const a = y->src[0], *const b = y->src[1];
    struct ggml_tensor *dense = gb_grad_cont(grad, g);
    struct ggml_tensor *part =
        gb_grad_cont(grad, view_part(grad, dense, &p, b));

    if (gb_grad_wants(grad, a))
        gb_grad_add(grad, a,
                    ggml_acc(grad->ctx, dense, ggml_neg(grad->ctx, part),
                             p.nb1, p.nb2, p.nb3, p.offset));
    if (gb_grad_wants(grad, b))
        gb_grad_add(grad, b, gb_grad_reshape(grad, part, b));
}

/* Nothing of where it is copied to is left. */
void
gb_grad_of_cpy(struct gb_grad *grad, struct ggml_tensor *y,
               struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], gb_grad_reshape(grad, g, y->src[0]));
}

void
gb_grad_of_cont(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], gb_grad_reshape(grad, g, y->src[0]));
}

void
gb_grad_of_reshape(struct gb_grad *grad, struct ggml_tensor *y,
                   struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], gb_grad_reshape(grad, g, y->src[0]));
}

/* Strides are the view's, in elements of X; the gradient's may have more bytes. */
void
gb_grad_of_view(struct gb_grad *grad, struct ggml_tensor *y,
                struct ggml_tensor *g)
{
    const size_t from = ggml_type_size(y->type), to = ggml_type_size(g->type);
    struct ggml_tensor *const x = y->src[0];
    uint64_t offset;

    if (!ggml_is_contiguous(x)) {
        gb_grad_fail(grad,
                     "build_backward_expand: '%s' is a view of '%s', which is "
                     "not contiguous",
                     y->name, x->name);
        return;
    }
    memcpy(&offset, y->op_params, sizeof(offset));
    gb_grad_add_to_part(grad, x, g, y->nb[1] / from * to, y->nb[2] / from * to,
                        y->nb[3] / from * to, (size_t)offset / from * to);
}

void
gb_grad_of_permute(struct gb_grad *grad, struct ggml_tensor *y,
                   struct ggml_tensor *g)
{
    int back[GGML_MAX_DIMS];

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        back[ggml_get_op_params_i32(y, (uint32_t)i)] = i;
    gb_grad_add(grad, y->src[0],
                ggml_permute(grad->ctx, g, back[0], back[1], back[2], back[3]));
}

void
gb_grad_of_transpose(struct gb_grad *grad, struct ggml_tensor *y,
                     struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0], ggml_transpose(grad->ctx, g));
}

void
gb_grad_of_get_rows(struct gb_grad *grad, struct ggml_tensor *y,
                    struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0],
                ggml_get_rows_back(grad->ctx, gb_grad_cont(grad, g), y->src[1],
                                   y->src[0]));
}

/* What was masked counts for nothing, whatever stands there now. */
static void
through_mask(struct gb_grad *grad, const struct ggml_tensor *y,
             struct ggml_tensor *g)
{
    gb_grad_add(grad, y->src[0],
                ggml_diag_mask_zero(grad->ctx, g,
                                    ggml_get_op_params_i32(y, 0)));
}

void
gb_grad_of_diag_mask_inf(struct gb_grad *grad, struct ggml_tensor *y,
                         struct ggml_tensor *g)
{
    through_mask(grad, y, g);
}

void
gb_grad_of_diag_mask_zero(struct gb_grad *grad, struct ggml_tensor *y,
                          struct ggml_tensor *g)
{
    through_mask(grad, y, g);
}
