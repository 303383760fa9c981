/* SPDX-License-Identifier: MIT */
/*
 * sched/run.c - splits in their order, waiting only where needed.
 *
 * Before a split its inputs are copied.  That must wait until the split's
 * backend is done with what the copies held before.  With several copies the
 * backend has an event for each, which stands for its last work with that copy
 * in the graph before; without events all of its work is waited for.
 *
 * Backends that can use each other's memory have nothing to copy; they wait for
 * each other at each split.
 */
#include "config.h"

#include "lib/sched/sched.h"

#include "lib/backend/transfer.h"
#include "lib/base/status.h"
#include "lib/trace/trace.h"

struct running {
    const struct ggml_backend_sched *sched;
    const struct gb_sched_split *split;
    ggml_backend_t backend; /* the split's */
    int track;              /* of the backend in the timeline; 0 for none */
    ggml_backend_event_t event;
    bool is_free; /* nobody reads the old contents of its copies any more */
};

/* The track of a backend, if there is a timeline. */
static int
track_of(ggml_backend_t backend, bool is_traced)
{
    return is_traced ? gb_trace_track(ggml_backend_name(backend)) : 0;
}

/*
 * Until BACKEND is done with what its EVENT stands for, or, for NULL, with
 * everything; for the sake of what is on TRACK.
 */
static void
wait_for(ggml_backend_t backend, ggml_backend_event_t event, int track)
{
    const int64_t start = gb_trace_start(track);

    if (event != NULL)
        ggml_backend_event_synchronize(event);
    else
        ggml_backend_synchronize(backend);
    if (track != 0 && backend->iface.synchronize != NULL)
        gb_trace_wait(track, start, event != NULL ? "event" : "queue",
                      ggml_backend_name(backend));
}

enum ggml_status
gb_sched_wait_for_all(const struct ggml_backend_sched *s)
{
    const uint64_t n_failures = gb_failure_count();
    const bool is_traced = gb_trace_track("scheduler") != 0;

    for (int i = 0; i < s->n_backends; i++) {
        ggml_backend_t backend = s->backends[i].backend;

        wait_for(backend, NULL, track_of(backend, is_traced));
    }
    if (is_traced)
        gb_trace_flush();
    return gb_status_since(n_failures);
}

void
gb_sched_wait_for_turn(const struct ggml_backend_sched *s)
{
    const bool is_traced = gb_trace_track("scheduler") != 0;

    for (int i = 0; i < s->n_backends; i++) {
        ggml_backend_t backend = s->backends[i].backend;

        if (s->backends[i].has_graph_inputs)
            wait_for(backend, gb_sched_event(s, i),
                     track_of(backend, is_traced));
    }
}

