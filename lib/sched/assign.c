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
 * whatever was chosen.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/status.h"
#include "lib/tensor/tensor.h"

/* Long enough for the names of a dozen backends. */
#define NAMES_SIZE 256

static bool
can_run(
    const struct ggml_backend_sched *s, int32_t backend,
    const struct ggml_tensor *op)
{
    ggml_backend_dev_t device = s->backends[backend].backend->device;

    return device->iface.supports_op(device, op);
}

/* Can BACKEND use memory of this type? */
static bool
can_use(
    const struct ggml_backend_sched *s, int32_t backend,
    ggml_backend_buffer_type_t buft)
{
    ggml_backend_dev_t device = s->backends[backend].backend->device;

    return device->iface.supports_buft(device, buft);
}

bool
gb_sched_can_reach(
    const struct ggml_backend_sched *s, int32_t number, int32_t backend)
{
    const struct gb_sched_tensor *t = &s->tensors[number];
    int32_t owner = t->root >= 0 ? s->tensors[t->root].backend : -1;

    if (t->home != NULL)
        return can_use(s, backend, t->home);
    if (owner < 0)
        owner = t->backend;
    return owner >= 0 && s->can_use[backend * s->n_backends + owner];
}

/* ---- 1: data, inputs, weights ---- */

/* The first backend that can use BUFT and run OP, -1 for none. */
static int32_t
first_that_can(
    const struct ggml_backend_sched *s, ggml_backend_buffer_type_t buft,
    const struct ggml_tensor *op)
{
    for (int32_t b = 0; b < s->n_backends; b++)
        if (can_use(s, b, buft) && can_run(s, b, op))
            return b;
    return -1;
}

/* A backend that wants OP though its weight has to be copied there, or -1. */
static int32_t
first_that_offloads(
    const struct ggml_backend_sched *s, const struct ggml_tensor *op)
{
    for (int32_t b = 0; b < s->n_backends - 1; b++)
        if (can_run(s, b, op) &&
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

    backend = first_that_can(s, gb_transfer_home(weight)->buft, op);
    if (backend != s->n_backends - 1 ||
        !ggml_backend_buffer_is_host(weight->buffer))
        return backend;
    offload = first_that_offloads(s, op);
    return offload >= 0 ? offload : backend;
}

static enum ggml_status
fail_for_all(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);
    char names[NAMES_SIZE];

    gb_sched_names(s, names, sizeof(names));
    if (home == NULL)
        return gb_fail(GGML_STATUS_FAILED,
                       "sched: %s of tensor %s is supported by none of %s",
                       ggml_op_desc(tensor), tensor->name, names);
    return gb_fail(GGML_STATUS_FAILED,
                   "sched: %s of tensor %s, which lies in memory of %s, is "
                   "supported there by none of %s",
                   ggml_op_desc(tensor), tensor->name,
                   ggml_backend_buffer_name(home), names);
}

/* As data or the flag say; -1 for neither. */
static enum ggml_status
settle_by_data(struct ggml_backend_sched *s, int32_t number)
{
    const struct ggml_tensor *tensor = gb_sched_tensor(s, number);
    struct gb_sched_tensor *t = &s->tensors[number];

    if (t->home != NULL) {
        t->backend = first_that_can(s, t->home, tensor);
        return t->backend >= 0 ? GGML_STATUS_SUCCESS : fail_for_all(s, tensor);
    }
    if ((tensor->flags & GGML_TENSOR_FLAG_INPUT) != 0)
        t->backend = s->n_backends - 1;
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
settle_leaf(struct ggml_backend_sched *s, int32_t number)
{
    return s->tensors[number].backend >= 0 ? GGML_STATUS_SUCCESS
                                           : settle_by_data(s, number);
}

static enum ggml_status
settle_node(struct ggml_backend_sched *s, const struct gb_sched_node *node)
{
    const struct ggml_tensor *tensor = gb_sched_tensor(s, node->number);
    int32_t *backend = &s->tensors[node->number].backend;
    const struct ggml_tensor *weight = NULL;

    if (*backend < 0)
        GB_TRY(settle_by_data(s, node->number));
    /* The weights of ROPE are a few frequencies, which may go anywhere. */
    if (*backend < 0 && tensor->op != GGML_OP_ROPE)
        weight = first_weight(tensor, node->n_links);
    if (weight != NULL)
        *backend = follow_weight(s, tensor, weight);
    if (!node->is_view)
        *(*backend < 0 ? &s->n_open : &s->n_settled) += 1;
    return GGML_STATUS_SUCCESS;
}

/* What the graph reads and does not compute, as in a slice of another one. */
static void
settle_stray(struct ggml_backend_sched *s, int32_t number)
{
    struct gb_sched_tensor *t = &s->tensors[number];

    for (int32_t b = 0; t->backend < 0 && t->home != NULL && b < s->n_backends;
         b++)
        if (can_use(s, b, t->home))
            t->backend = b;
}

static enum ggml_status
settle_all(struct ggml_backend_sched *s)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    s->n_open = 0;
    s->n_settled = 0;
    for (int i = 0; i < s->graph.n_leafs; i++) {
        GB_TRY(gb_sched_enter_leaf(s, i));
        GB_TRY(settle_leaf(s, s->leafs[i]));
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
                 can_run(s, current, gb_sched_tensor(s, node->number)))
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
static int32_t
best_for(const struct ggml_backend_sched *s, const struct gb_sched_node *node)
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
            can_run(s, b, op) && reaches_all(s, node, b))
            return b;
    return backend;
}

