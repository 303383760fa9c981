/* SPDX-License-Identifier: MIT */
/*
 * node/loss.c - cross entropy with its gradient, and a step of AdamW.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"
#include "lib/node/sound.h"

/* Is T F32 with dense rows, and of the shape of LIKE? */
static bool
is_row_operand(const struct ggml_tensor *t, const struct ggml_tensor *like)
{
    return gb_node_has_f32_rows(t) && ggml_are_same_shape(t, like);
}

bool
gb_node_valid_cross_entropy(const struct ggml_tensor *node)
{
    return node->type == GGML_TYPE_F32 && ggml_is_scalar(node) &&
           is_row_operand(node->src[0], node->src[0]) &&
           is_row_operand(node->src[1], node->src[0]);
}

/* src0 is the gradient, one number. */
bool
gb_node_valid_cross_entropy_back(const struct ggml_tensor *node)
{
    return node->src[0]->type == GGML_TYPE_F32 &&
           ggml_is_scalar(node->src[0]) && is_row_operand(node, node) &&
           is_row_operand(node->src[1], node) &&
           is_row_operand(node->src[2], node);
}

/* Weights, gradient and both moments have the shape of the node, which is a view of
 * the weights; the moments, src2 and src3, are written.  src4 has seven numbers. */
bool
gb_node_valid_adamw(const struct ggml_tensor *node)
{
    if (!is_row_operand(node, node))
        return false;
    for (int i = 0; i < 4; i++)
        if (!is_row_operand(node->src[i], node) ||
            (i >= 2 && !gb_node_has_places(node->src[i])))
            return false;
    return gb_node_is_flat(node->src[4]) && ggml_nelements(node->src[4]) == 7;
}
