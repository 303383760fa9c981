/* SPDX-License-Identifier: MIT */
/*
 * graph/gradient.c - the gradients that a graph keeps beside its tensors.
 *
 * grads[] and grad_accs[] are indexed by a tensor's slot in the visited set.
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/status.h"

/* What ARRAY has for TENSOR, NULL for nothing. */
static struct ggml_tensor *
kept_for(const struct ggml_cgraph *graph, struct ggml_tensor *const *array,
         const struct ggml_tensor *tensor)
{
    const struct ggml_hash_set *set = &graph->visited_hash_set;
    size_t slot;

    if (array == NULL)
        return NULL;
    slot = ggml_hash_find(set, tensor);
    if (slot == GGML_HASHSET_FULL || !ggml_bitset_get(set->used, slot))
        return NULL;
    return array[slot];
}

struct ggml_tensor *
ggml_graph_get_grad(const struct ggml_cgraph *graph,
                    const struct ggml_tensor *node)
{
    GB_NEED_OR(NULL, graph != NULL, "graph_get_grad: the graph is NULL");
    return kept_for(graph, graph->grads, node);
}

struct ggml_tensor *
ggml_graph_get_grad_acc(const struct ggml_cgraph *graph,
                        const struct ggml_tensor *node)
{
    GB_NEED_OR(NULL, graph != NULL, "graph_get_grad_acc: the graph is NULL");
    return kept_for(graph, graph->grad_accs, node);
}
