/* SPDX-License-Identifier: MIT */
/*
 * op/sort.c - builders of orders of rows.
 */
#include "config.h"

#include "lib/op/build.h"

struct ggml_tensor *
ggml_argsort(struct ggml_context *ctx, struct ggml_tensor *a,
             enum ggml_sort_order order)
{
    struct ggml_tensor *node;

    GB_NEED_SOURCES(ctx, "argsort", a);
    GB_NEED(ctx, a->ne[0] <= INT32_MAX,
            "argsort: a %s has more than 2147483647 columns", GB_SHAPE(a));
    GB_NEED(ctx,
            order == GGML_SORT_ORDER_ASC || order == GGML_SORT_ORDER_DESC,
            "argsort: no order %d", (int)order);
    node = gb_op_new(ctx, GGML_OP_ARGSORT, GGML_TYPE_I32, a->ne, GB_SRC(a));
    gb_op_set_i32(node, 0, (int32_t)order);
    return node;
}

struct ggml_tensor *
ggml_top_k(struct ggml_context *ctx, struct ggml_tensor *a, int k)
{
    struct ggml_tensor *order;

    GB_NEED_SOURCES(ctx, "top_k", a);
    GB_NEED(ctx, k >= 0 && k <= a->ne[0],
            "top_k: %d of the %lld columns of a cannot be taken", k,
            (long long)a->ne[0]);
    order = ggml_argsort(ctx, a, GGML_SORT_ORDER_DESC);
    return ggml_view_4d(ctx, order, k, order->ne[1], order->ne[2],
                        order->ne[3], order->nb[1], order->nb[2], order->nb[3],
                        0);
}
