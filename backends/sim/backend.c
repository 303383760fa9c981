/* SPDX-License-Identifier: MIT */
/*
 * sim/backend.c - backends and events: what is asked of them goes to a queue.
 *
 * Without the member synchronize a backend has nothing left to do when a call
 * returns: whatever is queued is waited for at once.
 */
#include "backends/sim/graph.h"
#include "backends/sim/queue.h"
#include "backends/sim/state.h"

#include "ggml-cpu.h"

#include <stdlib.h>
#include <string.h>

struct sim_backend {
    struct gb_sim_device *device;
    struct gb_sim_queue *queue;
    ggml_backend_t cpu; /* used by the queue's thread */
};

/* Between memory of the host and of the device, in whichever direction. */
struct copy_job {
    struct gb_sim_job job;
    char *to;
    const char *from;
    size_t size;
};

struct graph_job {
    struct gb_sim_job job;
    struct gb_sim_device *device;
    ggml_backend_t cpu;
    struct gb_sim_graph *graph;
};

static const uint8_t guid[16] = {
    0x73, 0x69, 0x6d, 0x75, 0x9b, 0x1e, 0x4c, 0x07,
    0xa2, 0x5d, 0xd3, 0x60, 0x18, 0xee, 0x42, 0x31
};

static const char *
backend_get_name(ggml_backend_t backend)
{
    const struct sim_backend *sim = backend->context;

    return sim->device->name;
}

/* A device that was lost is there again when nobody is left who saw it go. */
static void
backend_free(ggml_backend_t backend)
{
    struct sim_backend *sim = backend->context;
    struct gb_sim_device *device = sim->device;

    gb_sim_queue_free(sim->queue);
    ggml_backend_free(sim->cpu);
    gb_sim_lock();
    if (--device->counters.backends == 0)
        device->is_lost = false;
    gb_sim_unlock();
    free(sim);
    free(backend);
}

/* What is queued is done at once if nobody could ask for it later. */
static enum ggml_status
settle(struct sim_backend *sim)
{
    if (!gb_sim_lacks(sim->device, GB_SIM_SYNCHRONIZE))
        return GGML_STATUS_SUCCESS;
    gb_sim_mark_wait(gb_sim_queue_mark(sim->queue));
    return gb_sim_queue_report(sim->queue);
}

static void
backend_synchronize(ggml_backend_t backend)
{
    struct sim_backend *sim = backend->context;

    gb_sim_add(&sim->device->counters.synchronize, 1);
    gb_sim_mark_wait(gb_sim_queue_mark(sim->queue));
    gb_sim_queue_report(sim->queue);
}

/* Where the wait cannot be queued the host waits, which is no less. */
static void
wait_in_queue(struct sim_backend *sim, struct gb_sim_mark mark)
{
    if (gb_sim_queue_wait(sim->queue, mark))
        settle(sim);
    else
        gb_sim_mark_wait(mark);
}

/* ---- copies ---- */

static enum ggml_status
run_copy(struct gb_sim_job *job)
{
    const struct copy_job *copy = (const struct copy_job *)job;

    memmove(copy->to, copy->from, copy->size);
    return GGML_STATUS_SUCCESS;
}

static bool
queue_copy(struct gb_sim_queue *queue, char *to, const char *from, size_t size)
{
    struct copy_job *copy = gb_sim_job_new(queue, sizeof(*copy));

    if (copy == NULL)
        return false;
    copy->job.run = run_copy;
    copy->to = to;
    copy->from = from;
    copy->size = size;
    gb_sim_queue_add(queue, &copy->job);
    return true;
}

/* The same for a call that has no other way to go. */
static void
must_queue_copy(
    struct sim_backend *sim, char *to, const char *from, size_t size)
{
    if (queue_copy(sim->queue, to, from, size))
        settle(sim);
    else
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a queued copy", sim->device->name);
}

/* The device's address of TENSOR, for a call that counts and may fail. */
static char *
begin_copy(struct gb_sim_device *device, uint64_t *counter,
           const struct ggml_tensor *tensor)
{
    char *shadow = gb_sim_shadow(device, tensor);

    if (shadow == NULL)
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: tensor %s is not in the device's memory",
                         device->name, tensor->name);
    else if (gb_sim_begin(device, GB_SIM_FAULT_COPY, counter))
        return shadow;
    else
        ggmlbackend_fail(GGML_STATUS_FAILED, "%s: tensor %s cannot be reached",
                         device->name, tensor->name);
    return NULL;
}

static void
backend_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct sim_backend *sim = backend->context;
    char *shadow =
        begin_copy(sim->device, &sim->device->counters.set_async, tensor);

    if (shadow != NULL)
        must_queue_copy(sim, shadow + offset, data, size);
}

static void
backend_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct sim_backend *sim = backend->context;
    const char *shadow =
        begin_copy(sim->device, &sim->device->counters.get_async, tensor);

    if (shadow != NULL)
        must_queue_copy(sim, data, shadow + offset, size);
}

