/* SPDX-License-Identifier: MIT */
/*
 * copy/graph-copy.c - a graph with all its data on another backend.
 *
 * All tensors that the nodes reach are numbered, so that copying is a few
 * passes over arrays: describe each, link them, give them memory, copy the
 * data.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/backend/transfer.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"
#include "lib/graph/index.h"
#include "lib/tensor/context.h"
#include "lib/tensor/tensor.h"

#include <string.h>

struct copying {
    const struct ggml_cgraph *graph;
    struct gb_index index;         /* of the original's tensors */
    size_t n_views;                /* among them */
    struct ggml_tensor **copies;   /* by number */
    struct ggml_backend_graph_copy result;
};

/* Number a tensor, or NULL, that is met. */
static enum ggml_status
meet(struct copying *c, struct ggml_tensor *tensor)
{
    if (tensor != NULL && gb_index_add(&c->index, tensor) < 0)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph copy: no memory");
    return GGML_STATUS_SUCCESS;
}

static int
n_places(const struct ggml_tensor *tensor)
{
    return gb_tensor_has_many_src(tensor) ? GGML_MAX_SRC : GB_FEW_SRC;
}

/* Are TENSOR's bytes those of its buffer?  Its shape may have been edited; where
 * the host does not reach them, their backend knows. */
static bool
is_within_buffer(const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t buffer = tensor->buffer;
    const size_t bytes = ggml_nbytes(tensor);
    size_t size, offset;

    if (buffer == NULL || bytes == 0 || !ggml_backend_buffer_is_host(buffer))
        return true;
    size = ggml_backend_buffer_get_size(buffer);
    offset = (uintptr_t)tensor->data -
             (uintptr_t)ggml_backend_buffer_get_base(buffer);
    return offset <= size && bytes <= size - offset;
}

/* Number what TENSOR needs; there is data behind it. */
static enum ggml_status
look_at(struct copying *c, const struct ggml_tensor *tensor)
{
    const int n = n_places(tensor);

    GB_NEED_OR(GGML_STATUS_FAILED,
               tensor->data != NULL || ggml_is_empty(tensor),
               "graph copy: tensor %s has no data", tensor->name);
    GB_NEED_OR(GGML_STATUS_FAILED,
               tensor->view_src != NULL || is_within_buffer(tensor),
               "graph copy: tensor %s reaches beyond its buffer", tensor->name);
    c->n_views += tensor->view_src != NULL;
    for (int i = 0; i < n; i++)
        GB_TRY(meet(c, tensor->src[i]));
    return meet(c, tensor->view_src);
}

/* Number the nodes and everything behind them. */
static enum ggml_status
collect(struct copying *c)
{
    const struct ggml_cgraph *graph = c->graph;

    if (!gb_index_reset(&c->index, (int64_t)graph->n_nodes + graph->n_leafs))
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph copy: no memory");
    for (int i = 0; i < graph->n_nodes; i++)
        GB_TRY(meet(c, graph->nodes[i]));
    /* The list grows while it is walked: the sources of sources follow. */
    for (int32_t i = 0; i < c->index.n_tensors; i++)
        GB_TRY(look_at(c, c->index.tensors[i]));
    return GGML_STATUS_SUCCESS;
}

/* Room for the descriptions, for MORE bytes, and never none at all. */
static struct ggml_context *
context_new(size_t n_tensors, size_t more)
{
    const struct ggml_init_params params = {
        .mem_size = (n_tensors + 1) * ggml_tensor_overhead() + more,
        .no_alloc = true,
    };

    return ggml_init(params);
}

/*
 * One context for those who own their data, which holds the graph, one for
 * views.
 */
