/* SPDX-License-Identifier: MIT */
/*
 * node/attention.c - attention over keys and values, with a mask.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* Keys, or values: each head, and each batch, of T serves as many of Q. */
static bool
are_shared(const struct ggml_tensor *t, const struct ggml_tensor *q)
{
    return gb_node_has_dense_rows(t) && t->ne[0] == q->ne[0] &&
           gb_node_divides(t->ne[2], q->ne[2]) &&
           gb_node_divides(t->ne[3], q->ne[3]) && gb_node_is_countable(t);
}

/* The mask has a row for each query and an element for each key, and perhaps
 * more. */
static bool
mask_fits(const struct ggml_tensor *mask, const struct ggml_tensor *q,
          const struct ggml_tensor *k)
{
    return mask == NULL ||
           (mask->type == GGML_TYPE_F16 && gb_node_has_dense_rows(mask) &&
            mask->ne[0] >= k->ne[1] && mask->ne[1] >= q->ne[1] &&
            mask->ne[2] > 0 && mask->ne[3] > 0);
}

/* q [D, queries, heads, batches], k and v [D, keys, fewer heads, batches]; the
 * node [D, heads, queries, batches]. */
bool
gb_node_valid_attention(const struct ggml_tensor *node)
{
    const struct ggml_tensor *q = node->src[0];
    const struct ggml_tensor *k = node->src[1];
    const struct ggml_tensor *v = node->src[2];

    return gb_node_has_f32_rows(q) && gb_node_is_countable(q) &&
           are_shared(k, q) && are_shared(v, q) && v->ne[1] >= k->ne[1] &&
           gb_node_is_flat(node) &&
           gb_node_has_shape(node, q->ne[0], q->ne[2], q->ne[1], q->ne[3]) &&
           mask_fits(node->src[3], q, k);
}
