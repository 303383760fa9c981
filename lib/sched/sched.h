/* SPDX-License-Identifier: MIT */
/*
 * sched/sched.h - what the scheduler knows of the graph that it has at hand.
 *
 * Tensors, nodes, splits, inputs and copies are items of arrays and known by
 * their positions there; -1 is none.  The arrays keep their memory from graph
 * to graph.  The steps, in their order: assign.c with index.c, ask.c and join.c;
 * split.c, copy.c, place.c, and run.c as often as the graph is computed.
 */
#ifndef GB_SCHED_SCHED_H
#define GB_SCHED_SCHED_H

#include "ggml-backend-impl.h"
#include "ggml-impl.h"

#include "lib/graph/index.h"

/* Copies of a graph's inputs when it is pipelined. */
#define GB_SCHED_COPIES 4

/* Inputs after which a node that needs one more begins a new split. */
#define GB_SCHED_FULL GGML_MAX_SRC

/* One of the client's backends; the first is the one that is preferred. */
struct gb_sched_backend {
    ggml_backend_t backend;
    ggml_backend_buffer_type_t buft; /* of the results that it computes */
    bool has_twin; /* a preferred backend has the same one */
    bool has_neighbours; /* queue work, and it or they can use the other's */
    size_t last;   /* split that it computes */
    bool has_graph_inputs; /* that take turns */
};

/* A tensor of the graph. */
struct gb_sched_tensor {
    ggml_backend_buffer_type_t home; /* of its data; NULL: nowhere yet */
    int32_t backend;  /* -1: none yet; n_backends: nobody can use its memory */
    int32_t root;     /* tensor that it is a view of */
    int32_t copies;   /* the newest of its copies */
    int32_t n_writes; /* of nodes to memory of other tensors: to this one's */
};

/* A node, in the order of the graph. */
struct gb_sched_node {
    size_t links;   /* where the tensors of its sources begin in the links */
    int32_t number; /* tensor */
    uint8_t n_links;
    bool is_view;   /* the operation computes nothing, it only looks */
    uint16_t writes; /* other tensors: bits of its sources, and the next two */
};

/* The node's result is in the memory of the tensor that it is a view of; the node
 * is a function of the client's, which may write any memory that it can reach. */
#define GB_SCHED_WRITES_ROOT     (1u << GGML_MAX_SRC)
#define GB_SCHED_WRITES_ANYTHING (2u << GGML_MAX_SRC)
_Static_assert(GGML_MAX_SRC < 15, "a bit for each source, and two more");

/*
 * The copies of one tensor for one backend, as many as the scheduler keeps.
 * They hold until the tensor's memory is written again.
 */
struct gb_sched_copy {
    int32_t tensor;
    int32_t backend;
    int32_t next;     /* older copy of the same tensor, for any backend */
    int32_t n_writes; /* that it has seen */
    bool is_graph_input; /* on its own backend, to pipeline what it holds */
};

/* A source that is to be a copy of it. */
struct gb_sched_rewrite {
    int32_t node;
    int32_t slot; /* of its sources */
    int32_t copy;
};

/* Neighbouring nodes that one backend computes. */
struct gb_sched_split {
    int32_t backend;
    int32_t begin, end;             /* nodes */
    int32_t inputs_begin, inputs_end; /* copies to be filled before */
};

struct ggml_backend_sched {
    int n_backends;
    struct gb_sched_backend *backends; /* and nobody behind them, all zero */
    bool *can_use; /* [backend][backend]: the first can use the second's buft */
    int debug;     /* 0, 1 or 2: what is printed of each graph */
    bool is_watched; /* graphs are printed or drawn */
    bool is_busy;  /* in a call that a callback must not disturb */

    int n_copies;
    int copy;      /* that the graph at hand uses */
    int next_copy; /* that the next graph will use */
    ggml_backend_event_t *events; /* [backend][copy]; NULL without, and where
                                     the device has none */

    ggml_gallocr_t galloc;
    ggml_backend_sched_eval_callback callback;
    void *callback_data;

    /* What the client asked for since the last reset. */
    struct gb_index chosen;
    int32_t *chosen_backends;
    size_t max_chosen;

    /* The graph at hand. */
    bool is_plain;     /* it is on the only backend and copies nothing */
    bool is_split;     /* what follows is whole */
    bool is_allocated; /* and its tensors have their places */
    struct ggml_cgraph graph; /* the client's: its nodes, in their order */
    const struct ggml_cgraph *given; /* by the client; only ever compared */

    struct gb_index index;
    struct gb_sched_tensor *tensors;
    size_t max_tensors;
    int32_t *leafs; /* tensors */
    size_t max_leafs;
    struct gb_sched_node *nodes;
    size_t max_nodes;
    int32_t *links; /* tensors of nodes' sources; gaps between them are -1 */
    size_t n_links, max_links;
    int n_settled, n_open; /* nodes with and without backend at first look */
    int n_fallback_copies; /* tensors that gb_sched_count_fallback was told of */
    int32_t first_fallback;
    bool has_said_fallback; /* of a graph before */
    int32_t *strays; /* tensors that are only sources, no leafs and no nodes */
    size_t n_strays, max_strays;

