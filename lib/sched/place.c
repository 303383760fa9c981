/* SPDX-License-Identifier: MIT */
/*
 * sched/place.c - memory for a graph on several backends.
 *
 * The graph allocator sees the nodes in the order in which they will run, with
 * the copies where they are made: before each split those of its inputs.  The
 * slot of a tensor is the number of its backend.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/alloc/graph.h"
#include "lib/base/array.h"
#include "lib/base/status.h"

#include <limits.h>
#include <string.h>

/* Nodes or leafs that are listed for the allocator. */
struct list {
    struct ggml_tensor **tensors;
    int *slots;
    int n;
};

static void
put(struct list *list, struct ggml_tensor *tensor, int32_t slot)
{
    list->tensors[list->n] = tensor;
    list->slots[list->n++] = slot;
}

/* Room for N tensors and their slots; false without memory. */
static bool
make_room(
    struct ggml_tensor ***tensors, size_t *max_tensors, int **slots,
    size_t *max_slots, size_t n)
{
    struct ggml_tensor **t;
    int *i;

    t = gb_array_room(*tensors, max_tensors, n, sizeof(*t));
    if (t == NULL)
        return false;
    *tensors = t;
    i = gb_array_room(*slots, max_slots, n, sizeof(*i));
    if (i == NULL)
        return false;
    *slots = i;
    return true;
}

static void
list_nodes(const struct ggml_backend_sched *s, struct list *list)
{
    for (size_t k = 0; k < s->n_splits; k++) {
        const struct gb_sched_split *split = &s->splits[k];

        for (int32_t i = split->inputs_begin; i < split->inputs_end; i++)
            put(list, gb_sched_current(s, s->inputs[i]), split->backend);
        for (int32_t i = split->begin; i < split->end; i++)
            put(list, s->graph.nodes[i],
                s->tensors[s->nodes[i].number].backend);
    }
}

/*
 * All turns of the pipelined copies, graph's inputs first or the others.  The
 * one at hand leads, so that the allocator sees the same graph in each turn.
 */
static void
list_copies(
    const struct ggml_backend_sched *s, struct list *list, bool graph_inputs)
{
    for (size_t i = 0; i < s->n_copied; i++) {
        const struct gb_sched_copy *copy = &s->copies[i];

        if (copy->is_graph_input != graph_inputs)
            continue;
        for (int k = 0; k < s->n_copies; k++)
            put(list,
                gb_sched_copy_tensor(s, (int32_t)i,
                                     (s->copy + k) % s->n_copies),
                copy->backend);
    }
}

static void
list_leafs(const struct ggml_backend_sched *s, struct list *list)
{
    if (s->n_copies > 1) {
        list_copies(s, list, true);
        list_copies(s, list, false);
    }
    for (int i = 0; i < s->graph.n_leafs; i++)
        put(list, s->graph.leafs[i], s->tensors[s->leafs[i]].backend);
}

/* The graph that the allocator gets; its slots are in the scheduler. */
static enum ggml_status
list_all(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    const size_t n_nodes = (size_t)s->graph.n_nodes + s->n_inputs;
    const size_t n_leafs = (size_t)s->graph.n_leafs +
        (s->n_copies > 1 ? s->n_copied * (size_t)s->n_copies : 0);
    struct list nodes, leafs;

    if (n_nodes > INT_MAX || n_leafs > INT_MAX ||
        !make_room(&s->placed_nodes, &s->max_placed_nodes, &s->node_slots,
                   &s->max_node_slots, n_nodes) ||
        !make_room(&s->placed_leafs, &s->max_placed_leafs, &s->leaf_slots,
                   &s->max_leaf_slots, n_leafs))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "sched: no memory to place %zu nodes", n_nodes);
    nodes = (struct list){ s->placed_nodes, s->node_slots, 0 };
    leafs = (struct list){ s->placed_leafs, s->leaf_slots, 0 };
    list_nodes(s, &nodes);
    list_leafs(s, &leafs);
    *graph = (struct ggml_cgraph){
        .n_nodes = nodes.n,
        .n_leafs = leafs.n,
        .nodes = nodes.tensors,
        .leafs = leafs.tensors,
        .order = s->graph.order,
    };
    return GGML_STATUS_SUCCESS;
}

