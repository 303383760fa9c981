/* SPDX-License-Identifier: MIT */
/*
 * sim/graph.c - nodes and their sources, copied with the device's addresses.
 *
 * A real device reads a graph when it is handed over and works on addresses
 * from then on; so must this one, since clients build the next graph in the
 * same memory before the work is done.
 */
#include "backends/sim/graph.h"

#include <stdlib.h>

bool
gb_sim_computes(enum ggml_op op)
{
    enum { NONE, VIEW, WORK };
    static const unsigned char kinds[GGML_OP_COUNT] = {
#define GB_OP(op, word, sources, kind, in_place, written, derivative, \
              text) \
    [GGML_OP_##op] = kind,
#include "lib/op/ops.def"
#undef GB_OP
    };

    return (unsigned)op >= GGML_OP_COUNT || kinds[op] == WORK;
}

static bool
has_work(const struct ggml_tensor *node)
{
    return gb_sim_computes(node->op) && !ggml_is_empty(node);
}

/* Of CGRAPH: nodes with work, and these with their sources. */
static void
count(const struct ggml_cgraph *cgraph, size_t *n_nodes, size_t *n_tensors)
{
    *n_nodes = 0;
    *n_tensors = 0;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];

        if (!has_work(node))
            continue;
        *n_nodes += 1;
        *n_tensors += 1;
        for (int s = 0; s < GGML_MAX_SRC; s++)
            *n_tensors += node->src[s] != NULL;
    }
}

/* The tensor alone: what it is made from, and where, are the host's matter. */
static enum ggml_status
translate(const struct gb_sim_device *device, const struct ggml_tensor *tensor,
          const struct ggml_tensor *node, struct ggml_tensor *out)
{
    *out = *tensor;
    memset(out->src, 0, sizeof(out->src));
    out->buffer = NULL;
    out->view_src = NULL;
    out->extra = NULL;
    if (ggml_is_empty(tensor))
        return GGML_STATUS_SUCCESS;
    out->data = gb_sim_shadow(device, tensor);
    if (out->data == NULL)
        return ggmlbackend_fail(
            GGML_STATUS_FAILED,
            "%s: %s \"%s\" needs \"%s\", which is not in the device's memory",
            device->name, ggml_op_name(node->op), node->name, tensor->name);
    out->buffer = gb_sim_inside(tensor);
    return GGML_STATUS_SUCCESS;
}

/* Are there as many nodes as it says, and none is NULL?  A slice has nodes, and
 * room for none. */
static bool
is_whole(const struct ggml_cgraph *cgraph)
{
    if (cgraph->n_nodes < 0 || (cgraph->n_nodes > 0 && cgraph->nodes == NULL) ||
        (cgraph->n_nodes > cgraph->size && cgraph->visited_hash_set.size > 0))
        return false;
    for (int i = 0; i < cgraph->n_nodes; i++)
        if (cgraph->nodes[i] == NULL)
            return false;
    return true;
}

static enum ggml_status
fill(const struct gb_sim_device *device, const struct ggml_cgraph *cgraph,
     struct ggml_cgraph *out, struct ggml_tensor *next)
{
    enum ggml_status status;

    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        struct ggml_tensor *copy = next;

        if (!has_work(node))
            continue;
        status = translate(device, node, node, next++);
        for (int s = 0;
             status == GGML_STATUS_SUCCESS && s < GGML_MAX_SRC; s++) {
            if (node->src[s] == NULL)
                continue;
            copy->src[s] = next;
            status = translate(device, node->src[s], node, next++);
        }
        if (status != GGML_STATUS_SUCCESS)
            return status;
        out->nodes[out->n_nodes++] = copy;
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_sim_graph_new(struct gb_sim_device *device, const struct ggml_cgraph *cgraph,
                 struct gb_sim_graph **out)
{
    struct gb_sim_graph *graph;
    struct ggml_tensor *tensors;
    enum ggml_status status;
    size_t n_nodes, n_tensors;

    if (!is_whole(cgraph))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a graph of %d nodes that are not there",
                                device->name, cgraph->n_nodes);
    count(cgraph, &n_nodes, &n_tensors);
    graph = gb_sim_alloc(device, sizeof(*graph) + n_tensors * sizeof(*tensors) +
                                     n_nodes * sizeof(*graph->graph.nodes));
    if (graph == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for a graph", device->name);
    tensors = (struct ggml_tensor *)(void *)(graph + 1);
    graph->graph.nodes = (struct ggml_tensor **)(void *)(tensors + n_tensors);
    status = fill(device, cgraph, &graph->graph, tensors);
    if (status != GGML_STATUS_SUCCESS) {
        free(graph);
        return status;
    }
    graph->n_users = 1;
    *out = graph;
    return GGML_STATUS_SUCCESS;
}

void
gb_sim_graph_acquire(struct gb_sim_graph *graph)
{
    gb_sim_lock();
    graph->n_users++;
    gb_sim_unlock();
}

void
gb_sim_graph_release(struct gb_sim_graph *graph)
{
    bool is_last;

    gb_sim_lock();
    is_last = --graph->n_users == 0;
    gb_sim_unlock();
    if (is_last)
        free(graph);
}