/*
 * The source's queue copies, and the destination's waits for that, as far as
 * the interface promises it: nothing waits for what the destination's queue
 * has to do before.
 */
static bool
backend_cpy_tensor_async(
    ggml_backend_t backend_src, ggml_backend_t backend_dst,
    const struct ggml_tensor *src, struct ggml_tensor *dst)
{
    struct sim_backend *to = backend_dst->context;
    struct sim_backend *from;
    const char *source;
    char *target;

    if (!gb_sim_is_backend(backend_src))
        return false;
    from = backend_src->context;
    source = gb_sim_shadow(from->device, src);
    target = gb_sim_shadow(to->device, dst);
    if (source == NULL || target == NULL || gb_sim_is_lost(from->device) ||
        !gb_sim_begin(to->device, GB_SIM_FAULT_COPY,
                      &to->device->counters.copy_async))
        return false;
    if (!queue_copy(from->queue, target, source, ggml_nbytes(src)))
        return false;
    if (from != to)
        wait_in_queue(to, gb_sim_queue_mark(from->queue));
    settle(from);
    return true;
}

/* ---- graphs ---- */

static enum ggml_status
run_graph(struct gb_sim_job *job)
{
    struct graph_job *graph = (struct graph_job *)job;
    const int track = ggmlbackend_trace_track(graph->device->name);
    const int64_t start = track != 0 ? ggmlbackend_trace_now() : 0;
    enum ggml_status status;
    uint64_t n_runs = 0;

    if (!gb_sim_begin(graph->device, GB_SIM_FAULT_RUN, &n_runs))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a graph failed on its way",
                                graph->device->name);
    status = ggml_backend_graph_compute(graph->cpu, &graph->graph->graph);
    if (track != 0)
        ggmlbackend_trace_span(track, "queued graph", start,
                               ggmlbackend_trace_now() - start);
    return status;
}

static void
clear_graph(struct gb_sim_job *job)
{
    gb_sim_graph_release(((struct graph_job *)job)->graph);
}

/* A failure that nobody was told of yet comes before anything new. */
static enum ggml_status
begin_compute(struct sim_backend *sim)
{
    const enum ggml_status status = gb_sim_queue_report(sim->queue);

    if (status != GGML_STATUS_SUCCESS)
        return status;
    if (!gb_sim_begin(sim->device, GB_SIM_FAULT_COMPUTE,
                      &sim->device->counters.compute))
        return ggmlbackend_fail(GGML_STATUS_FAILED,
                                "%s: a graph cannot be computed",
                                sim->device->name);
    return GGML_STATUS_SUCCESS;
}

static enum ggml_status
queue_graph(struct sim_backend *sim, struct gb_sim_graph *graph)
{
    struct graph_job *job = gb_sim_job_new(sim->queue, sizeof(*job));

    if (job == NULL)
        return ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                                "%s: no memory for a queued graph",
                                sim->device->name);
    job->job.run = run_graph;
    job->job.clear = clear_graph;
    job->device = sim->device;
    job->cpu = sim->cpu;
    job->graph = graph;
    gb_sim_graph_acquire(graph);
    gb_sim_add(&sim->device->counters.nodes, graph->graph.n_nodes);
    gb_sim_queue_add(sim->queue, &job->job);
    return settle(sim);
}

static enum ggml_status
backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    struct sim_backend *sim = backend->context;
    enum ggml_status status = begin_compute(sim);
    struct gb_sim_graph *graph;

    if (status == GGML_STATUS_SUCCESS)
        status = gb_sim_graph_new(sim->device, cgraph, &graph);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    status = queue_graph(sim, graph);
    gb_sim_graph_release(graph);
    return status;
}

static ggml_backend_graph_plan_t
backend_graph_plan_create(
    ggml_backend_t backend, const struct ggml_cgraph *cgraph)
{
    struct sim_backend *sim = backend->context;
    struct gb_sim_graph *graph;

    if (gb_sim_graph_new(sim->device, cgraph, &graph) != GGML_STATUS_SUCCESS)
        return NULL;
    gb_sim_add(&sim->device->counters.plans, 1);
    return graph;
}

static void
backend_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct sim_backend *sim = backend->context;

    gb_sim_add(&sim->device->counters.plans, -1);
    gb_sim_graph_release(plan);
}

static enum ggml_status
backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct sim_backend *sim = backend->context;
    const enum ggml_status status = begin_compute(sim);

    return status == GGML_STATUS_SUCCESS ? queue_graph(sim, plan) : status;
}

/* ---- events ---- */

struct sim_event {
    struct ggml_backend_event event;
    struct gb_sim_mark mark;
};

