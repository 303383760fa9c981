/* SPDX-License-Identifier: MIT */
/*
 * op/build.c - nodes with their sources, parameters and names.
 */
#include "config.h"

#include "lib/op/build.h"

#include "lib/base/status.h"
#include "lib/tensor/name.h"
#include "lib/tensor/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct gb_op_text
gb_op_shape(const int64_t ne[GGML_MAX_DIMS])
{
    struct gb_op_text shape;

    snprintf(shape.text, sizeof(shape.text),
             "[%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 "]",
             ne[0], ne[1], ne[2], ne[3]);
    return shape;
}

int64_t
gb_dim_mul(int64_t a, int64_t b)
{
    int64_t product;

    return gb_mul_count(a, b, &product) ? product : -1;
}

int64_t
gb_dim_add(int64_t a, int64_t b)
{
    return a < 0 || b < 0 || a > INT64_MAX - b ? -1 : a + b;
}

int64_t
gb_op_elements(const int64_t ne[GGML_MAX_DIMS])
{
    int64_t n = 1;

    for (int i = 0; i < GGML_MAX_DIMS; i++)
        n = gb_dim_mul(n, ne[i]);
    return n;
}

struct ggml_tensor *
gb_op_no_sources(struct ggml_context *ctx, const char *name,
                 struct ggml_tensor *const *src, size_t n)
{
    size_t i = 0;

    if (ctx == NULL)
        return gb_context_failed(ctx, "%s: the context is NULL", name);
    while (i + 1 < n && !gb_tensor_is_failed(src[i]))
        i++;
    if (src[i] == NULL)
        return gb_context_failed(ctx, "%s: source %zu is NULL", name, i);
    return gb_context_pass_failed(ctx, src[i]);
}

struct ggml_tensor *
gb_op_make(struct ggml_tensor *node, enum ggml_op op,
           struct ggml_tensor *const src[GGML_MAX_SRC])
{
    const int n_src = gb_ops[op].n_src;

    if (gb_node_has_failed(node))
        return node;
    node->op = op;
    for (int i = 0; i < n_src; i++)
        node->src[i] = src[i];
    return node;
}

/* Weights that nodes are made of stand in the order of layers, more or less, and
 * are in no cache when a graph is made anew for each token: fetch those that
 * come. */
static inline void
fetch_leafs(struct ggml_context *ctx, enum ggml_op op,
            struct ggml_tensor *const src[GGML_MAX_SRC])
{
    for (int i = 0; i < gb_ops[op].n_src; i++)
        if (src[i] != NULL && src[i]->op == GGML_OP_NONE)
            gb_tensor_walk(&ctx->leafs, src[i]);
}

struct ggml_tensor *
gb_op_new(struct ggml_context *ctx, enum ggml_op op, enum ggml_type type,
          const int64_t ne[GGML_MAX_DIMS],
          struct ggml_tensor *const src[GGML_MAX_SRC])
{
    struct ggml_tensor *node = gb_tensor_new(ctx, type, ne);

    GB_NEED(ctx, node != NULL,
            "%s: a result of type %d cannot have the shape %s",
            gb_op_word(op), (int)type, gb_op_shape(ne).text);
    fetch_leafs(ctx, op, src);
    return gb_op_make(node, op, src);
}

struct ggml_tensor *
gb_op_like(struct ggml_context *ctx, enum ggml_op op, enum gb_op_place place,
           struct ggml_tensor *const src[GGML_MAX_SRC])
{
    if (place == GB_OP_INPLACE)
        return gb_op_make(ggml_view_tensor(ctx, src[0]), op, src);
    return gb_op_new(ctx, op, src[0]->type, src[0]->ne, src);
}

struct ggml_tensor *
gb_op_name_after(struct ggml_tensor *node, const struct ggml_tensor *a,
                 const char *suffix, size_t size)
{
    if (!gb_node_has_failed(node))
        gb_name_add(node, gb_name_add_name(node, 0, a), suffix, size);
    return node;
}

void
gb_op_set_prec(struct ggml_tensor *node, enum ggml_op op, int i,
               enum ggml_prec prec)
{
    if (gb_tensor_is_failed(node))
        return;
    GB_NEED_VOID(node->op == op, "%s_set_prec: the operation is %s",
                 gb_op_word(op), ggml_op_name(node->op));
    GB_NEED_VOID(prec == GGML_PREC_DEFAULT || prec == GGML_PREC_F32,
                 "%s_set_prec: no precision %d", gb_op_word(op), (int)prec);
    gb_op_set_i32(node, i, (int32_t)prec);
}
