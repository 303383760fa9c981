/* SPDX-License-Identifier: MIT */
/*
 * copy/compare.c - one graph on two backends, node by node.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/op/op.h"

/* A graph of the one node at INDEX of GRAPH; nothing else of GRAPH is in it. */
static struct ggml_cgraph
slice_of_one(const struct ggml_cgraph *graph, int index)
{
    const struct ggml_cgraph slice = {
        .n_nodes = 1,
        .nodes = graph->nodes + index,
        .order = graph->order,
    };

    return slice;
}

bool
ggml_backend_compare_graph_backend(
    ggml_backend_t backend1, ggml_backend_t backend2, struct ggml_cgraph *graph,
    ggml_backend_eval_callback callback, void *user_data)
{
    struct ggml_backend_graph_copy copy;
    bool go_on = true;

    GB_NEED_OR(false, backend1 != NULL && backend2 != NULL,
               "compare backends: one is missing");
    GB_NEED_OR(false, callback != NULL, "compare backends: no callback");
    copy = ggml_backend_graph_copy(backend2, graph);
    if (copy.buffer == NULL)
        return false;

    for (int i = 0; go_on && i < graph->n_nodes; i++) {
        struct ggml_cgraph slice1 = slice_of_one(graph, i);
        struct ggml_cgraph slice2 = slice_of_one(copy.graph, i);

        /*
         * The interface promises no status here.  A backend that fails leaves
         * the reason behind, and a result that the callback will not like.
         */
        ggml_backend_graph_compute(backend1, &slice1);
        ggml_backend_graph_compute(backend2, &slice2);
        if (!gb_op_is_view(graph->nodes[i]->op))
            go_on = callback(i, graph->nodes[i], copy.graph->nodes[i],
                             user_data);
    }
    ggml_backend_graph_copy_free(copy);
    return true;
}
