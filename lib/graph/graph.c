/* SPDX-License-Identifier: MIT */
/*
 * graph/graph.c - graphs: new, clear, copy, the nodes in order.
 *
 * A graph and its arrays are one object of a context's pool.
 */
#include "config.h"

#include "lib/graph/graph.h"

#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/tensor/context.h"

#include <limits.h>
#include <string.h>

/* Set in a failed graph's order, beside the order that it has. */
#define FAILED_BIT 0x100

/* Where the arrays are, in bytes behind the struct's first. */
struct layout {
    size_t slots; /* of the set, and of the gradients' arrays */
    size_t nodes;
    size_t leafs;
    size_t keys;
    size_t grads;     /* 0 without gradients */
    size_t grad_accs; /* 0 without gradients */
    size_t used;
    size_t bytes; /* all */
};

/* Room for N items of SIZE bytes at *bytes, which moves on, up to SIZE_MAX. */
static size_t
take(size_t *bytes, size_t n, size_t size)
{
    const size_t at = *bytes;

    *bytes = gb_add_or_max(at, gb_mul_or_max(n, size));
    return at;
}

/*
 * The set has twice the slots that nodes have, so that searching it stays
 * short.
 */
static bool
lay_out(size_t size, bool grads, struct layout *out)
{
    const size_t pointer = sizeof(struct ggml_tensor *);
    struct layout l = { .bytes = sizeof(struct ggml_cgraph) };

    if (size > INT_MAX)
        return false;
    l.slots = ggml_hash_size(2 * size);
    l.nodes = take(&l.bytes, size, pointer);
    l.leafs = take(&l.bytes, size, pointer);
    l.keys = take(&l.bytes, l.slots, pointer);
    if (grads) {
        l.grads = take(&l.bytes, l.slots, pointer);
        l.grad_accs = take(&l.bytes, l.slots, pointer);
    }
    l.used = take(&l.bytes, ggml_bitset_size(l.slots), sizeof(ggml_bitset_t));
    *out = l;
    return l.bytes < SIZE_MAX;
}

size_t
ggml_graph_overhead_custom(size_t size, bool grads)
{
    struct layout layout;
    size_t taken;

    GB_NEED_OR(0, lay_out(size, grads, &layout) &&
                      gb_context_object_size(layout.bytes, &taken),
               "graph: %zu nodes are too many", size);
    return taken;
}

size_t
ggml_graph_overhead(void)
{
    return ggml_graph_overhead_custom(GGML_DEFAULT_GRAPH_SIZE, false);
}

void
gb_graph_forget_gradients(struct ggml_cgraph *graph)
{
    const size_t bytes = graph->visited_hash_set.size * sizeof(*graph->grads);

    if (graph->grads == NULL)
        return;
    memset(graph->grads, 0, bytes);
    memset(graph->grad_accs, 0, bytes);
}

struct ggml_cgraph *
ggml_new_graph_custom(struct ggml_context *ctx, size_t size, bool grads)
{
    struct ggml_cgraph *graph;
    struct layout at;
    char *base;

    if (!lay_out(size, grads, &at)) {
        gb_context_failed(ctx, "graph: %zu nodes are too many", size);
        return NULL;
    }
    base = gb_context_alloc(ctx, GGML_OBJECT_TYPE_GRAPH, at.bytes);
    if (base == NULL)
        return NULL;
    graph = (struct ggml_cgraph *)base;
    memset(graph, 0, sizeof(*graph));
    graph->size = (int)size;
    graph->nodes = (struct ggml_tensor **)(base + at.nodes);
    graph->leafs = (struct ggml_tensor **)(base + at.leafs);
    graph->visited_hash_set.size = at.slots;
    graph->visited_hash_set.keys = (struct ggml_tensor **)(base + at.keys);
    graph->visited_hash_set.used = (ggml_bitset_t *)(base + at.used);
    graph->order = GGML_CGRAPH_EVAL_ORDER_LEFT_TO_RIGHT;
    if (grads) {
        graph->grads = (struct ggml_tensor **)(base + at.grads);
        graph->grad_accs = (struct ggml_tensor **)(base + at.grad_accs);
        gb_graph_forget_gradients(graph);
    }
    ggml_hash_set_reset(&graph->visited_hash_set);
    return graph;
}

struct ggml_cgraph *
ggml_new_graph(struct ggml_context *ctx)
{
    return ggml_new_graph_custom(ctx, GGML_DEFAULT_GRAPH_SIZE, false);
}

bool
gb_graph_is_failed(const struct ggml_cgraph *graph)
{
    return ((int)graph->order & FAILED_BIT) != 0;
}

