/* SPDX-License-Identifier: MIT */
/*
 * levels/level-2023-stream.c - backends of 2023 as backends of today.
 *
 * A stream has a backend of the old kind of its own, or, where there can be but
 * one, the device's resident, which is locked then.
 */
#include "config.h"

#include "lib/levels/level-2023.h"

#include "lib/base/checked.h"
#include "lib/base/mem.h"
#include "lib/base/status.h"
#include "lib/levels/forms.h"

struct stream {
    struct ggml_backend base;
    struct gb_2023_device *dev;
    struct gb_2023_backend *old;
};

/* What is computed later; its graph has the nodes that follow it. */
struct plan {
    void *old;
    struct ggml_cgraph graph;
    struct ggml_tensor *copies; /* of nodes with another order of sources */
    struct ggml_tensor *nodes[];
};

/* The old backend, nobody else using it until it is left. */
static struct gb_2023_backend *
enter(ggml_backend_t backend)
{
    const struct stream *stream = backend->context;

    if (stream->dev->about.is_single)
        gb_2023_lock(stream->dev);
    return stream->old;
}

static void
leave(ggml_backend_t backend)
{
    const struct stream *stream = backend->context;

    if (stream->dev->about.is_single)
        gb_2023_unlock(stream->dev);
}

static const char *
stream_get_name(ggml_backend_t backend)
{
    const struct stream *stream = backend->context;

    return stream->dev->name;
}

static void
stream_free(ggml_backend_t backend)
{
    struct stream *stream = backend->context;

    if (!stream->dev->about.is_single)
        stream->old->iface.free(stream->old);
    gb_mem_free(stream);
}

static void
stream_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    struct gb_2023_backend *old = enter(backend);

    old->iface.set_tensor_async(old, tensor, data, offset, size);
    leave(backend);
}

static void
stream_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    struct gb_2023_backend *old = enter(backend);

    old->iface.get_tensor_async(old, tensor, data, offset, size);
    leave(backend);
}

static void
stream_synchronize(ggml_backend_t backend)
{
    struct gb_2023_backend *old = enter(backend);

    old->iface.synchronize(old);
    leave(backend);
}

/* Backends of 2023 skip views, but never saw the other nodes without work. */
static bool
is_unknown_idler(const struct ggml_tensor *node)
{
    return node->op == GGML_OP_NONE || ggml_is_empty(node);
}

static size_t
n_reordered(const struct ggml_cgraph *cgraph)
{
    size_t n = 0;

    for (int i = 0; i < cgraph->n_nodes; i++)
        n += gb_form_is_reordered(cgraph->nodes[i]);
    return n;
}

/* A plan that nobody has made anything of; NULL without memory. */
static struct plan *
plan_new(const struct ggml_cgraph *cgraph)
{
    const size_t n_copies = n_reordered(cgraph);
    struct plan *plan;
    size_t bytes;

    if (!gb_mul_size((size_t)cgraph->n_nodes, sizeof(plan->nodes[0]), &bytes) ||
        !gb_add_size(bytes, sizeof(*plan), &bytes) ||
        (plan = gb_mem_alloc(bytes)) == NULL)
        return NULL;
    plan->copies =
        n_copies > 0 ? gb_mem_zalloc(n_copies, sizeof(*plan->copies)) : NULL;
    if (n_copies > 0 && plan->copies == NULL) {
        gb_mem_free(plan);
        return NULL;
    }
    return plan;
}

static void
plan_free(struct plan *plan)
{
    gb_mem_free(plan->copies);
    gb_mem_free(plan);
}

/* The nodes that a backend of 2023 may see, with sources as it knows them. */
static void
plan_fill(struct plan *plan, const struct ggml_cgraph *cgraph)
{
    struct ggml_tensor *copy = plan->copies;

    plan->graph = *cgraph;
    plan->graph.nodes = plan->nodes;
    plan->graph.n_nodes = 0;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        struct ggml_tensor *node = cgraph->nodes[i];

        if (gb_form_is_reordered(node)) {
            *copy = *node;
            gb_form_to_2023(copy);
            node = copy++;
        }
        if (!is_unknown_idler(node))
            plan->nodes[plan->graph.n_nodes++] = node;
    }
}

