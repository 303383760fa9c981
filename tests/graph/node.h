/* SPDX-License-Identifier: MIT */
/*
 * tests/graph/node.h - nodes made by hand, without a builder.
 */
#ifndef GB_TESTS_GRAPH_NODE_H
#define GB_TESTS_GRAPH_NODE_H

#include "ggml.h"

/* A context for N tensors, and for EXTRA bytes beside them. */
static inline struct ggml_context *
tensors_context(size_t n, size_t extra)
{
    const struct ggml_init_params params = {
        n * ggml_tensor_overhead() + extra, NULL, true
    };

    return ggml_init(params);
}

static inline struct ggml_tensor *
leaf(struct ggml_context *ctx)
{
    return ggml_new_tensor_1d(ctx, GGML_TYPE_F32, 1);
}

/* A sum of A and B, either of which may be NULL. */
static inline struct ggml_tensor *
node(struct ggml_context *ctx, struct ggml_tensor *a, struct ggml_tensor *b)
{
    struct ggml_tensor *t = leaf(ctx);

    t->op = GGML_OP_ADD;
    t->src[0] = a;
    t->src[1] = b;
    return t;
}

#endif
