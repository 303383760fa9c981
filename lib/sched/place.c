/* SPDX-License-Identifier: MIT */
/*
 * sched/place.c - memory for a graph on several backends.
 *
 * The graph allocator sees the nodes in the order in which they will run, with
 * the copies where they are made: before each split those of its inputs.  The
 * slot of a tensor is the number of its backend.
 *
 * Where several copies of each input are kept, they have an allocator of their
 * own and get their places first.  Each turn of a copy has the same place in
 * every graph, and the graph's plan does not know which turn it is: it stays
 * good, and nobody has to be waited for, from graph to graph.
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
            put(list, s->graph.nodes[i], s->tensors[s->nodes[i].number].backend);
    }
}

/*
 * The graph that the allocator gets.  That of a single backend without copies is
 * the client's, and all slots are the first.
 */
static enum ggml_status
list_graph(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    struct gb_sched_places *p = &s->places;
    const size_t n_nodes = (size_t)s->graph.n_nodes + s->n_inputs;
    struct list nodes, leafs;

    if (s->n_backends == 1 && s->n_copies == 1) {
        *graph = s->graph;
        return GGML_STATUS_SUCCESS;
    }
    if (n_nodes > INT_MAX ||
        !make_room(&p->nodes, &p->max_nodes, &p->node_slots,
                   &p->max_node_slots, n_nodes) ||
        !make_room(&p->leafs, &p->max_leafs, &p->leaf_slots,
                   &p->max_leaf_slots, (size_t)s->graph.n_leafs))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "sched: no memory to place %zu nodes", n_nodes);
    nodes = (struct list){ p->nodes, p->node_slots, 0 };
    leafs = (struct list){ p->leafs, p->leaf_slots, 0 };
    list_nodes(s, &nodes);
    for (int i = 0; i < s->graph.n_leafs; i++)
        put(&leafs, s->graph.leafs[i], s->tensors[s->leafs[i]].backend);
    *graph = (struct ggml_cgraph){
        .n_nodes = nodes.n,
        .n_leafs = leafs.n,
        .nodes = nodes.tensors,
        .leafs = leafs.tensors,
        .order = s->graph.order,
    };
    return GGML_STATUS_SUCCESS;
}

