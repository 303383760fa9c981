/* SPDX-License-Identifier: MIT */
/*
 * sched/assign.c - a backend for every tensor of a graph.
 *
 * What the client chose stands first.  Then:
 *   1. data that exists stays where it is, inputs come from the last backend,
 *      and an operation goes where its weight lies;
 *   2. nodes without a backend take that of a neighbour, preferred ones first;
 *   3. what is left goes where most of its sources are, and a node moves to a
 *      preferred backend that works in the same memory;
 *   4. views follow what they look at, other sources follow their reader.
 *
 * What shares the memory of another tensor is computed where that memory is,
 * whatever was chosen (join.c).  Nobody may be left who can do something with
 * data where it lies: then the first that can do it with copies does.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/status.h"
#include "lib/op/op.h"
#include "lib/tensor/tensor.h"

/* A question whether a backend can run an operation. */
typedef bool (*can_run_fn)(
    const struct ggml_backend_sched *sched, int32_t backend,
    const struct ggml_tensor *op);

/* ---- 1: data, inputs, weights ---- */

/* The first backend that can use BUFT and run OP, -1 for none. */
static inline int32_t
first_that_can(
    const struct ggml_backend_sched *s, ggml_backend_buffer_type_t buft,
    const struct ggml_tensor *op, can_run_fn can_run)
{
    for (int32_t b = 0; b < s->n_backends; b++)
        if (gb_sched_can_use(s, b, buft) && can_run(s, b, op))
            return b;
    return -1;
}

/* A backend that wants OP though its weight has to be copied there, or -1. */
static int32_t
first_that_offloads(
    const struct ggml_backend_sched *s, const struct ggml_tensor *op)
{
    for (int32_t b = 0; b < s->n_backends - 1; b++)
        if (gb_sched_can_run(s, b, op) &&
            ggml_backend_offload_op(gb_sched_backend(s, b), op))
            return b;
    return -1;
}

static inline bool
is_weight(const struct ggml_tensor *tensor)
{
    return tensor->buffer != NULL &&
           tensor->buffer->usage == GGML_BACKEND_BUFFER_USAGE_WEIGHTS;
}

/* The first weight that OP reads with its first N sources, NULL for none. */
static const struct ggml_tensor *
first_weight(const struct ggml_tensor *op, int n)
{
    for (int i = 0; i < n; i++)
        if (op->src[i] != NULL && is_weight(op->src[i]))
            return op->src[i];
    return NULL;
}

/* The backend for OP where WEIGHT can be used, or -1. */
static int32_t
follow_weight(
    const struct ggml_backend_sched *s, const struct ggml_tensor *op,
    const struct ggml_tensor *weight)
{
    int32_t backend, offload;

    backend = first_that_can(s, gb_transfer_home(weight)->buft, op,
                             gb_sched_can_run);
    if (backend != s->n_backends - 1 ||
        !ggml_backend_buffer_is_host(weight->buffer))
        return backend;
    offload = first_that_offloads(s, op);
    return offload >= 0 ? offload : backend;
}

/*
 * The backend for what lies in memory: n_backends, which is nobody, for what is
 * only read there, and has to be copied for whoever reads it.
 */
static enum ggml_status
settle_in_place(struct ggml_backend_sched *s, int32_t number)
{
    const struct ggml_tensor *tensor = gb_sched_tensor(s, number);
    struct gb_sched_tensor *t = &s->tensors[number];

    t->backend = first_that_can(s, t->home, tensor, gb_sched_can_run);
    if (t->backend >= 0)
        return GGML_STATUS_SUCCESS;
    t->backend = first_that_can(s, t->home, tensor, gb_sched_can_run_on_copies);
    if (t->backend < 0 && gb_op_has_work(tensor->op))
        return gb_sched_fail_for_all(s, tensor);
    if (t->backend < 0)
        t->backend = s->n_backends;
    gb_sched_count_fallback(s, number);
    return GGML_STATUS_SUCCESS;
}

