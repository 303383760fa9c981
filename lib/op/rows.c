/* SPDX-License-Identifier: MIT */
/*
 * op/rows.c - builders of rows taken by their numbers.
 */
#include "config.h"

#include "lib/op/build.h"

struct ggml_tensor *
ggml_get_rows(struct ggml_context *ctx, struct ggml_tensor *a,
              struct ggml_tensor *b)
{
    enum ggml_type type;

    GB_NEED_SOURCES(ctx, "get_rows", a, b);
    GB_NEED(ctx, b->type == GGML_TYPE_I32, "get_rows: b has type %s, not i32",
            ggml_type_name(b->type));
    GB_NEED(ctx,
            a->ne[2] == b->ne[1] && a->ne[3] == b->ne[2] && b->ne[3] == 1,
            "get_rows: b %s does not number rows of a %s", GB_SHAPE(b),
            GB_SHAPE(a));
    type = a->type == GGML_TYPE_I32 ? GGML_TYPE_I32 : GGML_TYPE_F32;
    return gb_op_new(
        ctx, GGML_OP_GET_ROWS, type,
        (const int64_t[]){ a->ne[0], b->ne[0], b->ne[1], b->ne[2] },
        GB_SRC(a, b));
}

struct ggml_tensor *
ggml_get_rows_back(struct ggml_context *ctx, struct ggml_tensor *a,
                   struct ggml_tensor *b, struct ggml_tensor *c)
{
    GB_NEED_SOURCES(ctx, "get_rows_back", a, b, c);
    GB_NEED(ctx, b->type == GGML_TYPE_I32 && ggml_is_vector(b),
            "get_rows_back: b %s of type %s is no vector of i32", GB_SHAPE(b),
            ggml_type_name(b->type));
    GB_NEED(ctx, ggml_is_matrix(a) && a->ne[1] >= b->ne[0],
            "get_rows_back: a %s is no matrix with a row for each of b %s",
            GB_SHAPE(a), GB_SHAPE(b));
    GB_NEED(ctx, ggml_is_matrix(c) && c->ne[0] == a->ne[0],
            "get_rows_back: c %s is no matrix with the columns of a %s",
            GB_SHAPE(c), GB_SHAPE(a));
    return gb_op_new(ctx, GGML_OP_GET_ROWS_BACK, GGML_TYPE_F32, c->ne,
                     GB_SRC(a, b));
}
