/* SPDX-License-Identifier: MIT */
/*
 * graph/check.c - is this graph whole?  For tests and debugging.
 */
#include "config.h"

#include "lib/graph/check.h"

#include "lib/base/status.h"
#include "lib/graph/index.h"
#include "lib/tensor/context.h"

/* Number N tensors; each must be new. */
static enum ggml_status
number(struct gb_index *index, struct ggml_tensor *const *tensors, int n,
       const char *kind)
{
    for (int i = 0; i < n; i++) {
        const int32_t expected = index->n_tensors;

        if (gb_tensor_is_failed(tensors[i]))
            return gb_fail(GGML_STATUS_FAILED, "%s %d: %s", kind, i,
                           gb_tensor_failure(tensors[i]));
        if (gb_index_add(index, tensors[i]) != expected)
            return gb_fail(GGML_STATUS_FAILED, "%s %d: '%s' is there twice",
                           kind, i, tensors[i]->name);
    }
    return GGML_STATUS_SUCCESS;
}

/* A node's sources stand before it, but what a slice has from outside. */
static enum ggml_status
check_sources(const struct ggml_cgraph *graph, const struct gb_index *index,
              const struct ggml_tensor *node)
{
    const bool is_slice = graph->visited_hash_set.size == 0;
    const int32_t own = gb_index_find(index, node);

    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const int32_t theirs =
            node->src[i] != NULL ? gb_index_find(index, node->src[i]) : own;

        if (theirs > own || (theirs < 0 && !is_slice))
            return gb_fail(GGML_STATUS_FAILED,
                           "node '%s': source %d does not stand before it",
                           node->name, i);
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
check_numbered(const struct ggml_cgraph *graph, struct gb_index *index)
{
    GB_TRY(number(index, graph->leafs, graph->n_leafs, "leaf"));
    GB_TRY(number(index, graph->nodes, graph->n_nodes, "node"));
    for (int i = 0; i < graph->n_nodes; i++)
        GB_TRY(check_sources(graph, index, graph->nodes[i]));
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_graph_check(const struct ggml_cgraph *graph)
{
    struct gb_index index = { 0 };
    enum ggml_status status;

    GB_TRY(gb_graph_check_lists(graph));
    if (!gb_index_reset(&index, (int64_t)graph->n_nodes + graph->n_leafs))
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph check: no memory");
    status = check_numbered(graph, &index);
    gb_index_clear(&index);
    return status;
}