/* Do all tensors lie in the same kinds of memory as in the plan? */
static bool
same_memory(
    const struct ggml_backend_sched *s, const int *slots, const int *last,
    int n)
{
    if (memcmp(slots, last, (size_t)n * sizeof(*slots)) == 0)
        return true;
    for (int i = 0; i < n; i++)
        if (s->backends[slots[i]].buft != s->backends[last[i]].buft)
            return false;
    return true;
}

/* Could the plan that exists be that of GRAPH, as far as slots tell? */
static bool
slots_fit(const struct ggml_backend_sched *s, const struct ggml_cgraph *graph)
{
    return graph->n_nodes == s->n_last_nodes &&
           graph->n_leafs == s->n_last_leafs &&
           s->n_copied == s->n_last_copied &&
           same_memory(s, s->node_slots, s->last_node_slots, graph->n_nodes) &&
           same_memory(s, s->leaf_slots, s->last_leaf_slots, graph->n_leafs);
}

static void
swap_slots(int **a, size_t *max_a, int **b, size_t *max_b)
{
    int *const slots = *a;
    const size_t max = *max_a;

    *a = *b;
    *max_a = *max_b;
    *b = slots;
    *max_b = max;
}

static enum ggml_status
plan(struct ggml_backend_sched *s, const struct ggml_cgraph *graph)
{
    s->n_last_nodes = -1;
    /* Buffers that grow are freed first. */
    gb_sched_wait_for_all(s);
    GB_TRY(gb_alloc_graph_reserve(s->galloc, graph, s->node_slots,
                                  s->leaf_slots));
    swap_slots(&s->node_slots, &s->max_node_slots, &s->last_node_slots,
               &s->max_last_node_slots);
    swap_slots(&s->leaf_slots, &s->max_leaf_slots, &s->last_leaf_slots,
               &s->max_last_leaf_slots);
    s->n_last_nodes = graph->n_nodes;
    s->n_last_leafs = graph->n_leafs;
    s->n_last_copied = s->n_copied;
    s->last_copy = s->copy;
    return GGML_STATUS_SUCCESS;
}

/*
 * Let the plan that exists follow: the copies at hand lie where those of their
 * turn lay before.
 */
static void
take_turns(struct ggml_backend_sched *s)
{
    for (; s->last_copy != s->copy;
         s->last_copy = (s->last_copy + 1) % s->n_copies)
        for (size_t i = 0; i < s->n_copied; i++)
            gb_alloc_graph_turn(s->galloc, (int)i * s->n_copies, s->n_copies);
}

enum ggml_status
gb_sched_plan(struct ggml_backend_sched *s)
{
    struct ggml_cgraph graph;

    GB_TRY(list_all(s, &graph));
    return plan(s, &graph);
}

enum ggml_status
gb_sched_place_as_planned(
    struct ggml_backend_sched *s, const struct ggml_cgraph *graph)
{
    bool fits;

    GB_TRY(gb_alloc_graph_place(s->galloc, graph, NULL, &fits));
    return fits ? GGML_STATUS_SUCCESS
                : gb_fail(GGML_STATUS_FAILED,
                          "sched: the sizes of tensors differ from one "
                          "question to the next");
}

enum ggml_status
gb_sched_place(struct ggml_backend_sched *s)
{
    struct ggml_cgraph graph;
    bool fits = false;

    GB_TRY(list_all(s, &graph));
    if (slots_fit(s, &graph)) {
        take_turns(s);
        GB_TRY(gb_alloc_graph_place(s->galloc, &graph, NULL, &fits));
    }
    if (!fits) {
        GB_TRY(plan(s, &graph));
        GB_TRY(gb_sched_place_as_planned(s, &graph));
    }
    gb_sched_wait_for_turn(s);
    return GGML_STATUS_SUCCESS;
}
