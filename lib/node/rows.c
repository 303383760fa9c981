/* SPDX-License-Identifier: MIT */
/*
 * node/rows.c - rows that are normalised, sorted, or become a number.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* Are the node and its first N sources F32 of the same shape, with dense
 * rows? */
static bool
are_alike(const struct ggml_tensor *node, int n)
{
    if (!gb_node_has_f32_rows(node))
        return false;
    for (int i = 0; i < n; i++)
        if (!gb_node_has_f32_rows(node->src[i]) ||
            !ggml_are_same_shape(node->src[i], node))
            return false;
    return true;
}

bool
gb_node_valid_norm(const struct ggml_tensor *node)
{
    return are_alike(node, node->op == GGML_OP_RMS_NORM_BACK ? 2 : 1);
}

/* Parameter: the number of groups. */
bool
gb_node_valid_group_norm(const struct ggml_tensor *node)
{
    return are_alike(node, 1) && gb_node_param_i32(node, 0) > 0;
}

/* The mask has a row for each row of a matrix, and perhaps more. */
static bool
is_mask_for(const struct ggml_tensor *mask, const struct ggml_tensor *a)
{
    return (mask->type == GGML_TYPE_F32 || mask->type == GGML_TYPE_F16) &&
           gb_node_is_dense(mask) && mask->ne[0] == a->ne[0] &&
           mask->ne[1] >= a->ne[1] && mask->ne[2] > 0 && mask->ne[3] > 0;
}

bool
gb_node_valid_soft_max(const struct ggml_tensor *node)
{
    const struct ggml_tensor *mask = node->src[1];

    return are_alike(node, 1) && (mask == NULL || is_mask_for(mask, node));
}

/* Parameter 1, the slopes: the gradient is that of a softmax without. */
bool
gb_node_valid_soft_max_back(const struct ggml_tensor *node)
{
    return are_alike(node, 2) && gb_node_param_f32(node, 1) == 0.0f;
}

/* ---- sums ---- */

static bool
are_floats(const struct ggml_tensor *node)
{
    return gb_node_is_float(node->src[0]->type) &&
           gb_node_is_float(node->type);
}

bool
gb_node_valid_sum(const struct ggml_tensor *node)
{
    return are_floats(node) && ggml_is_scalar(node);
}

bool
gb_node_valid_sum_rows(const struct ggml_tensor *node)
{
    return are_floats(node) && node->ne[0] == 1 &&
           gb_node_same_from(node, node->src[0], 1);
}

bool
gb_node_valid_count_equal(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_I32 &&
           node->src[1]->type == GGML_TYPE_I32 &&
           node->type == GGML_TYPE_I64 && ggml_is_scalar(node) &&
           ggml_are_same_shape(node->src[0], node->src[1]);
}

/* ---- places, which fit an int32_t ---- */

bool
gb_node_valid_argmax(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return gb_node_is_float(a->type) && node->type == GGML_TYPE_I32 &&
           ggml_is_matrix(a) && a->ne[0] <= INT32_MAX &&
           gb_node_has_shape(node, a->ne[1], 1, 1, 1);
}

/* Parameter: the order. */
bool
gb_node_valid_argsort(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return gb_node_is_float(a->type) && node->type == GGML_TYPE_I32 &&
           gb_node_is_dense(node) && ggml_are_same_shape(a, node) &&
           a->ne[0] <= INT32_MAX &&
           (uint32_t)gb_node_param_i32(node, 0) <= GGML_SORT_ORDER_DESC;
}
