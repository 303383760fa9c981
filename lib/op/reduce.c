/* SPDX-License-Identifier: MIT */
/*
 * op/reduce.c - builders of sums, counts and maxima.
 */
#include "config.h"

#include "lib/op/build.h"

static const int64_t one_element[GGML_MAX_DIMS] = { 1, 1, 1, 1 };

struct ggml_tensor *
ggml_sum(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "sum", a);
    return gb_op_new(ctx, GGML_OP_SUM, a->type, one_element, GB_SRC(a));
}

/* One value of TYPE for each row of A. */
static struct ggml_tensor *
by_row(struct ggml_context *ctx, enum ggml_op op, enum ggml_type type,
       struct ggml_tensor *a)
{
    const int64_t ne[] = { 1, a->ne[1], a->ne[2], a->ne[3] };

    return gb_op_new(ctx, op, type, ne, GB_SRC(a));
}

struct ggml_tensor *
ggml_sum_rows(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "sum_rows", a);
    return by_row(ctx, GGML_OP_SUM_ROWS, a->type, a);
}

struct ggml_tensor *
ggml_mean(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "mean", a);
    return by_row(ctx, GGML_OP_MEAN, GGML_TYPE_F32, a);
}

struct ggml_tensor *
ggml_argmax(struct ggml_context *ctx, struct ggml_tensor *a)
{
    GB_NEED_SOURCES(ctx, "argmax", a);
    GB_NEED(ctx, ggml_is_matrix(a) && a->ne[0] <= INT32_MAX,
            "argmax: a %s is no matrix of at most 2147483647 columns",
            GB_SHAPE(a));
    return gb_op_new(ctx, GGML_OP_ARGMAX, GGML_TYPE_I32,
                     (const int64_t[]){ a->ne[1], 1, 1, 1 }, GB_SRC(a));
}

struct ggml_tensor *
ggml_count_equal(struct ggml_context *ctx, struct ggml_tensor *a,
                 struct ggml_tensor *b)
{
    GB_NEED_SOURCES(ctx, "count_equal", a, b);
    GB_NEED(ctx, ggml_are_same_shape(a, b),
            "count_equal: a has shape %s, b %s", GB_SHAPE(a), GB_SHAPE(b));
    return gb_op_new(ctx, GGML_OP_COUNT_EQUAL, GGML_TYPE_I64, one_element,
                     GB_SRC(a, b));
}
