/* SPDX-License-Identifier: MIT */
/*
 * op/matmul.c - builders of products of matrices.
 */
#include "config.h"

#include "lib/op/build.h"

struct ggml_tensor *
ggml_mul_mat(struct ggml_context *ctx, struct ggml_tensor *a,
             struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "mul_mat", a, b);
    GB_NEED(ctx, a->ne[0] == b->ne[0] && gb_op_stack_divides(a, b),
            "mul_mat: a %s and b %s have no product", GB_SHAPE(a),
            GB_SHAPE(b));
    GB_NEED(ctx, !gb_is_truly_transposed(a), "mul_mat: a %s is transposed",
            GB_SHAPE(a));
    return gb_op_new(
        ctx, GGML_OP_MUL_MAT, GGML_TYPE_F32,
        (const int64_t[]){ a->ne[1], b->ne[1], b->ne[2], b->ne[3] },
        GB_SRC(a, b));
}

void
ggml_mul_mat_set_prec(struct ggml_tensor *a, enum ggml_prec prec)
{
    gb_op_set_prec(a, GGML_OP_MUL_MAT, 0, prec);
}

struct ggml_tensor *
ggml_mul_mat_id(struct ggml_context *ctx, struct ggml_tensor *as,
                struct ggml_tensor *b, struct ggml_tensor *ids)
{
    GB_NEED_SOURCES(ctx, "mul_mat_id", as, b, ids);
    GB_NEED(ctx, ids->type == GGML_TYPE_I32 && ggml_is_matrix(ids),
            "mul_mat_id: ids %s of type %s is no matrix of i32",
            GB_SHAPE(ids), ggml_type_name(ids->type));
    GB_NEED(ctx,
            as->ne[0] == b->ne[0] && as->ne[3] == 1 && b->ne[3] == 1 &&
                ids->ne[1] == b->ne[2] && gb_dim_divides(b->ne[1], ids->ne[0]),
            "mul_mat_id: as %s, b %s and ids %s do not belong together",
            GB_SHAPE(as), GB_SHAPE(b), GB_SHAPE(ids));
    GB_NEED(ctx, !gb_is_truly_transposed(as), "mul_mat_id: as %s is transposed",
            GB_SHAPE(as));
    return gb_op_new(
        ctx, GGML_OP_MUL_MAT_ID, GGML_TYPE_F32,
        (const int64_t[]){ as->ne[1], ids->ne[0], b->ne[2], 1 },
        GB_SRC(as, b, ids));
}

struct ggml_tensor *
ggml_out_prod(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "out_prod", a, b);
    GB_NEED(ctx, a->ne[1] == b->ne[1] && gb_op_stack_divides(a, b),
            "out_prod: a %s and b %s have no product", GB_SHAPE(a),
            GB_SHAPE(b));
    GB_NEED(ctx, !gb_is_truly_transposed(a), "out_prod: a %s is transposed",
            GB_SHAPE(a));
    return gb_op_new(
        ctx, GGML_OP_OUT_PROD, GGML_TYPE_F32,
        (const int64_t[]){ a->ne[0], b->ne[0], b->ne[2], b->ne[3] },
        GB_SRC(a, b));
}
