/* SPDX-License-Identifier: MIT */
/*
 * node/elements.c - functions of elements, by their places or by what stands
 * there.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* src1, of floating-point numbers, is repeated over src0; src0 and the node may
 * be in blocks. */
bool
gb_node_valid_binary(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return gb_node_is_float(b->type) && ggml_are_same_shape(node, a) &&
           (ggml_are_same_shape(b, a) || ggml_can_repeat(b, a));
}

/* Parameter of UNARY: the function. */
bool
gb_node_valid_unary(const struct ggml_tensor *node)
{
    if (node->op == GGML_OP_UNARY &&
        (uint32_t)gb_node_param_i32(node, 0) >= GGML_UNARY_OP_COUNT)
        return false;
    return gb_node_is_float(node->type) &&
           gb_node_is_float(node->src[0]->type) &&
           ggml_are_same_shape(node, node->src[0]);
}

/* Parameter: how far right of the diagonal nothing is replaced yet. */
bool
gb_node_valid_diag_mask(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_F32 &&
           gb_node_has_f32_rows(node) &&
           ggml_are_same_shape(node->src[0], node) &&
           gb_node_param_i32(node, 0) >= 0;
}

bool
gb_node_valid_arange(const struct ggml_tensor *node)
{
    return gb_node_has_f32_rows(node) &&
           gb_node_has_shape(node, node->ne[0], 1, 1, 1);
}

/* Parameter: how many values a time has, which fit a row; there is a time for
 * each row. */
bool
gb_node_valid_timestep(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const int32_t dim = gb_node_param_i32(node, 0);

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           dim >= 0 && dim <= node->ne[0] && node->ne[2] == 1 &&
           node->ne[3] == 1 && !ggml_is_empty(a) && a->ne[0] >= node->ne[1];
}

bool
gb_node_valid_diag(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return a->type == GGML_TYPE_F32 && node->type == GGML_TYPE_F32 &&
           a->ne[1] == 1 &&
           gb_node_has_shape(node, a->ne[0], a->ne[0], a->ne[2], a->ne[3]);
}
