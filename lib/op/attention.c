/* SPDX-License-Identifier: MIT */
/*
 * op/attention.c - builders of attention in one operation.
 */
#include "config.h"

#include "lib/base/status.h"
#include "lib/op/build.h"

#define PREC_PARAM 3 /* the parameter that holds the precision */

/* Has MASK a row for each token of Q, padded, and a column for each of K? */
static bool
mask_fits(const struct ggml_tensor *mask, const struct ggml_tensor *q,
          const struct ggml_tensor *k)
{
    const int64_t blocks = gb_dim_parts(q->ne[1], GGML_KQ_MASK_PAD);
    const int64_t rows = gb_dim_mul(blocks, GGML_KQ_MASK_PAD);

    return mask->type == GGML_TYPE_F16 && ggml_is_contiguous(mask) &&
           ggml_is_matrix(mask) && mask->ne[0] >= k->ne[1] &&
           rows >= 0 && mask->ne[1] >= rows;
}

struct ggml_tensor *
ggml_flash_attn_ext(struct ggml_context *ctx, struct ggml_tensor *q,
                    struct ggml_tensor *k, struct ggml_tensor *v,
                    struct ggml_tensor *mask, float scale, float max_bias,
                    float logit_softcap)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "flash_attn_ext", q, k, v, GB_OR(mask, q));
    GB_NEED(ctx, k->ne[0] == q->ne[0] && gb_op_stack_divides(k, q),
            "flash_attn_ext: q has shape %s, k %s", GB_SHAPE(q), GB_SHAPE(k));
    GB_NEED(ctx,
            v->ne[0] == q->ne[0] && v->ne[1] >= k->ne[1] &&
                gb_op_stack_divides(v, q),
            "flash_attn_ext: q has shape %s, k %s, v %s", GB_SHAPE(q),
            GB_SHAPE(k), GB_SHAPE(v));
    GB_NEED(ctx, mask == NULL || mask_fits(mask, q, k),
            "flash_attn_ext: the mask %s of type %s is no contiguous f16 "
            "matrix for q %s and k %s",
            GB_SHAPE(mask), ggml_type_name(mask->type), GB_SHAPE(q),
            GB_SHAPE(k));
    GB_NEED(ctx, !(max_bias > 0.0f) || mask != NULL,
            "flash_attn_ext: max_bias is %g, and there is no mask",
            (double)max_bias);
    node = gb_op_new(
        ctx, GGML_OP_FLASH_ATTN_EXT, GGML_TYPE_F32,
        (const int64_t[]){ v->ne[0], q->ne[2], q->ne[1], q->ne[3] },
        GB_SRC(q, k, v, mask));
    gb_op_set_f32(node, 0, scale);
    gb_op_set_f32(node, 1, max_bias);
    gb_op_set_f32(node, 2, logit_softcap);
    return node;
}

void
ggml_flash_attn_ext_set_prec(struct ggml_tensor *a, enum ggml_prec prec)
{
    gb_op_set_prec(a, GGML_OP_FLASH_ATTN_EXT, PREC_PARAM, prec);
}

enum ggml_prec
ggml_flash_attn_ext_get_prec(const struct ggml_tensor *a)
{
    if (gb_tensor_is_failed(a))
        return GGML_PREC_DEFAULT;
    GB_NEED_OR(GGML_PREC_DEFAULT, a->op == GGML_OP_FLASH_ATTN_EXT,
               "flash_attn_ext_get_prec: the operation is %s",
               ggml_op_name(a->op));
    return (enum ggml_prec)a->op_params[PREC_PARAM];
}

struct ggml_tensor *
ggml_flash_attn_back(struct ggml_context *ctx, struct ggml_tensor *q,
                     struct ggml_tensor *k, struct ggml_tensor *v,
                     struct ggml_tensor *d, bool masked)
{
    (void)masked;
    GB_NEED_SOURCES(ctx, "flash_attn_back", q, k, v, d);
    return gb_context_failed(
        ctx, "flash_attn_back: flash_attn_ext has no gradient");
}
