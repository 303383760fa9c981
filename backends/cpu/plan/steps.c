/* SPDX-License-Identifier: MIT */
/*
 * cpu/plan/steps.c - a graph's nodes as phases of tiles, in a work buffer.
 */
#include "config.h"

#include "backends/cpu/plan/plan.h"

#include "lib/base/attr.h"
#include "lib/base/checked.h"
#include "lib/base/status.h"
#include "lib/graph/graph.h"

#include <string.h>

/* Nodes that only say how others' data is to be looked at, and empty ones. */
static bool
has_work(const struct ggml_tensor *node)
{
    switch ((int)node->op) {
    case GGML_OP_NONE:
    case GGML_OP_RESHAPE:
    case GGML_OP_VIEW:
    case GGML_OP_PERMUTE:
    case GGML_OP_TRANSPOSE:
        return false;
    }
    return node->ne[0] != 0 && node->ne[1] != 0 && node->ne[2] != 0 &&
           node->ne[3] != 0;
}

static enum ggml_status
check_graph(const struct ggml_cgraph *graph)
{
    GB_NEED_OR(GGML_STATUS_FAILED, graph != NULL, "cpu: no graph");
    if (gb_graph_is_failed(graph))
        return gb_fail(GGML_STATUS_FAILED, "cpu: the graph has failed: %s",
                       gb_graph_failure(graph));
    return GGML_STATUS_SUCCESS;
}

/* The text of a source's type. */
static const char *
type_of(const struct ggml_tensor *tensor)
{
    return tensor == NULL ? "-" : ggml_type_name(tensor->type);
}

/* NULL, with the reason recorded, when NODE cannot be computed. */
static const struct gb_cpu_op *
find_op(const struct ggml_tensor *node)
{
    const struct gb_cpu_op *op = gb_cpu_op_find(node);

    if (op != NULL && op->can_run(node))
        return op;
    gb_fail(GGML_STATUS_FAILED,
            "cpu: %s \"%s\" cannot be computed (%s from %s, %s)",
            ggml_op_desc(node), node->name, type_of(node),
            type_of(node->src[0]), type_of(node->src[1]));
    return NULL;
}

/* A step's phases, in a row of at most three. */
static int
phases_of(struct ggml_tensor *node, const struct gb_cpu_op *op, int n_threads,
          bool is_prepared, struct gb_cpu_phase out[3])
{
    const int64_t before = op->prepare != NULL && !is_prepared
                               ? op->prepare_tiles(node)
                               : 0;
    int64_t tiles = op->tiles(node);
    int n = 0;

    if (op->tiles_by_threads && tiles > n_threads)
        tiles = n_threads;
    if (before > 0)
        out[n++] = (struct gb_cpu_phase){ node, op->prepare, before, false };
    out[n++] = (struct gb_cpu_phase){ node, op->run, tiles, false };
    if (op->finish != NULL)
        out[n++] = (struct gb_cpu_phase){ node, op->finish, 1, false };
    out[n - 1].is_last = true;
    return n;
}

/* Does NODE write where OTHER's elements are?  Without addresses it may. */
static bool
writes_to(const struct ggml_tensor *node, const struct ggml_tensor *other)
{
    const char *const to = node->data;
    const char *const from = other->data;

    return to == NULL || from == NULL ||
           (to < from + ggml_nbytes(other) && from < to + ggml_nbytes(node));
}

/* The node whose prepared source is in the shared memory when NODE has been
 * computed, BEFORE having been that until then. */
static struct ggml_tensor *
prepared_after(struct ggml_tensor *node, const struct gb_cpu_op *op,
               struct ggml_tensor *before)
{
    struct ggml_tensor *const prepared =
        op->shared == NULL ? before : op->is_prepared != NULL ? node : NULL;

    return prepared == NULL || writes_to(node, prepared->src[1]) ? NULL
                                                                 : prepared;
}

/* Raise *MOST to SIZE, rounded up. */
static enum ggml_status
raise_to(size_t *most, size_t size, const struct ggml_tensor *node)
{
    size_t padded;

    if (size <= *most)
        return GGML_STATUS_SUCCESS;
    if (!gb_pad_size(size, GB_CPU_WORK_ALIGN, &padded))
        return gb_fail(GGML_STATUS_FAILED, "cpu: %s needs too much memory",
                       ggml_op_desc(node));
    *most = padded;
    return GGML_STATUS_SUCCESS;
}

/* Where phases go; what has no room is only counted. */
struct builder {
    struct gb_cpu_phase *phases;
    int64_t room;
    int64_t n_phases;
    int64_t max_tiles;            /* of a phase */
    struct ggml_tensor *prepared; /* whose source is in the shared memory */
    int n_threads;
    struct gb_cpu_size *size;
};

