/* SPDX-License-Identifier: MIT */
/*
 * op/diag.c - builders about diagonals.
 */
#include "config.h"

#include "lib/op/build.h"

struct ggml_tensor *
ggml_diag(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "diag", a);
    GB_NEED(ctx, a->ne[1] == 1, "diag: a %s has more than one row",
            GB_SHAPE(a));
    return gb_op_new(
        ctx, GGML_OP_DIAG, a->type,
        (const int64_t[]){ a->ne[0], a->ne[0], a->ne[2], a->ne[3] },
        GB_SRC(a));
}

static struct ggml_tensor *
mask(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
     struct ggml_tensor *a, int n_past)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, gb_op_word(op), a);
    GB_NEED(ctx, n_past >= 0, "%s: n_past is %d", gb_op_word(op), n_past);
    node = gb_op_like(ctx, op, place, GB_SRC(a));
    gb_op_set_i32(node, 0, n_past);
    return node;
}

struct ggml_tensor *
ggml_diag_mask_inf(struct ggml_context *ctx, struct ggml_tensor *a, int n_past)
{
    return mask(ctx, GGML_OP_DIAG_MASK_INF, GB_OP_NEW, a, n_past);
}

struct ggml_tensor *
ggml_diag_mask_inf_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                           int n_past)
{
    return mask(ctx, GGML_OP_DIAG_MASK_INF, GB_OP_INPLACE, a, n_past);
}

struct ggml_tensor *
ggml_diag_mask_zero(struct ggml_context *ctx, struct ggml_tensor *a, int n_past)
{
    return mask(ctx, GGML_OP_DIAG_MASK_ZERO, GB_OP_NEW, a, n_past);
}

struct ggml_tensor *
ggml_diag_mask_zero_inplace(struct ggml_context *ctx, struct ggml_tensor *a,
                            int n_past)
{
    return mask(ctx, GGML_OP_DIAG_MASK_ZERO, GB_OP_INPLACE, a, n_past);
}
