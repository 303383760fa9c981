/* SPDX-License-Identifier: MIT */
/*
 * graph/print.c - a graph as lines of text.
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/log.h"
#include "lib/base/quote.h"
#include "lib/base/status.h"

#include <inttypes.h>

static void
print_tensor(const char *kind, int i, const struct ggml_tensor *t,
             const char *what, const char *mark)
{
    char name[4 * GGML_MAX_NAME];

    if (t == NULL) {
        gb_log_print("%s %4d: NULL\n", kind, i);
        return;
    }
    /* A name's own line ends are no lines of this table. */
    gb_quote(t->name, "", name, sizeof(name));
    gb_log_print("%s %4d: [%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                 "] %-5s %-16s%s %s\n",
                 kind, i, t->ne[0], t->ne[1], t->ne[2], t->ne[3],
                 ggml_type_name(t->type), what, mark, name);
}

/*
 * What a node is in training: a parameter, a node with a gradient, or neither.
 */
static const char *
mark_of(const struct ggml_cgraph *graph, const struct ggml_tensor *node)
{
    if (node == NULL)
        return "";
    if ((node->flags & GGML_TENSOR_FLAG_PARAM) != 0)
        return " x";
    return ggml_graph_get_grad(graph, node) != NULL ? " g" : "  ";
}

void
ggml_graph_print(const struct ggml_cgraph *graph)
{
    GB_NEED_VOID(graph != NULL, "graph_print: the graph is NULL");
    gb_log_print("graph of %d nodes, %d leafs%s\n", graph->n_nodes,
                 graph->n_leafs, gb_graph_is_failed(graph) ? ", failed" : "");
    for (int i = 0; i < graph->n_nodes; i++) {
        const struct ggml_tensor *node = graph->nodes[i];

        print_tensor("node", i, node, node != NULL ? ggml_op_desc(node) : "",
                     mark_of(graph, node));
    }
    for (int i = 0; i < graph->n_leafs; i++)
        print_tensor("leaf", i, graph->leafs[i], "", "  ");
}
