/* SPDX-License-Identifier: MIT */
/*
 * node/conv.c - transposed convolutions.
 *
 * Parameters: the stride; in one dimension padding and dilation too, 0 and 1.
 */
#include "lib/node/node.h"
#include "lib/node/shape.h"

/* What both have in common: src0 is the kernel, src1 the input. */
static bool
is_conv(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return (a->type == GGML_TYPE_F16 || a->type == GGML_TYPE_F32) &&
           b->type == GGML_TYPE_F32 && gb_node_is_flat(node) &&
           gb_node_param_i32(node, 0) > 0 && gb_node_is_countable(a) &&
           gb_node_is_countable(b);
}

/* Has the output (L - 1) * s + K elements along dimension D?  Of an empty input
 * it is zeros, and may have any length. */
static bool
is_covered(const struct ggml_tensor *node, int d)
{
    const int64_t stride = gb_node_param_i32(node, 0);
    const int64_t length = node->src[1]->ne[d];

    return length == 0 ||
           node->ne[d] == (length - 1) * stride + node->src[0]->ne[d];
}

bool
gb_node_valid_conv_transpose_1d(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return is_conv(node) && ggml_is_matrix(b) && a->ne[2] == b->ne[1] &&
           a->ne[3] == 1 && is_covered(node, 0) &&
           gb_node_has_shape(node, node->ne[0], a->ne[1], 1, 1) &&
           gb_node_param_i32(node, 1) == 0 && gb_node_param_i32(node, 2) == 1;
}

bool
gb_node_valid_conv_transpose_2d(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];
    const struct ggml_tensor *b = node->src[1];

    return is_conv(node) && a->ne[3] == b->ne[2] && is_covered(node, 0) &&
           is_covered(node, 1) && node->ne[2] == a->ne[2] &&
           node->ne[3] == b->ne[3];
}