/* As data or the flag say, the data whatever was chosen; -1 for neither. */
static inline enum ggml_status
settle_by_data(struct ggml_backend_sched *s, int32_t number)
{
    struct gb_sched_tensor *t = &s->tensors[number];

    if (t->home != NULL)
        return t->backend >= 0 && gb_sched_can_use(s, t->backend, t->home)
                   ? GGML_STATUS_SUCCESS : settle_in_place(s, number);
    if (t->backend < 0 &&
        (gb_sched_tensor(s, number)->flags & GGML_TENSOR_FLAG_INPUT) != 0)
        t->backend = s->n_backends - 1;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
settle_node(struct ggml_backend_sched *s, struct gb_sched_node *node)
{
    const struct ggml_tensor *tensor = gb_sched_tensor(s, node->number);
    int32_t *backend = &s->tensors[node->number].backend;
    const struct ggml_tensor *weight = NULL;

    GB_TRY(settle_by_data(s, node->number));
    /* The weights of ROPE are a few frequencies, which may go anywhere. */
    if (*backend < 0 && tensor->op != GGML_OP_ROPE)
        weight = first_weight(tensor, node->n_links);
    if (weight != NULL)
        *backend = follow_weight(s, tensor, weight);
    /* Nobody has to do anything with a parameter. */
    node->is_view |= *backend == s->n_backends;
    if (!node->is_view)
        *(*backend < 0 ? &s->n_open : &s->n_settled) += 1;
    return GGML_STATUS_SUCCESS;
}

/* What the graph reads and does not compute, as in a slice of another one. */
static void
settle_stray(struct ggml_backend_sched *s, int32_t number)
{
    struct gb_sched_tensor *t = &s->tensors[number];
    int32_t b = 0;

    if (t->home == NULL ||
        (t->backend >= 0 && gb_sched_can_use(s, t->backend, t->home)))
        return;
    while (b < s->n_backends && !gb_sched_can_use(s, b, t->home))
        b++;
    t->backend = b;
    if (b == s->n_backends)
        gb_sched_count_fallback(s, number);
}

static enum ggml_status
settle_all(struct ggml_backend_sched *s)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    s->n_open = 0;
    s->n_settled = 0;
    s->n_fallback_copies = 0;
    for (int i = 0; i < s->graph.n_leafs; i++) {
        GB_TRY(gb_sched_enter_leaf(s, i));
        GB_TRY(settle_by_data(s, s->leafs[i]));
    }
    for (int i = 0; i < s->graph.n_nodes; i++) {
        gb_tensor_walk(&walk, s->graph.nodes[i]);
        GB_TRY(gb_sched_enter_node(s, i));
        GB_TRY(settle_node(s, &s->nodes[i]));
    }
    for (size_t i = 0; i < s->n_strays; i++)
        settle_stray(s, s->strays[i]);
    return GGML_STATUS_SUCCESS;
}

/* ---- 2: neighbours ---- */

/*
 * Walk over the nodes, and give those without a backend that of the node
 * before, if it can run them.
 *
 *   step     1 down the graph, -1 up
 *   n_usable backends from this one on are not spread
 */
static void
spread(struct ggml_backend_sched *s, int step, int32_t n_usable)
{
    const int n = s->graph.n_nodes;
    int32_t current = -1;

    for (int k = 0; k < n; k++) {
        const struct gb_sched_node *node = &s->nodes[step > 0 ? k : n - 1 - k];
        int32_t *backend = &s->tensors[node->number].backend;

        if (node->is_view)
            continue;
        if (*backend >= 0)
            current = *backend < n_usable ? *backend : -1;
        else if (current >= 0 &&
                 gb_sched_can_run(s, current, gb_sched_tensor(s, node->number)))
            *backend = current;
    }
}

/* ---- 3: the best of those that can ---- */

static int
count_reachable(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t backend)
{
    int count = 0;

    for (int i = 0; i < node->n_links; i++) {
        const int32_t source = s->links[node->links + (size_t)i];

        count += source >= 0 && gb_sched_can_reach(s, source, backend);
    }
    return count;
}

