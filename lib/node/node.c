/* SPDX-License-Identifier: MIT */
/*
 * node/node.c - which function says whether a node is valid.
 */
#include "lib/node/node.h"

#include "lib/node/shape.h"

static const struct row {
    bool (*is_valid)(const struct ggml_tensor *node);
    int n_sources;
} rows[GGML_OP_COUNT] = {
#define GB_NODE(op, name, n) [GGML_OP_##op] = { gb_node_valid_##name, n },
#include "lib/node/nodes.def"
#undef GB_NODE
};

bool
gb_node_is_valid(const struct ggml_tensor *node)
{
    const struct row *row;

    if ((unsigned)node->op >= GGML_OP_COUNT)
        return false;
    row = &rows[node->op];
    return row->is_valid != NULL && gb_node_has_sources(node, row->n_sources) &&
           row->is_valid(node);
}
