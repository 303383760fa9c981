/* SPDX-License-Identifier: MIT */
/*
 * backend/reset.c - zeros in a tensor, and in a graph's gradients, wherever
 * their data is.
 */
#include "config.h"

#include "ggml-backend.h"

#include "lib/backend/transfer.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"

#include <string.h>

struct ggml_tensor *
ggml_set_zero(struct ggml_tensor *tensor)
{
    GB_NEED_OR(NULL, tensor != NULL, "set_zero: the tensor is NULL");
    if (ggml_is_empty(tensor))
        return tensor;
    if (gb_transfer_home(tensor) != NULL) {
        ggml_backend_tensor_memset(tensor, 0, 0, ggml_nbytes(tensor));
        return tensor;
    }
    GB_NEED_OR(tensor, tensor->data != NULL, "set_zero: '%s' has no data",
               tensor->name);
    memset(tensor->data, 0, ggml_nbytes(tensor));
    return tensor;
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
        if (graph->nodes[i] != NULL)
            reset_node(graph, graph->nodes[i]);
}