/* A node that writes to the memory of another tensor goes there. */
static enum ggml_status
join_root(struct ggml_backend_sched *s, int32_t number)
{
    const struct ggml_tensor *op = gb_sched_tensor(s, number);
    struct gb_sched_tensor *t = &s->tensors[number];
    struct gb_sched_tensor *root;

    if (t->root < 0)
        return GGML_STATUS_SUCCESS;
    root = &s->tensors[t->root];
    if (root->backend < 0)
        root->backend = t->backend;
    if (gb_sched_can_reach(s, t->root, t->backend))
        return GGML_STATUS_SUCCESS;
    t->backend = root->backend;
    return can_run(s, t->backend, op) ? GGML_STATUS_SUCCESS
                                      : fail_for_all(s, op);
}

static enum ggml_status
improve(struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->graph.n_nodes; i++) {
        const struct gb_sched_node *node = &s->nodes[i];
        int32_t *backend = &s->tensors[node->number].backend;

        if (node->is_view)
            continue;
        if (*backend < 0) {
            *backend = best_for(s, node);
            if (*backend < 0)
                return fail_for_all(s, gb_sched_tensor(s, node->number));
        } else if (s->backends[*backend].has_twin) {
            *backend = preferred_twin(s, node, *backend);
        }
        GB_TRY(join_root(s, node->number));
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
        (t->root >= 0 && !gb_sched_can_reach(s, number, t->backend)))
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

/* ---- a single backend ---- */

/* Can the only backend compute the tensor, where it lies? */
enum ggml_status
gb_sched_check_single(
    const struct ggml_backend_sched *s, const struct ggml_tensor *tensor)
{
    const ggml_backend_buffer_t home = gb_transfer_home(tensor);

    return (home == NULL || can_use(s, 0, home->buft)) && can_run(s, 0, tensor)
               ? GGML_STATUS_SUCCESS
               : fail_for_all(s, tensor);
}

static enum ggml_status
assign_to_single(struct ggml_backend_sched *s)
{
    struct gb_tensor_walk walk = { { 0, 0 } };

    for (int i = 0; i < s->graph.n_leafs; i++) {
        GB_TRY(gb_sched_enter_leaf(s, i));
        GB_TRY(gb_sched_check_single(s, s->graph.leafs[i]));
    }
    for (int i = 0; i < s->graph.n_nodes; i++) {
        gb_tensor_walk(&walk, s->graph.nodes[i]);
        GB_TRY(gb_sched_enter_node(s, i));
        GB_TRY(gb_sched_check_single(s, s->graph.nodes[i]));
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_sched_assign(struct ggml_backend_sched *s)
{
    GB_TRY(gb_sched_begin_index(s));
    if (s->n_backends == 1)
        return assign_to_single(s);

    GB_TRY(settle_all(s));
    if (s->n_open > 0 && s->n_settled > 0) {
        spread(s, 1, s->n_backends - 1);
        spread(s, -1, s->n_backends - 1);
        spread(s, 1, s->n_backends);
        spread(s, -1, s->n_backends);
    }
    GB_TRY(improve(s));
    complete(s);
    return GGML_STATUS_SUCCESS;
}
