/* SPDX-License-Identifier: MIT */
/*
 * node/product.c - products of matrices, by one for all columns or by one that
 * is chosen for each, and sums of outer products.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* src0 [K, M, ..], src1 [K, N, ..], the node [M, N, ..]; each matrix of src0
 * serves as many of src1. */
bool
gb_node_valid_mul_mat(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return node->type == GGML_TYPE_F32 && a->ne[0] == b->ne[0] &&
           node->ne[0] == a->ne[1] && gb_node_same_from(node, b, 1) &&
           gb_node_divides(a->ne[2], b->ne[2]) &&
           gb_node_divides(a->ne[3], b->ne[3]);
}

/* src0 [K, M, experts], src1 [K, U, T], src2 [X, T], X a multiple of U; the
 * node [M, X, T]. */
bool
gb_node_valid_mul_mat_id(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const struct ggml_tensor *ids = node->src[2];

    return node->type == GGML_TYPE_F32 && ids->type == GGML_TYPE_I32 &&
           a->ne[0] == b->ne[0] && ggml_is_matrix(ids) && a->ne[3] == 1 &&
           b->ne[3] == 1 && ids->ne[1] == b->ne[2] && a->ne[2] > 0 &&
           gb_node_divides(b->ne[1], ids->ne[0]) &&
           gb_node_has_shape(node, a->ne[1], ids->ne[0], b->ne[2], 1);
}

/* src0 [M, K, ..], src1 [N, K, ..], the node [M, N, ..]. */
bool
gb_node_valid_out_prod(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_node_has_dense_rows(a) && b->type == GGML_TYPE_F32 &&
           node->type == GGML_TYPE_F32 && a->ne[1] == b->ne[1] &&
           gb_node_has_shape(node, a->ne[0], b->ne[0], b->ne[2], b->ne[3]) &&
           gb_node_divides(a->ne[2], b->ne[2]) &&
           gb_node_divides(a->ne[3], b->ne[3]);
}