static enum ggml_status
make_contexts(struct copying *c)
{
    const size_t for_graph =
        ggml_graph_overhead_custom((size_t)c->graph->size, false);

    c->result.ctx_allocated =
        context_new((size_t)c->index.n_tensors - c->n_views, for_graph);
    c->result.ctx_unallocated = context_new(c->n_views, 0);
    c->copies = gb_mem_zalloc((size_t)c->index.n_tensors, sizeof(*c->copies));
    if (c->result.ctx_allocated == NULL || c->result.ctx_unallocated == NULL ||
        c->copies == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph copy: no memory");
    return GGML_STATUS_SUCCESS;
}

/*
 * SRC's description, without links.  A view's shape need not be one that a new
 * tensor can have.
 */
static struct ggml_tensor *
describe(struct ggml_context *ctx, const struct ggml_tensor *src)
{
    struct ggml_tensor *copy =
        gb_context_alloc(ctx, GGML_OBJECT_TYPE_TENSOR, sizeof(*copy));

    if (copy == NULL)
        return NULL;
    gb_tensor_describe(copy, src->type, src->ne, src->nb);
    copy->op = src->op;
    memcpy(copy->op_params, src->op_params, sizeof(copy->op_params));
    copy->view_offs = src->view_offs;
    memcpy(copy->name, src->name, sizeof(copy->name) - 1);
    return copy;
}

static struct ggml_tensor *
copy_of(const struct copying *c, const struct ggml_tensor *tensor)
{
    return tensor != NULL ? c->copies[gb_index_find(&c->index, tensor)] : NULL;
}

/* Descriptions of all tensors, and the links between them. */
static enum ggml_status
make_tensors(struct copying *c)
{
    for (int32_t i = 0; i < c->index.n_tensors; i++) {
        const struct ggml_tensor *t = c->index.tensors[i];

        c->copies[i] = describe(t->view_src != NULL ? c->result.ctx_unallocated
                                                    : c->result.ctx_allocated,
                                t);
        if (c->copies[i] == NULL)
            return gb_fail(GGML_STATUS_ALLOC_FAILED,
                           "graph copy: no room for tensor %s", t->name);
    }
    for (int32_t i = 0; i < c->index.n_tensors; i++) {
        const struct ggml_tensor *t = c->index.tensors[i];
        const int n = n_places(t);

        for (int s = 0; s < n; s++)
            c->copies[i]->src[s] = copy_of(c, t->src[s]);
        c->copies[i]->view_src = copy_of(c, t->view_src);
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
make_graph(struct copying *c)
{
    c->result.graph = ggml_new_graph_custom(
        c->result.ctx_allocated, (size_t)c->graph->size, false);
    if (c->result.graph == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "graph copy: no room");
    for (int i = 0; i < c->graph->n_nodes; i++)
        ggml_graph_add_node(c->result.graph, copy_of(c, c->graph->nodes[i]));
    return GGML_STATUS_SUCCESS;
}

/* Views point into what owns the data, which has its place by now. */
static enum ggml_status
fill(const struct copying *c)
{
    for (int32_t i = 0; i < c->index.n_tensors; i++) {
        struct ggml_tensor *copy = c->copies[i];

        if (copy->view_src != NULL)
            GB_TRY(ggml_backend_view_init(copy));
        else
            GB_TRY(gb_transfer_copy(c->index.tensors[i], copy));
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
copy_graph(struct copying *c, ggml_backend_t backend)
{
    GB_TRY(collect(c));
    GB_TRY(make_contexts(c));
    GB_TRY(make_tensors(c));
    GB_TRY(make_graph(c));
    c->result.buffer =
        ggml_backend_alloc_ctx_tensors(c->result.ctx_allocated, backend);
    if (c->result.buffer == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "graph copy: no buffer on %s for its tensors",
                       ggml_backend_name(backend));
    return fill(c);
}

struct ggml_backend_graph_copy
ggml_backend_graph_copy(ggml_backend_t backend, struct ggml_cgraph *graph)
{
    const struct ggml_backend_graph_copy nothing = { 0 };
    struct copying c = { .graph = graph };

    GB_NEED_OR(nothing, backend != NULL, "graph copy: no backend");
    GB_NEED_OR(nothing, graph != NULL, "graph copy: no graph");
    GB_NEED_OR(nothing, graph->visited_hash_set.size > 0,
               "graph copy: a slice of a graph cannot be copied");
    if (gb_graph_check_lists(graph) != GGML_STATUS_SUCCESS)
        return nothing;

    if (copy_graph(&c, backend) != GGML_STATUS_SUCCESS) {
        ggml_backend_graph_copy_free(c.result);
        c.result = nothing;
    }
    gb_mem_free(c.copies);
    gb_index_clear(&c.index);
    return c.result;
}

void
ggml_backend_graph_copy_free(struct ggml_backend_graph_copy copy)
{
    ggml_backend_buffer_free(copy.buffer);
    ggml_free(copy.ctx_allocated);
    ggml_free(copy.ctx_unallocated);
}
