/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/recorder-2023.c - a backend of 2023 that writes down what it
 * gets and computes nothing.
 */
#include "recorder.h"

#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml.h"

#include <stdlib.h>

struct recorded recorded;
bool recorder_2023_is_silent;

static void
record(const struct ggml_tensor *node)
{
    recorded.op = (int)node->op;
    recorded.node = node;
    for (int i = 0; i < 3; i++)
        recorded.src[i] = node->src[i];
}

static void *
recorder_get_base(ggml_backend_buffer_t buffer)
{
    return buffer->context;
}

static void
recorder_free_buffer(ggml_backend_buffer_t buffer)
{
    free(buffer->context);
}

static const char *
recorder_get_name(ggml_backend_t backend)
{
    (void)backend;
    return "Recorder";
}

static void
recorder_free(ggml_backend_t backend)
{
    free(backend);
}

static ggml_backend_buffer_t
recorder_alloc_buffer(ggml_backend_t backend, size_t size)
{
    struct ggml_backend_buffer_i members = {
        .free_buffer = recorder_free_buffer,
        .get_base = recorder_get_base,
        .get_alloc_size = NULL,
        .init_tensor = NULL,
        .free_tensor = NULL,
    };

    return ggml_backend_buffer_init(backend, members, calloc(1, size), size);
}

static size_t
recorder_get_alignment(ggml_backend_t backend)
{
    (void)backend;
    return 32;
}

static void
recorder_set_tensor_async(
    ggml_backend_t backend, struct ggml_tensor *tensor, const void *data,
    size_t offset, size_t size)
{
    (void)backend, (void)tensor, (void)data, (void)offset, (void)size;
}

static void
recorder_get_tensor_async(
    ggml_backend_t backend, const struct ggml_tensor *tensor, void *data,
    size_t offset, size_t size)
{
    (void)backend, (void)tensor, (void)data, (void)offset, (void)size;
}

static void
recorder_synchronize(ggml_backend_t backend)
{
    (void)backend;
}

static void
recorder_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    (void)backend;
    for (int i = 0; i < cgraph->n_nodes; i++) {
        recorded.n_computed++;
        record(cgraph->nodes[i]);
    }
}

static ggml_backend_graph_plan_t
recorder_graph_plan_create(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    (void)backend;
    return cgraph;
}

static void
recorder_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    (void)backend, (void)plan;
    recorded.n_freed_plans++;
}

static void
recorder_graph_plan_compute(
    ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    recorder_graph_compute(backend, plan);
}

static bool
recorder_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    (void)backend;
    recorded.n_asked++;
    record(op);
    return true;
}

ggml_backend_t
recorder_2023_init(void)
{
    const struct ggml_backend_i members = {
        .get_name = recorder_get_name,
        .free = recorder_free,
        .alloc_buffer = recorder_alloc_buffer,
        .get_alignment = recorder_get_alignment,
        .set_tensor_async = recorder_set_tensor_async,
        .get_tensor_async = recorder_get_tensor_async,
        .synchronize = recorder_synchronize,
        .graph_plan_create = recorder_graph_plan_create,
        .graph_plan_free = recorder_graph_plan_free,
        .graph_plan_compute = recorder_graph_plan_compute,
        .graph_compute = recorder_graph_compute,
        .supports_op = recorder_2023_is_silent ? NULL : recorder_supports_op,
    };
    ggml_backend_t backend = malloc(sizeof(*backend));

    if (backend != NULL) {
        backend->iface = members;
        backend->context = NULL;
    }
    return backend;
}
