/* SPDX-License-Identifier: MIT */
/*
 * sched/run.c - splits in their order, waiting only where needed.
 *
 * Before a split its inputs are copied.  That must wait until the split's
 * backend is done with what the copies held before.  With several copies the
 * backend has an event for each, which stands for its last work with that copy
 * in the graph before; without events all of its work is waited for.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/status.h"

struct running {
    const struct ggml_backend_sched *sched;
    const struct gb_sched_split *split;
    ggml_backend_t backend; /* the split's */
    ggml_backend_event_t event;
    bool is_free; /* nobody reads the old contents of its copies any more */
};

void
gb_sched_wait_for_all(const struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->n_backends; i++)
        ggml_backend_synchronize(s->backends[i].backend);
}

/* Until BACKEND is done with what its EVENT stands for, or with everything. */
static void
wait_for(ggml_backend_t backend, ggml_backend_event_t event)
{
    if (event != NULL)
        ggml_backend_event_synchronize(event);
    else
        ggml_backend_synchronize(backend);
}

void
gb_sched_wait_for_turn(const struct ggml_backend_sched *s)
{
    for (int i = 0; i < s->n_backends; i++)
        if (s->backends[i].has_graph_inputs)
            wait_for(gb_sched_backend(s, i), gb_sched_event(s, i));
}

/* Until nobody reads the old contents of the split's copies. */
static void
wait_on_host(struct running *r)
{
    if (!r->is_free)
        wait_for(r->backend, r->event);
    r->is_free = true;
}

/* Does the backend understand the event?  Those of other kinds are unlike. */
static bool
can_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    return event != NULL && backend->iface.event_wait != NULL &&
           backend->device->reg == event->device->reg;
}

/*
 * Let what is queued on FROM and on the split's backend come after that: either
 * may be the one that copies.
 */
static void
wait_in_queues(struct running *r, ggml_backend_t from)
{
    if (r->is_free)
        return;
    if (!can_wait(from, r->event)) {
        wait_on_host(r);
        return;
    }
    ggml_backend_event_wait(from, r->event);
    ggml_backend_event_wait(r->backend, r->event);
}

/*
 * An input of the graph is copied at once, so that the client may change it
 * while the graph is computed.
 */
static enum ggml_status
copy_now(struct running *r, struct ggml_tensor *from, struct ggml_tensor *to)
{
    wait_on_host(r);
    return gb_transfer_copy(from, to);
}

/* What FROM_BACKEND computes is copied when it is done. */
static enum ggml_status
copy_queued(
    struct running *r, ggml_backend_t from_backend, struct ggml_tensor *from,
    struct ggml_tensor *to)
{
    wait_in_queues(r, from_backend);
    if (r->backend->iface.cpy_tensor_async != NULL &&
        r->backend->iface.cpy_tensor_async(from_backend, r->backend, from, to))
        return GGML_STATUS_SUCCESS;
    ggml_backend_synchronize(from_backend);
    return copy_now(r, from, to);
}

static enum ggml_status
copy_input(struct running *r, int32_t input)
{
    const struct ggml_backend_sched *s = r->sched;
    const struct gb_sched_copy *copy = &s->copies[input];
    struct ggml_tensor *from = gb_sched_tensor(s, copy->tensor);
    struct ggml_tensor *to = gb_sched_current(s, input);

    if ((from->flags & GGML_TENSOR_FLAG_INPUT) != 0)
        return copy_now(r, from, to);
    return copy_queued(
        r, gb_sched_backend(s, s->tensors[copy->tensor].backend), from, to);
}

/* Compute the nodes from BEGIN up to, but not with, END. */
static enum ggml_status
compute(const struct running *r, int32_t begin, int32_t end)
{
    struct ggml_cgraph graph = r->sched->graph;

    graph = ggml_graph_view(&graph, begin, end);
    return ggml_backend_graph_compute_async(r->backend, &graph);
}

/*
 * The client is asked about each node, those up to one that it wants to see are
 * computed, and it is shown that one.  It can end the split then.
 */
static enum ggml_status
compute_observed(const struct running *r)
{
    const struct ggml_backend_sched *s = r->sched;
    int32_t begin = r->split->begin;

    while (begin < r->split->end) {
        int32_t end = begin;
        bool is_wanted = false;

        while (end < r->split->end && !is_wanted)
            is_wanted = s->callback(s->graph.nodes[end++], true,
                                    s->callback_data);
        GB_TRY(compute(r, begin, end));
        ggml_backend_synchronize(r->backend);
        if (is_wanted &&
            !s->callback(s->graph.nodes[end - 1], false, s->callback_data))
            return GGML_STATUS_SUCCESS;
        begin = end;
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
run_split(struct running *r)
{
    for (int32_t i = r->split->inputs_begin; i < r->split->inputs_end; i++)
        GB_TRY(copy_input(r, r->sched->inputs[i]));
    if (r->sched->callback != NULL)
        return compute_observed(r);
    return compute(r, r->split->begin, r->split->end);
}

static enum ggml_status
run_splits(const struct ggml_backend_sched *s)
{
    for (size_t i = 0; i < s->n_splits; i++) {
        const struct gb_sched_split *split = &s->splits[i];
        struct running running = {
            .sched = s,
            .split = split,
            .backend = gb_sched_backend(s, split->backend),
            .event = gb_sched_event(s, split->backend),
        };

        GB_TRY(run_split(&running));
        if (running.event != NULL && s->backends[split->backend].last == i)
            ggml_backend_event_record(running.event, running.backend);
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_sched_run(struct ggml_backend_sched *s)
{
    const enum ggml_status status = run_splits(s);

    if (status == GGML_STATUS_SUCCESS)
        s->next_copy = (s->copy + 1) % s->n_copies;
    else
        /* No event stands for what is under way. */
        gb_sched_wait_for_all(s);
    return status;
}
