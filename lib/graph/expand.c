/* SPDX-License-Identifier: MIT */
/*
 * graph/expand.c - reaching all of a tensor's sources, depth first.
 *
 * Tensors whose sources are being visited wait in a stack, which needs no
 * memory and no limit of its own: it is the free end of the graph's nodes[],
 * growing downwards.  Each of them will take a place there anyway (or, with the
 * operation NONE and yet sources, one among the leafs, and then the place is
 * only borrowed).
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/status.h"
#include "lib/tensor/context.h"

static bool
is_leaf(const struct ggml_tensor *tensor)
{
    return tensor->op == GGML_OP_NONE &&
           (tensor->flags & GGML_TENSOR_FLAG_PARAM) == 0;
}

/* The first source that was not visited, NULL when all were. */
static struct ggml_tensor *
next_source(const struct ggml_cgraph *graph, const struct ggml_tensor *tensor)
{
    const bool is_reversed =
        gb_graph_order(graph) == GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT;

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const int place = is_reversed ? GGML_MAX_SRC - 1 - i : i;
        struct ggml_tensor *src = tensor->src[place];

        if (src != NULL && !ggml_hash_contains(&graph->visited_hash_set, src))
            return src;
    }
    return NULL;
}

/*
 * Put TENSOR, whose sources are all there, behind the others; false when full.
 */
static bool
append(struct ggml_cgraph *graph, struct ggml_tensor *tensor, int depth)
{
    const bool to_leafs = is_leaf(tensor);
    int *n = to_leafs ? &graph->n_leafs : &graph->n_nodes;

    if (*n >= graph->size - (to_leafs ? 0 : depth))
        return false;
    if (tensor->name[0] == '\0')
        ggml_format_name(tensor, to_leafs ? "leaf_%d" : "node_%d", *n);
    if (gb_tensor_is_failed(tensor))
        gb_graph_set_failed(graph);
    (to_leafs ? graph->leafs : graph->nodes)[(*n)++] = tensor;
    return true;
}

/* Enter TENSOR into the set; a slot that is taken anew has no gradients yet. */
static bool
mark_visited(struct ggml_cgraph *graph, struct ggml_tensor *tensor)
{
    const size_t slot = ggml_hash_insert(&graph->visited_hash_set, tensor);

    if (slot == GGML_HASHSET_FULL)
        return false;
    if (graph->grads != NULL) {
        graph->grads[slot] = NULL;
        graph->grad_accs[slot] = NULL;
    }
    return true;
}

/*
 * Append TENSOR, or let it wait for its sources; false when the graph is full.
 */
static bool
visit(struct ggml_cgraph *graph, struct ggml_tensor *tensor, int *depth)
{
    if (!mark_visited(graph, tensor))
        return false;
    if (next_source(graph, tensor) == NULL)
        return append(graph, tensor, *depth);
    if (graph->n_nodes + *depth >= graph->size)
        return false;
    (*depth)++;
    graph->nodes[graph->size - *depth] = tensor;
    return true;
}

/*
 * Going back to a tensor its sources are looked at from the first again,
 * instead of keeping a place for each: they are few, and those before were all
 * visited.
 */
static bool
expand(struct ggml_cgraph *graph, struct ggml_tensor *tensor)
{
    int depth = 0;

    if (!visit(graph, tensor, &depth))
        return false;
    while (depth > 0) {
        struct ggml_tensor *top = graph->nodes[graph->size - depth];
        struct ggml_tensor *src = next_source(graph, top);

        if (src != NULL) {
            if (!visit(graph, src, &depth))
                return false;
        } else {
            depth--;
            if (!append(graph, top, depth))
                return false;
        }
    }
    return true;
}

void
ggml_build_forward_expand(struct ggml_cgraph *graph, struct ggml_tensor *tensor)
{
    GB_NEED_VOID(graph != NULL, "build_forward_expand: the graph is NULL");
    GB_NEED_VOID(graph->visited_hash_set.size > 0,
                 "build_forward_expand: the graph is a slice");
    if (tensor == NULL) {
        gb_precondition("build_forward_expand: the tensor is NULL");
        gb_graph_set_failed(graph);
        return;
    }
    if (ggml_hash_contains(&graph->visited_hash_set, tensor))
        return;
    if (!expand(graph, tensor)) {
        gb_precondition("graph: room for %d nodes and as many leafs is not "
                        "enough for '%s'",
                        graph->size, tensor->name);
        gb_graph_set_failed(graph);
    }
}
