/* SPDX-License-Identifier: MIT */
/*
 * node/list.c - whether a graph's list of nodes can be walked.
 */
#include "lib/node/list.h"

#include "ggml-impl.h"

#include <stdio.h>

/* A slice of a graph (ggml_graph_view) has nodes, and neither room nor a set of
 * its own. */
static bool
has_count(const struct ggml_cgraph *cgraph)
{
    return cgraph->n_nodes >= 0 &&
           (cgraph->n_nodes == 0 || cgraph->nodes != NULL) &&
           (cgraph->n_nodes <= cgraph->size ||
            cgraph->visited_hash_set.size == 0);
}

bool
gb_node_list_is_whole(
    const struct ggml_cgraph *cgraph, char *why, size_t size)
{
    if (!has_count(cgraph)) {
        snprintf(why, size, "has %d nodes in a list of %d", cgraph->n_nodes,
                 cgraph->nodes != NULL ? cgraph->size : 0);
        return false;
    }
    for (int i = 0; i < cgraph->n_nodes; i++) {
        if (cgraph->nodes[i] == NULL) {
            snprintf(why, size, "has no node %d of %d", i, cgraph->n_nodes);
            return false;
        }
    }
    return true;
}