/* A graph of all turns of all copies. */
static enum ggml_status
list_turns(struct ggml_backend_sched *s, struct ggml_cgraph *graph)
{
    struct gb_sched_places *p = &s->turns;
    const size_t n = s->n_copied * (size_t)s->n_copies;
    struct list leafs;

    if (n > INT_MAX || !make_room(&p->leafs, &p->max_leafs, &p->leaf_slots,
                                  &p->max_leaf_slots, n))
        return gb_fail(GGML_STATUS_ALLOC_FAILED,
                       "sched: no memory to place %zu copies", n);
    leafs = (struct list){ p->leafs, p->leaf_slots, 0 };
    for (size_t i = 0; i < s->n_copied; i++)
        for (int which = 0; which < s->n_copies; which++)
            put(&leafs, gb_sched_copy_tensor(s, (int32_t)i, which),
                s->copies[i].backend);
    *graph = (struct ggml_cgraph){
        .n_leafs = leafs.n,
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
slots_fit(const struct ggml_backend_sched *s, const struct gb_sched_places *p,
          const struct ggml_cgraph *graph)
{
    if (s->n_backends == 1)
        return true;
    return graph->n_nodes == p->n_last_nodes &&
           graph->n_leafs == p->n_last_leafs &&
           same_memory(s, p->node_slots, p->last_node_slots, graph->n_nodes) &&
           same_memory(s, p->leaf_slots, p->last_leaf_slots, graph->n_leafs);
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
plan(struct ggml_backend_sched *s, struct gb_sched_places *p,
     const struct ggml_cgraph *graph)
{
    /* Buffers that grow are freed first. */
    gb_sched_wait_for_all(s);
    p->n_last_nodes = -1;
    if (s->n_backends == 1)
        return gb_alloc_graph_reserve(p->galloc, graph, NULL, NULL);
    GB_TRY(gb_alloc_graph_reserve(p->galloc, graph, p->node_slots,
                                  p->leaf_slots));
    swap_slots(&p->node_slots, &p->max_node_slots, &p->last_node_slots,
               &p->max_last_node_slots);
    swap_slots(&p->leaf_slots, &p->max_leaf_slots, &p->last_leaf_slots,
               &p->max_last_leaf_slots);
    p->n_last_nodes = graph->n_nodes;
    p->n_last_leafs = graph->n_leafs;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
place(struct ggml_backend_sched *s, struct gb_sched_places *p,
      const struct ggml_cgraph *graph)
{
    bool fits = false;

    if (slots_fit(s, p, graph))
        GB_TRY(gb_alloc_graph_place(p->galloc, graph, &fits));
    if (fits)
        return GGML_STATUS_SUCCESS;
    GB_TRY(plan(s, p, graph));
    GB_TRY(gb_alloc_graph_place(p->galloc, graph, &fits));
    if (!fits)
        return gb_fail(GGML_STATUS_FAILED,
                       "sched: the sizes of tensors differ from one question "
                       "to the next");
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
place_turns(struct ggml_backend_sched *s)
{
    struct ggml_cgraph graph;

    if (s->n_copies == 1)
        return GGML_STATUS_SUCCESS;
    GB_TRY(list_turns(s, &graph));
    return place(s, &s->turns, &graph);
}

/* The client's tensors, which take part in the turns, as they were before. */
static void
take_back_turns(struct ggml_backend_sched *s)
{
    for (size_t i = 0; i < s->n_copied; i++) {
        struct ggml_tensor *input = gb_sched_tensor(s, s->copies[i].tensor);

        if (s->copies[i].is_graph_input) {
            input->buffer = NULL;
            input->data = NULL;
        }
    }
}

/* The turns have their places meanwhile, so that the plan leaves them out. */
enum ggml_status
gb_sched_plan(struct ggml_backend_sched *s)
{
    struct ggml_cgraph graph;
    enum ggml_status status = place_turns(s);

    if (status == GGML_STATUS_SUCCESS)
        status = list_graph(s, &graph);
    if (status == GGML_STATUS_SUCCESS)
        status = plan(s, &s->places, &graph);
    take_back_turns(s);
    return status;
}

enum ggml_status
gb_sched_place(struct ggml_backend_sched *s)
{
    struct ggml_cgraph graph;

    GB_TRY(place_turns(s));
    GB_TRY(list_graph(s, &graph));
    return place(s, &s->places, &graph);
}

static enum ggml_status
init_places(const struct ggml_backend_sched *s, struct gb_sched_places *p)
{
    const size_t n = (size_t)s->n_backends;
    ggml_backend_buffer_type_t *bufts = gb_mem_zalloc(n, sizeof(*bufts));

    if (bufts == NULL)
        return gb_fail(GGML_STATUS_ALLOC_FAILED, "sched: no memory");
    for (size_t i = 0; i < n; i++)
        bufts[i] = s->backends[i].buft;
    p->n_last_nodes = -1;
    p->galloc = ggml_gallocr_new_n(bufts, s->n_backends);
    gb_mem_free(bufts);
    return p->galloc != NULL ? GGML_STATUS_SUCCESS : GGML_STATUS_ALLOC_FAILED;
}

static void
clear_places(struct gb_sched_places *p)
{
    ggml_gallocr_free(p->galloc);
    gb_mem_free(p->nodes);
    gb_mem_free(p->leafs);
    gb_mem_free(p->node_slots);
    gb_mem_free(p->leaf_slots);
    gb_mem_free(p->last_node_slots);
    gb_mem_free(p->last_leaf_slots);
}

enum ggml_status
gb_sched_places_init(struct ggml_backend_sched *s)
{
    GB_TRY(init_places(s, &s->places));
    return s->n_copies > 1 ? init_places(s, &s->turns) : GGML_STATUS_SUCCESS;
}

void
gb_sched_places_clear(struct ggml_backend_sched *s)
{
    clear_places(&s->places);
    clear_places(&s->turns);
}

size_t
gb_sched_places_size(const struct ggml_backend_sched *s, int32_t backend)
{
    size_t size = ggml_gallocr_get_buffer_size(s->places.galloc, backend);

    if (s->n_copies > 1)
        size += ggml_gallocr_get_buffer_size(s->turns.galloc, backend);
    return size;
}