void
gb_graph_set_failed(struct ggml_cgraph *graph)
{
    graph->order = (enum ggml_cgraph_eval_order)((int)graph->order |
                                                 FAILED_BIT);
}

enum ggml_cgraph_eval_order
gb_graph_order(const struct ggml_cgraph *graph)
{
    return (enum ggml_cgraph_eval_order)((int)graph->order & ~FAILED_BIT);
}

static const struct ggml_tensor *
find_failed(struct ggml_tensor *const *tensors, int n)
{
    for (int i = 0; i < n && tensors != NULL; i++) {
        if (tensors[i] != NULL && gb_tensor_is_failed(tensors[i]))
            return tensors[i];
    }
    return NULL;
}

/*
 * The order of failing is not kept; a failed node says more than a full graph.
 */
const char *
gb_graph_failure(const struct ggml_cgraph *graph)
{
    const struct ggml_tensor *failed;

    if (!gb_graph_is_failed(graph))
        return "";
    failed = find_failed(graph->leafs, graph->n_leafs);
    if (failed == NULL)
        failed = find_failed(graph->nodes, graph->n_nodes);
    if (failed != NULL)
        return gb_tensor_failure(failed);
    return "the graph is not whole: it was too small, or given no tensor";
}

/* The first of N tensors that is not there; N if all are. */
static int
find_missing(struct ggml_tensor *const *tensors, int n)
{
    int i = 0;

    while (i < n && tensors[i] != NULL)
        i++;
    return i;
}