/* The backend that runs the node and reaches most of its sources, or -1. */
static inline int32_t
best_for(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    can_run_fn can_run)
{
    const struct ggml_tensor *op = gb_sched_tensor(s, node->number);
    int32_t best = -1;
    int best_count = -1;

    for (int32_t b = 0; b < s->n_backends; b++) {
        int count;

        if (!can_run(s, b, op))
            continue;
        count = count_reachable(s, node, b);
        if (count > best_count) {
            best = b;
            best_count = count;
        }
    }
    return best;
}

static bool
reaches_all(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t backend)
{
    for (int i = 0; i < node->n_links; i++) {
        const int32_t source = s->links[node->links + (size_t)i];

        if (source >= 0 && !gb_sched_can_reach(s, source, backend))
            return false;
    }
    return true;
}

/* The first backend that does the same in the same memory. */
static int32_t
preferred_twin(
    const struct ggml_backend_sched *s, const struct gb_sched_node *node,
    int32_t backend)
{
    const struct ggml_tensor *op = gb_sched_tensor(s, node->number);

    for (int32_t b = 0; b < backend; b++)
        if (s->backends[b].buft == s->backends[backend].buft &&
            gb_sched_can_run(s, b, op) && reaches_all(s, node, b))
            return b;
    return backend;
}

/* A backend for a node that no rule gave one. */
static enum ggml_status
place_open(struct ggml_backend_sched *s, const struct gb_sched_node *node)
{
    const struct ggml_tensor *op = gb_sched_tensor(s, node->number);
    int32_t backend = best_for(s, node, gb_sched_can_run);

    if (backend < 0) {
        backend = best_for(s, node, gb_sched_can_run_on_copies);
        if (backend < 0)
            return gb_sched_fail_for_all(s, op);
        gb_sched_count_fallback(s, node->number);
    }
    s->tensors[node->number].backend = backend;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
improve(struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->graph.n_nodes; i++) {
        const struct gb_sched_node *node = &s->nodes[i];
        int32_t *backend = &s->tensors[node->number].backend;

        if (node->is_view)
            continue;
        if (*backend < 0)
            GB_TRY(place_open(s, node));
        else if (s->backends[*backend].has_twin)
            *backend = preferred_twin(s, node, *backend);
        if (node->writes != 0)
            GB_TRY(gb_sched_join(s, i));
    }
    return GGML_STATUS_SUCCESS;
}

/* ---- 4: views and sources ---- */

/*
 * A view takes the backend of its root.  A root without one gets BACKEND, and
 * so does what is no view; unless that is -1.
 */
static inline void
follow(struct ggml_backend_sched *s, int32_t number, int32_t backend)
{
    struct gb_sched_tensor *t = &s->tensors[number];
    struct gb_sched_tensor *root = t->root >= 0 ? &s->tensors[t->root] : t;

    if (root->backend < 0)
        root->backend = backend;
    if (t->backend < 0 ||
        (t->backend != root->backend &&
         !gb_sched_can_reach(s, number, t->backend)))
        t->backend = root->backend;
}

static void
complete(struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->graph.n_nodes; i++) {
        const struct gb_sched_node *node = &s->nodes[i];

        follow(s, node->number, -1);
        for (int k = 0; k < node->n_links; k++) {
            const int32_t source = s->links[node->links + (size_t)k];

            if (source >= 0)
                follow(s, source, s->tensors[node->number].backend);
        }
    }
    /* What no operation reads, and views of that. */
    for (int32_t i = 0; i < s->index.n_tensors; i++)
        follow(s, i, s->n_backends - 1);
}

enum ggml_status
gb_sched_assign(struct ggml_backend_sched *s)
{
    GB_TRY(gb_sched_begin_index(s));
    GB_TRY(settle_all(s));
    if (s->n_open > 0 && s->n_settled > 0) {
        spread(s, 1, s->n_backends - 1);
        spread(s, -1, s->n_backends - 1);
        spread(s, 1, s->n_backends);
        spread(s, -1, s->n_backends);
    }
    GB_TRY(improve(s));
    complete(s);
    gb_sched_say_fallback(s);
    return GGML_STATUS_SUCCESS;
}
