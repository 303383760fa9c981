/* SPDX-License-Identifier: MIT */
/*
 * node/move.c - elements that go to other places.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* As many elements, in row-major order; any types between which somebody can
 * convert. */
bool
gb_node_valid_copy(const struct ggml_tensor *node)
{
    return ggml_nelements(node->src[0]) == ggml_nelements(node);
}

/* Parameter: the dimension along which the node has room for both. */
bool
gb_node_valid_concat(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];
    const int dim = gb_node_param_i32(node, 0);

    if (a->type != node->type || b->type != node->type || dim < 0 ||
        dim >= GGML_MAX_DIMS)
        return false;
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (node->ne[d] != (d == dim ? a->ne[d] + b->ne[d] : a->ne[d]) ||
            (d != dim && b->ne[d] != a->ne[d]))
            return false;
    return true;
}

bool
gb_node_valid_repeat(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           ggml_can_repeat(node->src[0], node);
}

/* The sum of the tiles of src0. */
bool
gb_node_valid_repeat_back(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 &&
           gb_node_is_float(node->src[0]->type) &&
           ggml_can_repeat(node, node->src[0]);
}

/* ---- larger, of any type without blocks ---- */

static bool
is_resized(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           ggml_blck_size(node->type) == 1;
}

/* An empty source has no nearest element. */
bool
gb_node_valid_upscale(const struct ggml_tensor *node)
{
    return is_resized(node) && !ggml_is_empty(node->src[0]);
}

bool
gb_node_valid_pad(const struct ggml_tensor *node)
{
    if (!is_resized(node))
        return false;
    for (int d = 0; d < GGML_MAX_DIMS; d++)
        if (node->src[0]->ne[d] > node->ne[d])
            return false;
    return true;
}

/* Parameters: elements before and behind, fewer on either side than the source
 * has: one reflection is enough. */
bool
gb_node_valid_pad_reflect(const struct ggml_tensor *node)
{
    const int32_t before = gb_node_param_i32(node, 0);
    const int32_t behind = gb_node_param_i32(node, 1);
    const int64_t n = node->src[0]->ne[0];

    return is_resized(node) && before >= 0 && before < n && behind >= 0 &&
           behind < n && node->ne[0] == before + n + behind &&
           gb_node_same_from(node, node->src[0], 1);
}

/* ---- rows by their numbers ---- */

/* src0 [N, rows, J, K], src1 [I, J, K], the node [N, I, J, K]. */
bool
gb_node_valid_get_rows(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *ids = node->src[1];

    return ids->type == GGML_TYPE_I32 && ids->ne[3] == 1 &&
           a->ne[2] == ids->ne[1] && a->ne[3] == ids->ne[2] &&
           gb_node_has_shape(
               node, a->ne[0], ids->ne[0], ids->ne[1], ids->ne[2]) &&
           node->type ==
               (a->type == GGML_TYPE_I32 ? GGML_TYPE_I32 : GGML_TYPE_F32) &&
           gb_node_has_dense_rows(node);
}

/* src0 has a row for each number, and perhaps more. */
bool
gb_node_valid_get_rows_back(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *ids = node->src[1];

    return gb_node_is_float(a->type) && ids->type == GGML_TYPE_I32 &&
           node->type == GGML_TYPE_F32 && a->ne[0] == node->ne[0] &&
           a->ne[1] >= ids->ne[0] && ggml_is_matrix(a) &&
           ggml_is_matrix(node) && ggml_is_vector(ids);
}
