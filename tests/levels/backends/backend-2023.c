/* SPDX-License-Identifier: MIT */
/*
 * levels/backends/backend-2023.c - a backend as it was written in 2023, with a
 * switch for everything that such a backend may lack.
 *
 * Transfers are queued and happen when the backend is waited for, or before it
 * computes, so that nothing is there too early.
 */
#include "kernels.h"
#include "old.h"

#include "ggml-backend-impl.h"
#include "ggml-backend.h"
#include "ggml.h"
#include "ggmlbackend.h"

#include <stdlib.h>
#include <string.h>

#define MAX_QUEUED 32

struct old_2023 old_2023;

struct transfer {
    void *to;
    const void *from;
    size_t size;
};

struct old_context {
    struct transfer queue[MAX_QUEUED];
    int n_queued;
};

struct old_memory {
    char *block;
    char *base;
};

/* Of a backend or buffer that cannot be freed there is but one. */
static struct {
    struct ggml_backend backend;
    struct old_context context;
    struct old_memory memory;
    char block[4096];
} lasting;

void
old_2023_reset(void)
{
    memset(&old_2023, 0, sizeof(old_2023));
    old_2023.alignment = 64;
    old_2023.misplaced = 4;
    old_2023.allocs_left = -1;
    old_2023.inits_left = -1;
}

static bool
is_there(enum old_2023_member member)
{
    return (old_2023.missing & member) == 0;
}

#define HAS(member, function) (is_there(member) ? (function) : NULL)

/* Count one down from N, -1 for no end.  False: it was the last. */
static bool
take(int *n)
{
    if (*n == 0)
        return false;
    if (*n > 0)
        --*n;
    return true;
}

/* ---- buffers ---- */

static void
old_free_buffer(ggml_backend_buffer_t buffer)
{
    struct old_memory *memory = buffer->context;

    old_2023.n_buffers--;
    free(memory->block);
    free(memory);
}

static void *
old_get_base(ggml_backend_buffer_t buffer)
{
    struct old_memory *memory = buffer->context;

    return old_2023.has_no_base ? NULL : memory->base;
}

static size_t
old_get_alloc_size(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    (void)buffer;
    return ggml_nbytes(tensor) + old_2023.padding;
}

static void
old_init_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    old_2023.n_init_tensor++;
    if (tensor->buffer != buffer || buffer->backend == NULL)
        old_2023.n_strange++;
    tensor->backend = GGML_BACKEND_GPU;
    if (tensor->view_src != NULL) {
        tensor->extra = tensor->view_src->extra;
        return;
    }
    tensor->extra = malloc(1);
    old_2023.n_extras++;
}

static void
old_free_tensor(ggml_backend_buffer_t buffer, struct ggml_tensor *tensor)
{
    (void)buffer;
    old_2023.n_free_tensor++;
    old_2023.n_extras--;
    free(tensor->extra);
}

/* ---- the backend ---- */

static const char *
old_get_name(ggml_backend_t backend)
{
    (void)backend;
    return old_2023.has_no_name ? NULL : "Old";
}

static void
old_free(ggml_backend_t backend)
{
    old_2023.n_backends--;
    free(backend->context);
    free(backend);
}

static ggml_backend_buffer_t
old_alloc_buffer(ggml_backend_t backend, size_t size)
{
    const struct ggml_backend_buffer_i members = {
        .free_buffer = HAS(OLD_FREE_BUFFER, old_free_buffer),
        .get_base = HAS(OLD_GET_BASE, old_get_base),
        .get_alloc_size = HAS(OLD_GET_ALLOC_SIZE, old_get_alloc_size),
        .init_tensor = HAS(OLD_INIT_TENSOR, old_init_tensor),
        .free_tensor = HAS(OLD_FREE_TENSOR, old_free_tensor),
    };
    struct old_memory *memory;
    ggml_backend_buffer_t buffer;
    size_t past;

    if (!take(&old_2023.allocs_left))
        return NULL;
    memory = is_there(OLD_FREE_BUFFER) ? malloc(sizeof(*memory))
                                       : &lasting.memory;
    if (memory == NULL)
        return NULL;
    memory->block = is_there(OLD_FREE_BUFFER)
                        ? malloc(size + 2 * old_2023.alignment)
                        : lasting.block;
    if (memory->block == NULL) {
        free(memory);
        return NULL;
    }
    past = (size_t)((uintptr_t)memory->block % old_2023.alignment);
    memory->base =
        memory->block + old_2023.alignment - past + old_2023.misplaced;
    memset(memory->base, 0xee, size);
    buffer = ggml_backend_buffer_init(backend, members, memory,
                                      size - old_2023.withheld);
    if (buffer == NULL) {
        free(memory->block);
        free(memory);
        return NULL;
    }
    old_2023.n_buffers++;
    return buffer;
}

static size_t
old_get_alignment(ggml_backend_t backend)
{
    (void)backend;
    return old_2023.alignment;
}

static void
flush(struct old_context *context)
{
    for (int i = 0; i < context->n_queued; i++)
        memmove(context->queue[i].to, context->queue[i].from,
                context->queue[i].size);
    context->n_queued = 0;
}

static void
queue(struct old_context *context, void *to, const void *from, size_t size)
{
    struct transfer transfer;

    transfer.to = to;
    transfer.from = from;
    transfer.size = size;
    if (context->n_queued == MAX_QUEUED)
        flush(context);
    context->queue[context->n_queued++] = transfer;
}