static enum ggml_status
add_node(struct builder *builder, struct ggml_tensor *node)
{
    const struct gb_cpu_op *op = find_op(node);
    struct ggml_tensor *const before = builder->prepared;
    struct gb_cpu_size *size = builder->size;
    struct gb_cpu_phase spare[3];
    struct gb_cpu_phase *phases = spare;
    bool is_prepared;
    int n;

    if (op == NULL)
        return GGML_STATUS_FAILED;
    is_prepared = before != NULL && op->is_prepared != NULL &&
                  gb_cpu_op_find(before) == op && op->is_prepared(node, before);
    if (builder->n_phases + 3 <= builder->room)
        phases = builder->phases + builder->n_phases;
    n = phases_of(node, op, builder->n_threads, is_prepared, phases);
    for (int i = 0; i < n; i++) {
        if (phases[i].n_tiles > builder->max_tiles)
            builder->max_tiles = phases[i].n_tiles;
    }
    builder->n_phases += n;
    builder->prepared = prepared_after(node, op, before);
    /* Where tensors lie may change before the graph is computed. */
    size->n_phases += n + is_prepared;
    if (op->scratch != NULL)
        GB_TRY(raise_to(&size->scratch, op->scratch(node), node));
    if (op->shared != NULL)
        GB_TRY(raise_to(&size->shared, op->shared(node), node));
    return GGML_STATUS_SUCCESS;
}

/* Bytes that N phases take, with room for the last node to be written as if it
 * had three; a multiple of the alignment. */
static bool
phases_size(int64_t n_phases, size_t *out)
{
    size_t bytes;

    return gb_mul_size(
               (size_t)n_phases + 2, sizeof(struct gb_cpu_phase), &bytes) &&
           gb_pad_size(bytes, GB_CPU_WORK_ALIGN, out);
}

/* The sum, with room to begin at an aligned address; *phases of it for the
 * phases. */
static enum ggml_status
add_up(struct gb_cpu_size *size, int n_threads, size_t *phases)
{
    size_t scratch, sum;

    *phases = 0;
    /* A graph in which nothing is to be done needs no memory. */
    if (size->n_phases == 0)
        return GGML_STATUS_SUCCESS;
    if (!phases_size(size->n_phases, phases) ||
        !gb_mul_size(size->scratch, (size_t)n_threads, &scratch) ||
        !gb_add_size(*phases, scratch, &sum) ||
        !gb_add_size(sum, size->shared, &sum) ||
        !gb_add_size(sum, GB_CPU_WORK_ALIGN - 1, &size->work))
        return gb_fail(GGML_STATUS_FAILED, "cpu: %zu bytes of scratch for each "
                       "of %d threads do not fit", size->scratch, n_threads);
    return GGML_STATUS_SUCCESS;
}

/* Bytes from WORK to the first aligned address. */
static size_t
bytes_before(const void *work)
{
    const size_t past = (uintptr_t)work % GB_CPU_WORK_ALIGN;

    return past > 0 ? GB_CPU_WORK_ALIGN - past : 0;
}

enum ggml_status
gb_cpu_plan_build(const struct ggml_cgraph *graph, int n_threads, void *work,
                  size_t work_size, struct gb_cpu_size *size,
                  struct gb_cpu_plan *plan)
{
    const size_t before = bytes_before(work);
    const size_t left = work_size > before ? work_size - before : 0;
    char *const start = left > 0 ? (char *)work + before : NULL;
    struct builder builder = {
        .phases = (struct gb_cpu_phase *)(void *)start,
        .room = (int64_t)(left / sizeof(struct gb_cpu_phase)),
        .max_tiles = 1,
        .n_threads = n_threads,
        .size = size,
    };
    size_t phases;

    memset(size, 0, sizeof(*size));
    memset(plan, 0, sizeof(*plan));
    GB_TRY(check_graph(graph));
    for (int i = 0; i < graph->n_nodes; i++) {
        if (i + 2 < graph->n_nodes)
            GB_PREFETCH(graph->nodes[i + 2]);
        if (has_work(graph->nodes[i]))
            GB_TRY(add_node(&builder, graph->nodes[i]));
    }
    GB_TRY(add_up(size, n_threads, &phases));
    size->n_threads = builder.max_tiles < n_threads ? (int)builder.max_tiles
                                                    : n_threads;
    plan->n_threads = size->n_threads;
    if (size->n_phases == 0 || size->work > work_size)
        return GGML_STATUS_SUCCESS;
    plan->phases = builder.phases;
    plan->n_phases = builder.n_phases;
    plan->shared = start + phases;
    plan->scratch = plan->shared + size->shared;
    plan->scratch_size = size->scratch;
    return GGML_STATUS_SUCCESS;
}

/* An operand of an operation may be NULL or empty; else it has data. */
static enum ggml_status
check_memory(const struct ggml_tensor *node)
{
    if (node->data == NULL)
        return gb_fail(GGML_STATUS_FAILED, "cpu: %s \"%s\" has no memory",
                       ggml_op_desc(node), node->name);
    for (int i = 0; i < GGML_MAX_SRC; i++) {
        const struct ggml_tensor *src = node->src[i];

        if (src != NULL && src->data == NULL && !ggml_is_empty(src))
            return gb_fail(GGML_STATUS_FAILED,
                           "cpu: source %d of %s \"%s\" has no memory", i,
                           ggml_op_desc(node), node->name);
    }
    return GGML_STATUS_SUCCESS;
}

enum ggml_status
gb_cpu_plan_check_memory(const struct gb_cpu_plan *plan)
{
    for (int64_t i = 0; i < plan->n_phases; i++) {
        if (plan->phases[i].is_last)
            GB_TRY(check_memory(plan->phases[i].node));
    }
    return GGML_STATUS_SUCCESS;
}
