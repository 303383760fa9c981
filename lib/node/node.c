/* SPDX-License-Identifier: MIT */
/*
 * node/node.c - which function says whether a node is valid.
 */
#include "lib/node/node.h"

#include "lib/node/shape.h"
#include "lib/node/sound.h"

static const struct row {
    bool (*is_valid)(const struct ggml_tensor *node);
    int n_sources;
} rows[GGML_OP_COUNT] = {
#define GB_NODE(op, name, n) [GGML_OP_##op] = { gb_node_valid_##name, n },
#include "lib/node/nodes.def"
#undef GB_NODE
};

/* The node and each source that is there, whether its operation reads it or
 * not. */
static bool
are_tensors_sound(const struct ggml_tensor *node)
{
    if (!gb_node_is_sound(node) || !gb_node_has_places(node))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && !gb_node_is_sound(node->src[i]))
            return false;
    return true;
}

bool
gb_node_is_valid(const struct ggml_tensor *node)
{
    const struct row *row;

    if ((unsigned)node->op >= GGML_OP_COUNT)
        return false;
    row = &rows[node->op];
    return row->is_valid != NULL && gb_node_has_sources(node, row->n_sources) &&
           are_tensors_sound(node) && row->is_valid(node);
}

const char *
gb_node_word(const struct ggml_tensor *node)
{
    if ((unsigned)node->op >= GGML_OP_COUNT)
        return "operation of no known number";
    if (node->op == GGML_OP_UNARY &&
        (uint32_t)gb_node_param_i32(node, 0) < GGML_UNARY_OP_COUNT)
        return ggml_op_desc(node);
    return ggml_op_name(node->op);
}
