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

#include "lib/base/remainder.h"
#include "lib/base/status.h"
#include "lib/tensor/context.h"
#include "lib/tensor/name.h"

/* A walk from a tensor to all that it needs. */
struct walk {
    struct ggml_cgraph *graph;
    struct gb_divisor slots; /* of the graph's set */
    int depth;               /* tensors that wait */
    int first, step, end;    /* the order of a tensor's sources */
    int many; /* where to ask for all others, on the way from the first */
};

static bool
is_leaf(const struct ggml_tensor *tensor)
{
    return tensor->op == GGML_OP_NONE &&
           (tensor->flags & GGML_TENSOR_FLAG_PARAM) == 0;
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
        gb_name_number(tensor, to_leafs ? "leaf_" : "node_", *n);
    /* A failed node has no operation; its mark is far from all else. */
    if (tensor->op == GGML_OP_NONE && gb_tensor_is_failed(tensor))
        gb_graph_set_failed(graph);
    (to_leafs ? graph->leafs : graph->nodes)[(*n)++] = tensor;
    return true;
}

enum entry { IS_NEW, IS_KNOWN, HAS_NO_ROOM };

/*
 * Enter TENSOR into the set, as ggml_hash_insert does.  In a slot that is taken
 * anew there are no gradients yet.
 */
static inline enum entry
enter(const struct walk *walk, struct ggml_tensor *tensor)
{
    struct ggml_cgraph *graph = walk->graph;
    struct ggml_hash_set *set = &graph->visited_hash_set;
    const size_t home = (size_t)gb_remainder(ggml_hash(tensor), walk->slots);
    size_t slot = home;

    while (ggml_bitset_get(set->used, slot)) {
        if (set->keys[slot] == tensor)
            return IS_KNOWN;
        slot = slot + 1 < set->size ? slot + 1 : 0;
        if (slot == home)
            return HAS_NO_ROOM;
    }
    ggml_bitset_set(set->used, slot);
    set->keys[slot] = tensor;
    if (graph->grads != NULL) {
        graph->grads[slot] = NULL;
        graph->grad_accs[slot] = NULL;
    }
    return IS_NEW;
}

/*
 * Enter the first source of TENSOR that is new, of those behind DONE, which was
 * the last one that was looked at, or NULL.  *next is that source, NULL when
 * there is none.  False when the set is full.
 */
static bool
next_source(const struct walk *walk, const struct ggml_tensor *tensor,
            const struct ggml_tensor *done, struct ggml_tensor **next)
{
    int i = walk->first;

    while (done != NULL && done != tensor->src[i])
        i += walk->step;
    if (done != NULL)
        i += walk->step;
    *next = NULL;
    for (; i != walk->end; i += walk->step) {
        enum entry entry;

        if (i == walk->many && !gb_tensor_has_many_src(tensor))
            break;
        if (tensor->src[i] == NULL)
            continue;
        entry = enter(walk, tensor->src[i]);
        if (entry == IS_KNOWN)
            continue;
        *next = tensor->src[i];
        return entry == IS_NEW;
    }
    return true;
}

/* Let TENSOR wait for its sources; false when the graph is full. */
static bool
push(struct walk *walk, struct ggml_tensor *tensor)
{
    struct ggml_cgraph *graph = walk->graph;

    if (graph->n_nodes + walk->depth >= graph->size)
        return false;
    walk->depth++;
    graph->nodes[graph->size - walk->depth] = tensor;
    return true;
}

static struct ggml_tensor *
pop(struct walk *walk)
{
    const struct ggml_cgraph *graph = walk->graph;
    struct ggml_tensor *const *top =
        graph->nodes + graph->size - walk->depth--;

    return *top;
}

/*
 * TENSOR is entered and not yet appended.  Coming back to one that waits, the
 * source that was appended last says how far its sources have been looked at,
 * so that each source of a node costs one search of the set, and no place has
 * to be kept.
 */
static bool
expand(struct walk *walk, struct ggml_tensor *tensor)
{
    struct ggml_tensor *done = NULL, *next;

    for (;;) {
        if (!next_source(walk, tensor, done, &next))
            return false;
        if (next != NULL) {
            if (!push(walk, tensor))
                return false;
            tensor = next;
            done = NULL;
        } else {
            if (!append(walk->graph, tensor, walk->depth))
                return false;
            if (walk->depth == 0)
                return true;
            done = tensor;
            tensor = pop(walk);
        }
    }
}

static struct walk
walk_begin(struct ggml_cgraph *graph)
{
    const struct gb_divisor slots = gb_divisor(graph->visited_hash_set.size);

    if (gb_graph_order(graph) == GGML_CGRAPH_EVAL_ORDER_RIGHT_TO_LEFT)
        return (struct walk){ graph, slots, 0, GGML_MAX_SRC - 1, -1, -1, -1 };
    return (struct walk){ graph, slots, 0, 0, 1, GGML_MAX_SRC,
                          GB_FEW_SRC };
}

void
ggml_build_forward_expand(struct ggml_cgraph *graph, struct ggml_tensor *tensor)
{
    struct walk walk;
    enum entry entry;

    GB_NEED_VOID(graph != NULL, "build_forward_expand: the graph is NULL");
    GB_NEED_VOID(graph->visited_hash_set.size > 0,
                 "build_forward_expand: the graph is a slice");
    if (tensor == NULL) {
        gb_precondition("build_forward_expand: the tensor is NULL");
        gb_graph_set_failed(graph);
        return;
    }
    walk = walk_begin(graph);
    entry = enter(&walk, tensor);
    if (entry == IS_KNOWN)
        return;
    if (entry == HAS_NO_ROOM || !expand(&walk, tensor)) {
        gb_precondition("graph: room for %d nodes and as many leafs is not "
                        "enough for '%s'",
                        graph->size, tensor->name);
        gb_graph_set_failed(graph);
    }
}