static void
old_set_tensor_async(ggml_backend_t backend, struct ggml_tensor *tensor,
                     const void *data, size_t offset, size_t size)
{
    if (ggml_get_backend(tensor) == NULL)
        old_2023.n_strange++;
    if ((uintptr_t)tensor->data % old_2023.alignment != 0 &&
        tensor->view_src == NULL)
        old_2023.n_strange++;
    queue(backend->context, (char *)tensor->data + offset, data, size);
}

static void
old_get_tensor_async(ggml_backend_t backend, const struct ggml_tensor *tensor,
                     void *data, size_t offset, size_t size)
{
    if (ggml_get_backend(tensor) == NULL)
        old_2023.n_strange++;
    queue(backend->context, data, (const char *)tensor->data + offset, size);
}

static void
old_synchronize(ggml_backend_t backend)
{
    old_2023.n_synchronize++;
    flush(backend->context);
}

static void
old_cpy_tensor_from(ggml_backend_t backend, struct ggml_tensor *src,
                    struct ggml_tensor *dst)
{
    old_2023.n_from++;
    queue(backend->context, dst->data, src->data, ggml_nbytes(src));
}

static void
old_cpy_tensor_to(ggml_backend_t backend, struct ggml_tensor *src,
                  struct ggml_tensor *dst)
{
    old_2023.n_to++;
    queue(backend->context, dst->data, src->data, ggml_nbytes(src));
}

/* A source may lie in memory that is no backend's of this level. */
static void
note_sources(const struct ggml_tensor *node)
{
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const struct ggml_tensor *src = node->src[i];

        if (src != NULL && src->buffer->backend == NULL)
            old_2023.n_foreign++;
    }
}

static void
compute(struct ggml_cgraph *cgraph)
{
    for (int i = 0; i < cgraph->n_nodes; i++) {
        struct ggml_tensor *node = cgraph->nodes[i];

        switch (node->op) {
        case GGML_OP_VIEW:
        case GGML_OP_RESHAPE:
        case GGML_OP_PERMUTE:
        case GGML_OP_TRANSPOSE:
            break;
        case GGML_OP_ALIBI:
        case GGML_OP_NONE:
            old_2023.n_idlers++;
            break;
        default:
            if (ggml_nelements(node) == 0)
                old_2023.n_idlers++;
            note_sources(node);
            run_node(node);
        }
    }
    if (old_2023.is_broken)
        ggmlbackend_fail(GGML_STATUS_FAILED, "old: broken");
}

static ggml_backend_graph_plan_t
old_graph_plan_create(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    (void)backend;
    return old_2023.has_no_plan ? NULL : cgraph;
}

static void
old_graph_plan_free(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    (void)backend;
    (void)plan;
}

static void
old_graph_plan_compute(ggml_backend_t backend, ggml_backend_graph_plan_t plan)
{
    old_2023.n_plan_compute++;
    flush(backend->context);
    compute(plan);
}

static void
old_graph_compute(ggml_backend_t backend, struct ggml_cgraph *cgraph)
{
    old_2023.n_compute++;
    flush(backend->context);
    compute(cgraph);
}

static bool
old_supports_op(ggml_backend_t backend, const struct ggml_tensor *op)
{
    (void)backend;
    old_2023.n_supports_op++;
    return can_run_node(op);
}

ggml_backend_t
old_2023_init(void)
{
    const struct ggml_backend_i members = {
        .get_name = HAS(OLD_GET_NAME, old_get_name),
        .free = HAS(OLD_FREE, old_free),
        .alloc_buffer = HAS(OLD_ALLOC_BUFFER, old_alloc_buffer),
        .get_alignment = HAS(OLD_GET_ALIGNMENT, old_get_alignment),
        .set_tensor_async = HAS(OLD_SET_TENSOR_ASYNC, old_set_tensor_async),
        .get_tensor_async = HAS(OLD_GET_TENSOR_ASYNC, old_get_tensor_async),
        .synchronize = HAS(OLD_SYNCHRONIZE, old_synchronize),
        .cpy_tensor_from = HAS(OLD_CPY_TENSOR_FROM, old_cpy_tensor_from),
        .cpy_tensor_to = HAS(OLD_CPY_TENSOR_TO, old_cpy_tensor_to),
        .graph_plan_create = HAS(OLD_GRAPH_PLAN_CREATE, old_graph_plan_create),
        .graph_plan_free = HAS(OLD_GRAPH_PLAN_FREE, old_graph_plan_free),
        .graph_plan_compute = HAS(OLD_GRAPH_PLAN_COMPUTE, old_graph_plan_compute),
        .graph_compute = HAS(OLD_GRAPH_COMPUTE, old_graph_compute),
        .supports_op = HAS(OLD_SUPPORTS_OP, old_supports_op),
    };
    ggml_backend_t backend;

    if (!take(&old_2023.inits_left))
        return NULL;
    if (!is_there(OLD_FREE)) {
        lasting.backend.iface = members;
        lasting.backend.context = &lasting.context;
        return &lasting.backend;
    }
    backend = malloc(sizeof(*backend));
    if (backend == NULL)
        return NULL;
    backend->iface = members;
    backend->context = calloc(1, sizeof(struct old_context));
    if (backend->context == NULL) {
        free(backend);
        return NULL;
    }
    old_2023.n_backends++;
    return backend;
}
