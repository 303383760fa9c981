/* SPDX-License-Identifier: MIT */
/*
 * node/part.c - a tensor with a part of it replaced or added to: ACC of F32,
 * SET of any type without blocks.
 *
 * Parameters: strides of dimensions 1 to 3 of the part, and its offset, all in
 * bytes.
 */
#include "lib/node/part.h"

#include "lib/node/node.h"
#include "lib/node/shape.h"

struct ggml_tensor
gb_node_part_of(const struct ggml_tensor *node)
{
    struct ggml_tensor part = *node->src[1];

    part.type = node->type;
    part.nb[0] = ggml_type_size(node->type);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        part.nb[d] = (size_t)gb_node_param_i32(node, d - 1);
    part.data = NULL;
    return part;
}

size_t
gb_node_part_offset(const struct ggml_tensor *node)
{
    return (size_t)gb_node_param_i32(node, 3);
}

/* Are offset and strides those of elements, and all bytes of the part in the
 * node?  What is LEFT of the node's bytes behind the offset must hold the steps
 * from the first to the last element, and that one. */
static bool
is_inside(const struct ggml_tensor *node)
{
    const struct ggml_tensor part = gb_node_part_of(node);
    const size_t size = ggml_type_size(node->type);
    const size_t offset = gb_node_part_offset(node);
    size_t left = ggml_nbytes(node);

    for (int i = 0; i < 4; i++)
        if (gb_node_param_i32(node, i) < 0)
            return false;
    if (offset % size != 0 || offset > left)
        return false;
    if (ggml_is_empty(&part))
        return true;
    left -= offset;
    for (int d = 0; d < GGML_MAX_DIMS; d++) {
        const size_t steps = (size_t)part.ne[d] - 1;

        if (steps > 0 && part.nb[d] % size != 0)
            return false;
        if (part.nb[d] > 0 && steps > left / part.nb[d])
            return false;
        left -= steps * part.nb[d];
    }
    return left >= size;
}

bool
gb_node_valid_accumulate(const struct ggml_tensor *node)
{
    return node->src[0]->type == node->type &&
           node->src[1]->type == node->type &&
           ggml_blck_size(node->type) == 1 &&
           (node->op == GGML_OP_SET || node->type == GGML_TYPE_F32) &&
           ggml_are_same_shape(node->src[0], node) &&
           ggml_is_contiguous(node) && is_inside(node);
}

/* So it is if in each dimension a stride is at least the bytes that the
 * dimensions before it span. */
bool
gb_node_rows_are_apart(const struct ggml_tensor *part)
{
    size_t below = (size_t)part->ne[0] * part->nb[0];

    for (int d = 1; d < GGML_MAX_DIMS; d++) {
        if (part->ne[d] > 1 && part->nb[d] < below)
            return false;
        below += (size_t)(part->ne[d] - 1) * part->nb[d];
    }
    return true;
}