    struct gb_sched_split *splits;
    size_t n_splits, max_splits;
    int32_t *inputs; /* copies */
    size_t n_inputs, max_inputs;
    struct gb_sched_copy *copies;
    size_t n_copied, max_copied;
    size_t n_stale; /* of the copies, while the graph is cut: the first ones */
    bool writes_anything; /* a node of the graph may */
    struct gb_sched_rewrite *rewrites;
    size_t n_rewrites, max_rewrites;

    /* Descriptions of all copies. */
    struct ggml_tensor *pool;
    size_t max_pool;

    /* The graph for the allocator, which has copies where they are made. */
    struct ggml_tensor **placed_nodes, **placed_leafs;
    int *node_slots, *leaf_slots;
    int *last_node_slots, *last_leaf_slots; /* of the plan that exists */
    size_t max_placed_nodes, max_node_slots, max_last_node_slots;
    size_t max_placed_leafs, max_leaf_slots, max_last_leaf_slots;
    int n_last_nodes, n_last_leafs;
    size_t n_last_copied;
    int last_copy;
};

/* ---- what is asked everywhere ---- */

static inline struct ggml_tensor *
gb_sched_tensor(const struct ggml_backend_sched *sched, int32_t number)
{
    return sched->index.tensors[number];
}

/*
 * One backend without pipelining, and nobody who wants to read about it: all
 * tensors are on backend 0 and none is copied, unless it turns out that the
 * backend cannot use them.  They are neither numbered nor known by anything
 * else here than the client's graph.
 */
static inline bool
gb_sched_may_be_plain(const struct ggml_backend_sched *sched)
{
    return sched->n_backends == 1 && sched->n_copies == 1 &&
           !sched->is_watched;
}

/* What computes the node, or would: the client's backend by its number. */
static inline ggml_backend_t
gb_sched_backend(const struct ggml_backend_sched *sched, int32_t backend)
{
    return sched->backends[backend].backend;
}

/* The event of a backend and the copy at hand; NULL where there is none. */
static inline ggml_backend_event_t
gb_sched_event(const struct ggml_backend_sched *sched, int32_t backend)
{
    return sched->events != NULL
               ? sched->events[backend * sched->n_copies + sched->copy]
               : NULL;
}

/* The tensor whose memory it is. */
static inline int32_t
gb_sched_owner(const struct ggml_backend_sched *sched, int32_t number)
{
    const int32_t root = sched->tensors[number].root;

    return root >= 0 ? root : number;
}

/* ---- what backends are asked (ask.c) ---- */

/* Can BACKEND use memory of this type? */
static inline bool
gb_sched_can_use(
    const struct ggml_backend_sched *sched, int32_t backend,
    ggml_backend_buffer_type_t buft)
{
    ggml_backend_dev_t device = gb_sched_backend(sched, backend)->device;

    return device->iface.supports_buft(device, buft);
}

/* Can BACKEND use the tensor where it lies, or will lie? */
static inline bool
gb_sched_can_reach(
    const struct ggml_backend_sched *sched, int32_t number, int32_t backend)
{
    const struct gb_sched_tensor *t = &sched->tensors[number];
    int32_t owner = t->root >= 0 ? sched->tensors[t->root].backend : -1;

    if (t->home != NULL)
        return gb_sched_can_use(sched, backend, t->home);
    if (owner < 0)
        owner = t->backend;
    return owner >= 0 && sched->can_use[backend * sched->n_backends + owner];
}

/* Can BACKEND run OP with its sources where they are? */
static inline bool
gb_sched_can_run(
    const struct ggml_backend_sched *sched, int32_t backend,
    const struct ggml_tensor *op)
{
    ggml_backend_dev_t device = gb_sched_backend(sched, backend)->device;

    return device->iface.supports_op(device, op);
}

/*
 * Can it, once it has copies of those that it cannot use where they are?  Many
 * backends look at where a source lies, so they are asked about the copies.
 */
bool gb_sched_can_run_on_copies(
    const struct ggml_backend_sched *sched, int32_t backend,
    const struct ggml_tensor *op);

/* No backend can run the operation of TENSOR, or not where that lies. */
enum ggml_status gb_sched_fail_for_all(
    const struct ggml_backend_sched *sched, const struct ggml_tensor *tensor);

/*
 * Nobody can do what has to be done with the tensor where data lies, which is
 * copied for that in each compute: count it; and say so, once.
 */
void gb_sched_count_fallback(struct ggml_backend_sched *sched, int32_t number);
void gb_sched_say_fallback(struct ggml_backend_sched *sched);