/* A list of N tensors with room for SIZE.  A slice has no room of its own. */
static enum ggml_status
check_list(const char *kind, struct ggml_tensor *const *tensors, int n,
           int size, bool is_slice)
{
    int missing;

    if (n < 0 || (n > size && !is_slice) || (n > 0 && tensors == NULL))
        return gb_fail(GGML_STATUS_FAILED,
                       "a graph of %d %ss, with room for %d", n, kind,
                       tensors == NULL ? 0 : size);
    missing = find_missing(tensors, n);
    if (missing < n)
        return gb_fail(GGML_STATUS_FAILED,
                       "%s %d of the graph is NULL; give it a tensor", kind,
                       missing);
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_graph_check_lists(const struct ggml_cgraph *graph)
{
    const bool is_slice = graph->visited_hash_set.size == 0;

    if (gb_graph_is_failed(graph))
        return gb_fail(GGML_STATUS_FAILED, "%s", gb_graph_failure(graph));
    GB_TRY(check_list("node", graph->nodes, graph->n_nodes, graph->size,
                      is_slice));
    return check_list("leaf", graph->leafs, graph->n_leafs, graph->size,
                      is_slice);
}

void
ggml_graph_clear(struct ggml_cgraph *graph)
{
    GB_NEED_VOID(graph != NULL, "graph_clear: the graph is NULL");
    graph->n_nodes = 0;
    graph->n_leafs = 0;
    graph->order = gb_graph_order(graph);
    ggml_hash_set_reset(&graph->visited_hash_set);
}

static bool
is_empty(const struct ggml_hash_set *set)
{
    ggml_bitset_t any = 0;

    for (size_t i = 0; i < ggml_bitset_size(set->size); i++)
        any |= set->used[i];
    return any == 0;
}

/* An empty set of SRC's size: every tensor has the slot that it has in SRC. */
static void
copy_slots(const struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    const struct ggml_hash_set *set = &src->visited_hash_set;
    const size_t bytes = set->size * sizeof(*set->keys);

    memcpy(dst->visited_hash_set.keys, set->keys, bytes);
    memcpy(dst->visited_hash_set.used, set->used,
           ggml_bitset_size(set->size) * sizeof(*set->used));
    if (src->grads != NULL) {
        memcpy(dst->grads, src->grads, bytes);
        memcpy(dst->grad_accs, src->grad_accs, bytes);
    }
}

/* Any other: hash SRC's tensors again, their gradients with them. */
static void
add_slots(const struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    const struct ggml_hash_set *set = &src->visited_hash_set;

    for (size_t i = 0; i < set->size; i++) {
        size_t slot;

        if (!ggml_bitset_get(set->used, i))
            continue;
        slot = ggml_hash_find_or_insert(&dst->visited_hash_set, set->keys[i]);
        if (slot == GGML_HASHSET_FULL) {
            gb_precondition("graph_cpy: the destination's set is full");
            gb_graph_set_failed(dst);
            return;
        }
        if (src->grads != NULL) {
            dst->grads[slot] = src->grads[i];
            dst->grad_accs[slot] = src->grad_accs[i];
        }
    }
}

static void
copy_set(const struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    gb_graph_forget_gradients(dst);
    if (dst->visited_hash_set.size == src->visited_hash_set.size &&
        is_empty(&dst->visited_hash_set))
        copy_slots(src, dst);
    else
        add_slots(src, dst);
}

/* A slice has no list of leafs at all. */
static void
copy_list(struct ggml_tensor **dst, struct ggml_tensor *const *src, int n)
{
    if (n > 0)
        memmove(dst, src, (size_t)n * sizeof(*dst));
}

static bool
can_copy(const struct ggml_cgraph *src, const struct ggml_cgraph *dst)
{
    return dst->size >= src->n_nodes && dst->size >= src->n_leafs &&
           dst->visited_hash_set.size >= src->visited_hash_set.size &&
           (src->grads == NULL || dst->grads != NULL);
}

void
ggml_graph_cpy(struct ggml_cgraph *src, struct ggml_cgraph *dst)
{
    GB_NEED_VOID(src != NULL && dst != NULL, "graph_cpy: a graph is NULL");
    if (!can_copy(src, dst)) {
        gb_precondition("graph_cpy: %d nodes, %d leafs%s do not fit into a "
                        "graph for %d%s",
                        src->n_nodes, src->n_leafs,
                        src->grads != NULL ? " and gradients" : "", dst->size,
                        dst->grads != NULL ? " with gradients" : "");
        gb_graph_set_failed(dst);
        return;
    }
    dst->n_nodes = src->n_nodes;
    dst->n_leafs = src->n_leafs;
    dst->order = src->order;
    copy_list(dst->nodes, src->nodes, src->n_nodes);
    copy_list(dst->leafs, src->leafs, src->n_leafs);
    copy_set(src, dst);
}

struct ggml_cgraph *
ggml_graph_dup(struct ggml_context *ctx, struct ggml_cgraph *graph)
{
    struct ggml_cgraph *copy;

    GB_NEED_OR(NULL, graph != NULL, "graph_dup: the graph is NULL");
    copy = ggml_new_graph_custom(ctx, (size_t)graph->size,
                                 graph->grads != NULL);
    if (copy != NULL)
        ggml_graph_cpy(graph, copy);
    return copy;
}

int
ggml_graph_size(struct ggml_cgraph *graph)
{
    GB_NEED_OR(0, graph != NULL, "graph_size: the graph is NULL");
    return graph->size;
}

int
ggml_graph_n_nodes(struct ggml_cgraph *graph)
{
    GB_NEED_OR(0, graph != NULL, "graph_n_nodes: the graph is NULL");
    return graph->n_nodes;
}

struct ggml_tensor **
ggml_graph_nodes(struct ggml_cgraph *graph)
{
    GB_NEED_OR(NULL, graph != NULL, "graph_nodes: the graph is NULL");
    return graph->nodes;
}

struct ggml_tensor *
ggml_graph_node(struct ggml_cgraph *graph, int i)
{
    GB_NEED_OR(NULL, graph != NULL, "graph_node: the graph is NULL");
    GB_NEED_OR(NULL, i >= -graph->n_nodes && i < graph->n_nodes,
               "graph_node: there are %d nodes, not a %d-th", graph->n_nodes,
               i);
    return graph->nodes[i < 0 ? graph->n_nodes + i : i];
}

void
ggml_graph_add_node(struct ggml_cgraph *graph, struct ggml_tensor *tensor)
{
    GB_NEED_VOID(graph != NULL, "graph_add_node: the graph is NULL");
    if (tensor == NULL || graph->n_nodes >= graph->size) {
        gb_precondition(tensor == NULL
                            ? "graph_add_node: the tensor is NULL"
                            : "graph_add_node: the graph has no room");
        gb_graph_set_failed(graph);
        return;
    }
    graph->nodes[graph->n_nodes++] = tensor;
    if (gb_tensor_is_failed(tensor))
        gb_graph_set_failed(graph);
}

static struct ggml_tensor *
find_named(struct ggml_tensor *const *tensors, int n, const char *name)
{
    for (int i = 0; i < n; i++) {
        if (tensors[i] != NULL && strcmp(tensors[i]->name, name) == 0)
            return tensors[i];
    }
    return NULL;
}

struct ggml_tensor *
ggml_graph_get_tensor(const struct ggml_cgraph *graph, const char *name)
{
    struct ggml_tensor *leaf;

    GB_NEED_OR(NULL, graph != NULL && name != NULL,
               "graph_get_tensor: the graph or the name is NULL");
    leaf = find_named(graph->leafs, graph->n_leafs, name);
    return leaf != NULL ? leaf
                        : find_named(graph->nodes, graph->n_nodes, name);
}