ggml_backend_event_t
gb_sim_event_new(ggml_backend_dev_t dev)
{
    struct gb_sim_device *device = gb_sim_device_of(dev);
    struct sim_event *sim = gb_sim_alloc(device, sizeof(*sim));

    if (sim == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for an event",
                         device->name);
        return NULL;
    }
    sim->event.device = dev;
    sim->event.context = sim;
    gb_sim_add(&device->counters.events, 1);
    return &sim->event;
}

void
gb_sim_event_free(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    gb_sim_add(&gb_sim_device_of(dev)->counters.events, -1);
    free(event->context);
}

void
gb_sim_event_synchronize(ggml_backend_dev_t dev, ggml_backend_event_t event)
{
    const struct sim_event *sim = event->context;

    gb_sim_add(&gb_sim_device_of(dev)->counters.event_synchronize, 1);
    gb_sim_mark_wait(sim->mark);
    gb_sim_mark_report(sim->mark);
}

/* Is it an event of our devices?  They only can be recorded here. */
static struct sim_event *
event_of(struct sim_backend *sim, ggml_backend_event_t event)
{
    if (gb_sim_device_of(event->device) != NULL)
        return event->context;
    ggmlbackend_fail(GGML_STATUS_FAILED,
                     "%s: an event of %s cannot be recorded",
                     sim->device->name, ggml_backend_dev_name(event->device));
    return NULL;
}

static void
backend_event_record(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct sim_backend *sim = backend->context;
    struct sim_event *recorded = event_of(sim, event);

    gb_sim_add(&sim->device->counters.event_record, 1);
    if (recorded != NULL)
        recorded->mark = gb_sim_queue_mark(sim->queue);
}

/* Another backend's event cannot be queued: the host waits for it. */
static void
backend_event_wait(ggml_backend_t backend, ggml_backend_event_t event)
{
    struct sim_backend *sim = backend->context;

    gb_sim_add(&sim->device->counters.event_wait, 1);
    if (gb_sim_device_of(event->device) == NULL) {
        ggml_backend_event_synchronize(event);
        return;
    }
    wait_in_queue(sim, ((struct sim_event *)event->context)->mark);
}

/* ---- the backend ---- */

static struct ggml_backend_i
backend_members(const struct gb_sim_device *device)
{
    struct ggml_backend_i members = {
        .get_name = backend_get_name,
        .free = backend_free,
        .set_tensor_async = backend_set_tensor_async,
        .get_tensor_async = backend_get_tensor_async,
        .cpy_tensor_async = backend_cpy_tensor_async,
        .synchronize = backend_synchronize,
        .graph_plan_create = backend_graph_plan_create,
        .graph_plan_free = backend_graph_plan_free,
        .graph_plan_compute = backend_graph_plan_compute,
        .graph_compute = backend_graph_compute,
        .event_record = backend_event_record,
        .event_wait = backend_event_wait,
    };

    if (gb_sim_lacks(device, GB_SIM_SET_ASYNC))
        members.set_tensor_async = NULL;
    if (gb_sim_lacks(device, GB_SIM_GET_ASYNC))
        members.get_tensor_async = NULL;
    if (gb_sim_lacks(device, GB_SIM_CPY_ASYNC))
        members.cpy_tensor_async = NULL;
    if (gb_sim_lacks(device, GB_SIM_SYNCHRONIZE))
        members.synchronize = NULL;
    if (gb_sim_lacks(device, GB_SIM_PLANS)) {
        members.graph_plan_create = NULL;
        members.graph_plan_free = NULL;
        members.graph_plan_compute = NULL;
    }
    if (gb_sim_lacks(device, GB_SIM_EVENTS)) {
        members.event_record = NULL;
        members.event_wait = NULL;
    }
    return members;
}

ggml_backend_t
gb_sim_backend_new(struct gb_sim_device *device)
{
    struct sim_backend *sim = gb_sim_alloc(device, sizeof(*sim));
    ggml_backend_t backend = gb_sim_alloc(device, sizeof(*backend));

    if (sim == NULL || backend == NULL) {
        ggmlbackend_fail(GGML_STATUS_ALLOC_FAILED,
                         "%s: no memory for a backend", device->name);
        goto free_both;
    }
    sim->device = device;
    sim->cpu = ggml_backend_cpu_init();
    if (sim->cpu == NULL)
        goto free_both;
    ggml_backend_cpu_set_n_threads(sim->cpu, 1);
    sim->queue = gb_sim_queue_new(device);
    if (sim->queue == NULL)
        goto free_cpu;
    backend->guid = (ggml_guid_t)&guid;
    backend->iface = backend_members(device);
    backend->device = &device->handle;
    backend->context = sim;
    gb_sim_add(&device->counters.backends, 1);
    return backend;

free_cpu:
    ggml_backend_free(sim->cpu);
free_both:
    free(backend);
    free(sim);
    return NULL;
}

bool
gb_sim_is_backend(ggml_backend_t backend)
{
    return backend->iface.free == backend_free;
}