/*
 * May BACKEND meet work of OTHER that is still queued, in memory that both can
 * use?  There is no copy between them that would wait for it.
 */
static inline bool
gb_sched_are_neighbours(
    const struct ggml_backend_sched *sched, int32_t backend, int32_t other)
{
    const int32_t n = sched->n_backends;

    return backend != other &&
           gb_sched_backend(sched, other)->iface.synchronize != NULL &&
           (sched->can_use[backend * n + other] ||
            sched->can_use[other * n + backend]);
}

/* ---- the steps ---- */

/*
 * A backend for every tensor.  Large graphs are in no cache, so each leaf and
 * each node is looked at once: it is numbered with its sources, and assigned
 * right away where that depends on nothing else.
 */
enum ggml_status gb_sched_assign(struct ggml_backend_sched *sched);

/* The tensors to whose memory the node writes, as often as it does; how many
 * they are. */
#define GB_SCHED_MAX_WRITTEN (GGML_MAX_SRC + 1)
int gb_sched_find_written(
    const struct ggml_backend_sched *sched, const struct gb_sched_node *node,
    int32_t owners[GB_SCHED_MAX_WRITTEN]);

/*
 * Let node I, which has a backend, be computed where it can write to all memory
 * that it writes to.  What is not in memory yet may move for that.
 */
enum ggml_status gb_sched_join(struct ggml_backend_sched *sched, int32_t i);

/*
 * Forget the graph before; number leaf I; and node I with its sources.  What
 * the client chose has its backend then.
 */
enum ggml_status gb_sched_begin_index(struct ggml_backend_sched *sched);
enum ggml_status gb_sched_enter_leaf(struct ggml_backend_sched *sched, int i);
enum ggml_status gb_sched_enter_node(struct ggml_backend_sched *sched, int i);

/* Cut the graph into splits, and find the inputs that have to be copied. */
enum ggml_status gb_sched_split(struct ggml_backend_sched *sched);

/* The newest copy of TENSOR for BACKEND, -1 for none yet. */
static inline int32_t
gb_sched_find_copy(
    const struct ggml_backend_sched *sched, int32_t tensor, int32_t backend)
{
    int32_t i = sched->tensors[tensor].copies;

    while (i >= 0 && sched->copies[i].backend != backend)
        i = sched->copies[i].next;
    return i;
}

/*
 * Describe all copies, and let the nodes read them.  Undone by
 * gb_sched_restore, while the graph is still there.
 */
enum ggml_status gb_sched_make_copies(struct ggml_backend_sched *sched);
void gb_sched_restore(struct ggml_backend_sched *sched);

/* Copy WHICH (of n_copies) of a tensor, and the one that is at hand. */
struct ggml_tensor *gb_sched_copy_tensor(
    const struct ggml_backend_sched *sched, int32_t copy, int which);
static inline struct ggml_tensor *
gb_sched_current(const struct ggml_backend_sched *sched, int32_t copy)
{
    return gb_sched_copy_tensor(sched, copy, sched->copy);
}

/* Plan where all tensors lie, and make the buffers; or give their places. */
enum ggml_status gb_sched_plan(struct ggml_backend_sched *sched);
enum ggml_status gb_sched_place(struct ggml_backend_sched *sched);

/* Give GRAPH's tensors their places by the plan that was just made for it. */
enum ggml_status gb_sched_place_as_planned(
    struct ggml_backend_sched *sched, const struct ggml_cgraph *graph);

/*
 * Both for a plain graph, whose operations are checked with it: *is_refused,
 * which is false before, is true and nothing was done when the backend cannot
 * run them all where their tensors lie.
 */
enum ggml_status gb_sched_plan_plain(
    struct ggml_backend_sched *sched, bool *is_refused);
enum ggml_status gb_sched_place_plain(
    struct ggml_backend_sched *sched, bool *is_refused);

/*
 * Wait until the inputs of the graph at hand may be written: until what lies
 * there was read in the graph of the same turn before.
 */
void gb_sched_wait_for_turn(const struct ggml_backend_sched *sched);

/* Compute all splits, without waiting for the last of the work. */
enum ggml_status gb_sched_run(struct ggml_backend_sched *sched);

/* Wait for all work of all backends.  Fails when some of it turns out to have. */
enum ggml_status gb_sched_wait_for_all(
    const struct ggml_backend_sched *sched);

/* Log the splits, as much of them as was asked for. */
void gb_sched_print(const struct ggml_backend_sched *sched);

/* Draw the splits, if GGMLBACKEND_SCHED_DOT asks for it. */
void gb_sched_draw(const struct ggml_backend_sched *sched);

/* All backends' names, as "A, B and C", cut when there is no room. */
void gb_sched_names(
    const struct ggml_backend_sched *sched, char *text, size_t size);

#endif