static ggml_backend_graph_plan_t
stream_graph_plan_create(
    ggml_backend_t backend, const struct ggml_cgraph *cgraph)
{
    struct plan *plan = plan_new(cgraph);
    struct gb_2023_backend *old;

    if (plan == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED,
                "%s: no memory for a plan of %d nodes",
                ggml_backend_name(backend), cgraph->n_nodes);
        return NULL;
    }
    plan_fill(plan, cgraph);
    old = enter(backend);
    plan->old = old->iface.graph_plan_create(old, &plan->graph);
    leave(backend);
    if (plan->old == NULL) {
        gb_fail(GGML_STATUS_FAILED, "%s: no plan for a graph of %d nodes",
                ggml_backend_name(backend), cgraph->n_nodes);
        plan_free(plan);
        return NULL;
    }
    return plan;
}

static void
stream_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    struct gb_2023_backend *old = enter(backend);

    old->iface.graph_plan_free(old, ((struct plan *)plan)->old);
    leave(backend);
    plan_free(plan);
}

static enum ggml_status
stream_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    const uint64_t n_failures = gb_failure_count();
    struct gb_2023_backend *old = enter(backend);

    old->iface.graph_plan_compute(old, ((struct plan *)plan)->old);
    leave(backend);
    return gb_status_since(n_failures);
}

/* Is it a node that the backend must not see, or not as it is? */
static bool
is_strange(const struct ggml_tensor *node)
{
    return is_unknown_idler(node) || gb_form_is_reordered(node);
}

/*
 * A node with its sources in the order of 2023.  The backend sees a copy, since
 * the node is the client's, and is done with it before the copy is gone.
 */
static void
compute_reordered(
    struct gb_2023_backend *old, const struct ggml_cgraph *cgraph, int i)
{
    struct ggml_tensor copy = *cgraph->nodes[i];
    struct ggml_tensor *nodes[] = { &copy };
    struct ggml_cgraph piece = {
        .n_nodes = 1, .nodes = nodes, .order = cgraph->order
    };

    gb_form_to_2023(&copy);
    old->iface.graph_compute(old, &piece);
    old->iface.synchronize(old);
}

/* The graph in pieces, if there are strange nodes. */
static enum ggml_status
stream_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    const uint64_t n_failures = gb_failure_count();
    struct gb_2023_backend *old = enter(backend);
    int begin = 0;

    while (begin < cgraph->n_nodes) {
        int end = begin;

        while (end < cgraph->n_nodes && !is_strange(cgraph->nodes[end]))
            end++;
        if (end - begin == cgraph->n_nodes) {
            old->iface.graph_compute(old, cgraph);
        } else if (end > begin) {
            struct ggml_cgraph piece = ggml_graph_view(cgraph, begin, end);

            old->iface.graph_compute(old, &piece);
        }
        if (end < cgraph->n_nodes && !is_unknown_idler(cgraph->nodes[end]))
            compute_reordered(old, cgraph, end);
        begin = end + 1;
    }
    leave(backend);
    return gb_status_since(n_failures);
}

static const struct ggml_backend_i stream_members = {
    .get_name = stream_get_name,
    .free = stream_free,
    .set_tensor_async = stream_set_tensor_async,
    .get_tensor_async = stream_get_tensor_async,
    .synchronize = stream_synchronize,
    .graph_compute = stream_graph_compute,
};

/* A backend for the stream; NULL with the reason. */
static struct gb_2023_backend *
old_backend(struct gb_2023_device *dev)
{
    struct gb_2023_backend *old;

    if (dev->about.is_single)
        return dev->resident;
    old = (struct gb_2023_backend *)dev->about.init();
    if (gb_2023_check_backend(old, &dev->about, dev->name) ==
        GGML_STATUS_SUCCESS)
        return old;
    if (old != NULL && old->iface.free != NULL)
        old->iface.free(old);
    return NULL;
}

ggml_backend_t
gb_2023_stream_new(ggml_backend_dev_t device, const char *params)
{
    struct gb_2023_device *dev = device->context;
    struct stream *stream = gb_mem_zalloc(1, sizeof(*stream));

    (void)params;
    if (stream == NULL) {
        gb_fail(GGML_STATUS_ALLOC_FAILED, "%s: no memory for a backend",
                dev->name);
        return NULL;
    }
    stream->dev = dev;
    stream->old = old_backend(dev);
    if (stream->old == NULL) {
        gb_mem_free(stream);
        return NULL;
    }
    stream->base.guid = &dev->guid;
    stream->base.iface = stream_members;
    if (dev->about.has_plans) {
        stream->base.iface.graph_plan_create = stream_graph_plan_create;
        stream->base.iface.graph_plan_free = stream_graph_plan_free;
        stream->base.iface.graph_plan_compute = stream_graph_plan_compute;
    }
    stream->base.device = device;
    stream->base.context = stream;
    return &stream->base;
}
