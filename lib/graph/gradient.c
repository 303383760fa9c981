/* SPDX-License-Identifier: MIT */
/*
 * graph/gradient.c - the gradients that a graph keeps beside its tensors.
 *
 * grads[] and grad_accs[] are indexed by a tensor's slot in the visited set.
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "ggml-backend.h"

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

/* The derivative of a loss by itself. */
static void
set_to_one(struct ggml_tensor *scalar)
{
    const float one = 1.0f;

    if (scalar->buffer != NULL)
        ggml_backend_tensor_set(scalar, &one, 0, sizeof(one));
    else if (scalar->data != NULL)
        memcpy(scalar->data, &one, sizeof(one));
    else
        gb_precondition("graph_reset: '%s' has no data", scalar->name);
}

static void
reset_node(const struct ggml_cgraph *graph, const struct ggml_tensor *node)
{
    struct ggml_tensor *acc = ggml_graph_get_grad_acc(graph, node);

    if (node->op == GGML_OP_OPT_STEP_ADAMW) {
        ggml_set_zero(node->src[2]);
        ggml_set_zero(node->src[3]);
    }
    if (acc == NULL)
        return;
    if ((node->flags & GGML_TENSOR_FLAG_LOSS) == 0) {
        ggml_set_zero(acc);
        return;
    }
    GB_NEED_VOID(acc->type == GGML_TYPE_F32 && ggml_is_scalar(acc),
                 "graph_reset: '%s' is no single f32 value", acc->name);
    set_to_one(acc);
}

void
ggml_graph_reset(struct ggml_cgraph *graph)
{
    GB_NEED_VOID(graph != NULL, "graph_reset: the graph is NULL");
    GB_NEED_VOID(graph->grads != NULL, "graph_reset: there are no gradients");
    for (int i = 0; i < graph->n_nodes; i++)
        reset_node(graph, graph->nodes[i]);
}
