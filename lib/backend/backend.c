/* SPDX-License-Identifier: MIT */
/*
 * backend/backend.c - backends: streams that run graphs on a device.
 */
#include "config.h"

#include "ggml-backend-impl.h"

#include "lib/base/status.h"
#include "lib/graph/graph.h"

ggml_guid_t
ggml_backend_guid(ggml_backend_t backend)
{
    return backend != NULL ? backend->guid : NULL;
}

const char *
ggml_backend_name(ggml_backend_t backend)
{
    return backend != NULL ? backend->iface.get_name(backend) : "NULL";
}

void
ggml_backend_free(ggml_backend_t backend)
{
    if (backend != NULL)
        backend->iface.free(backend);
}

ggml_backend_dev_t
ggml_backend_get_device(ggml_backend_t backend)
{
    GB_NEED_OR(NULL, backend != NULL, "device: no backend");
    return backend->device;
}

ggml_backend_buffer_type_t
ggml_backend_get_default_buffer_type(ggml_backend_t backend)
{
    GB_NEED_OR(NULL, backend != NULL, "default memory: no backend");
    return ggml_backend_dev_buffer_type(backend->device);
}

ggml_backend_buffer_t
ggml_backend_alloc_buffer(ggml_backend_t backend, size_t size)
{
    return ggml_backend_buft_alloc_buffer(
        ggml_backend_get_default_buffer_type(backend), size);
}

size_t
ggml_backend_get_alignment(ggml_backend_t backend)
{
    return ggml_backend_buft_get_alignment(
        ggml_backend_get_default_buffer_type(backend));
}

size_t
ggml_backend_get_max_size(ggml_backend_t backend)
{
    return ggml_backend_buft_get_max_size(
        ggml_backend_get_default_buffer_type(backend));
}

void
ggml_backend_synchronize(ggml_backend_t backend)
{
    GB_NEED_VOID(backend != NULL, "synchronize: no backend");
    if (backend->iface.synchronize != NULL)
        backend->iface.synchronize(backend);
}

/* Is there a whole graph for BACKEND to run? */
static enum ggml_status
check_graph(ggml_backend_t backend, const struct ggml_cgraph *graph)
{
    GB_NEED_OR(GGML_STATUS_FAILED, backend != NULL, "graph: no backend");
    GB_NEED_OR(GGML_STATUS_FAILED, graph != NULL, "%s: no graph",
               ggml_backend_name(backend));
    return gb_graph_check_lists(graph);
}

ggml_backend_graph_plan_t
ggml_backend_graph_plan_create(
    ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    if (check_graph(backend, cgraph) != GGML_STATUS_SUCCESS)
        return NULL;
    GB_NEED_OR(NULL, backend->iface.graph_plan_create != NULL,
               "%s makes no graph plans", ggml_backend_name(backend));
    return backend->iface.graph_plan_create(backend, cgraph);
}

void
ggml_backend_graph_plan_free(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    GB_NEED_VOID(backend != NULL, "free graph plan: no backend");
    if (plan == NULL)
        return;
    GB_NEED_VOID(backend->iface.graph_plan_free != NULL,
                 "%s makes no graph plans", ggml_backend_name(backend));
    backend->iface.graph_plan_free(backend, plan);
}

enum ggml_status
ggml_backend_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    GB_NEED_OR(GGML_STATUS_FAILED, backend != NULL, "graph plan: no backend");
    GB_NEED_OR(GGML_STATUS_FAILED, plan != NULL, "%s: no graph plan",
               ggml_backend_name(backend));
    GB_NEED_OR(GGML_STATUS_FAILED, backend->iface.graph_plan_compute != NULL,
               "%s makes no graph plans", ggml_backend_name(backend));
    return backend->iface.graph_plan_compute(backend, plan);
}

enum ggml_status
ggml_backend_graph_compute_async(
    ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    GB_TRY(check_graph(backend, cgraph));
    return backend->iface.graph_compute(backend, cgraph);
}

enum ggml_status
ggml_backend_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    enum ggml_status status;
    uint64_t n_failures;

    GB_TRY(check_graph(backend, cgraph));
    status = backend->iface.graph_compute(backend, cgraph);
    /* What was handed over may fail later, and comes to light here. */
    n_failures = gb_failure_count();
    ggml_backend_synchronize(backend);
    if (status == GGML_STATUS_SUCCESS && gb_failure_count() != n_failures)
        status = GGML_STATUS_FAILED;
    return status;
}

bool
ggml_backend_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    GB_NEED_OR(false, backend != NULL, "supported operation: no backend");
    return ggml_backend_dev_supports_op(backend->device, op);
}

bool
ggml_backend_supports_buft(
    ggml_backend_t backend, ggml_backend_buffer_type_t buft)
{
    GB_NEED_OR(false, backend != NULL, "supported memory: no backend");
    return ggml_backend_dev_supports_buft(backend->device, buft);
}

bool
ggml_backend_offload_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    GB_NEED_OR(false, backend != NULL, "offload: no backend");
    return ggml_backend_dev_offload_op(backend->device, op);
}