/* Until nobody reads the old contents of the split's copies. */
static void
wait_on_host(struct running *r)
{
    if (!r->is_free)
        wait_for(r->backend, r->event, r->track);
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
 * Does the tensor have what the client wrote, whatever is under way?  A graph
 * that writes it itself, now or in the compute before, has to be waited for.
 */
static bool
is_ready(const struct ggml_backend_sched *s, int32_t number)
{
    return (gb_sched_tensor(s, number)->flags & GGML_TENSOR_FLAG_INPUT) != 0 &&
           s->tensors[gb_sched_owner(s, number)].n_writes == 0 &&
           !s->writes_anything;
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
    wait_for(from_backend, NULL, r->track);
    return copy_now(r, from, to);
}

/* Who has the tensor: a backend, or for NULL memory of nobody. */
static const char *
home_name(ggml_backend_t backend, const struct ggml_tensor *tensor)
{
    return backend != NULL ? ggml_backend_name(backend)
                           : ggml_backend_buffer_name(gb_transfer_home(tensor));
}

static enum ggml_status
copy_input(struct running *r, int32_t input)
{
    const struct ggml_backend_sched *s = r->sched;
    const struct gb_sched_copy *copy = &s->copies[input];
    struct ggml_tensor *from = gb_sched_tensor(s, copy->tensor);
    struct ggml_tensor *to = gb_sched_current(s, input);
    ggml_backend_t from_backend =
        gb_sched_backend(s, s->tensors[copy->tensor].backend);
    const int64_t start = gb_trace_start(r->track);
    enum ggml_status status;

    /* Nobody's memory is not written by anybody either. */
    if (from_backend == NULL || is_ready(s, copy->tensor))
        status = copy_now(r, from, to);
    else
        status = copy_queued(r, from_backend, from, to);
    if (r->track != 0)
        gb_trace_copy(r->track, start, from, home_name(from_backend, from),
                      ggml_backend_name(r->backend));
    return status;
}

/* What the split reads without a copy, or writes, may be others' work. */
static void
wait_for_neighbours(const struct running *r)
{
    const struct ggml_backend_sched *s = r->sched;

    for (int32_t i = 0; i < s->n_backends; i++)
        if (gb_sched_are_neighbours(s, r->split->backend, i))
            wait_for(gb_sched_backend(s, i), NULL, r->track);
}

/* Waits may bring failures of earlier work to light, which have no status. */
static enum ggml_status
copy_inputs(struct running *r)
{
    const uint64_t n_failures = gb_failure_count();

    if (r->sched->backends[r->split->backend].has_neighbours)
        wait_for_neighbours(r);
    for (int32_t i = r->split->inputs_begin; i < r->split->inputs_end; i++)
        GB_TRY(copy_input(r, r->sched->inputs[i]));
    return gb_status_since(n_failures);
}

/* The nodes from BEGIN up to, but not with, END. */
static struct ggml_cgraph
slice(const struct running *r, int32_t begin, int32_t end)
{
    struct ggml_cgraph graph = r->sched->graph;

    return ggml_graph_view(&graph, begin, end);
}

/* The client's callback and what it is called with. */
struct observer {
    ggml_backend_sched_eval_callback callback; /* NULL for none */
    void *data;
};

static struct observer
observer_of(const struct ggml_backend_sched *s)
{
    return (struct observer){ s->callback, s->callback_data };
}

/*
 * Is NODE to be shown, and to whom?  A callback may put another one in its
 * place, or none: nobody is shown what somebody else asked for.
 */
static struct observer
ask(const struct ggml_backend_sched *s, struct ggml_tensor *node)
{
    const struct observer none = { NULL, NULL }, asked = observer_of(s);
    struct observer now;

    if (asked.callback == NULL || !asked.callback(node, true, asked.data))
        return none;
    now = observer_of(s);
    return now.callback == asked.callback && now.data == asked.data ? now
                                                                    : none;
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
        struct observer wants = { NULL, NULL };
        struct ggml_cgraph graph;
        int32_t end = begin;

        while (end < r->split->end && wants.callback == NULL)
            wants = ask(s, s->graph.nodes[end++]);
        graph = slice(r, begin, end);
        GB_TRY(ggml_backend_graph_compute(r->backend, &graph));
        if (wants.callback != NULL &&
            !wants.callback(s->graph.nodes[end - 1], false, wants.data))
            return GGML_STATUS_SUCCESS;
        begin = end;
    }
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
run_split(struct running *r)
{
    struct ggml_cgraph graph = slice(r, r->split->begin, r->split->end);

    GB_TRY(copy_inputs(r));
    if (r->sched->callback != NULL)
        return compute_observed(r);
    return ggml_backend_graph_compute_async(r->backend, &graph);
}

/* The span of split I encloses those of its copies and waits. */
static enum ggml_status
run_traced(struct running *r, size_t i)
{
    const int64_t start = gb_trace_start(r->track);
    const enum ggml_status status = run_split(r);

    if (r->track != 0)
        gb_trace_split(r->track, start, (int)i, r->split->end - r->split->begin,
                       r->split->inputs_end - r->split->inputs_begin);
    return status;
}

static enum ggml_status
run_splits(const struct ggml_backend_sched *s, bool is_traced)
{
    for (size_t i = 0; i < s->n_splits; i++) {
        const struct gb_sched_split *split = &s->splits[i];
        ggml_backend_t backend = gb_sched_backend(s, split->backend);
        struct running running = {
            .sched = s,
            .split = split,
            .backend = backend,
            .track = track_of(backend, is_traced),
            .event = gb_sched_event(s, split->backend),
        };

        GB_TRY(run_traced(&running, i));
        if (running.event != NULL && s->backends[split->backend].last == i)
            ggml_backend_event_record(running.event, running.backend);
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_sched_run(struct ggml_backend_sched *s)
{
    const int track = gb_trace_track("scheduler");
    const int64_t start = gb_trace_start(track);
    const enum ggml_status status = run_splits(s, track != 0);

    if (track != 0) {
        gb_trace_compute(track, start, (int)s->n_splits, s->graph.n_nodes,
                         s->is_plain ? 0 : s->n_fallback_copies);
        gb_trace_flush();
    }
    if (status == GGML_STATUS_SUCCESS)
        s->next_copy = (s->copy + 1) % s->n_copies;
    else
        /* No event stands for what is under way. */
        gb_sched_wait_for_all(s);
    return status;
}
