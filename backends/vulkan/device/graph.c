/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/graph.c - a graph as dispatches.
 */
#include "backends/vulkan/device/graph.h"

#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/device/compilers.h"
#include "backends/vulkan/device/pipeline.h"
#include "backends/vulkan/device/tables.h"
#include "backends/vulkan/ops/fused.h"
#include "backends/vulkan/ops/op.h"

#include "ggmlbackend.h"

#include <string.h>

/* Operations that a product costs as much as a byte that is moved. */
enum { OPERATIONS_OF_BYTE = 32 };

struct emission {
    struct gb_vk_emit emit; /* first: rows get it */
    struct gb_vk_recorder *recorder;
    const struct gb_vk_memory *scratch;
    const struct ggml_cgraph *graph;
    const struct gb_fuse *fuse; /* its groups */
    int node; /* that is recorded */
    struct gb_vk_compilers compilers;
    bool has_compilers;
    enum ggml_status status;
};

/* ---- pipelines ---- */

/* Those of node I, or of its group where that is computed. */
static void
collect_at(const struct emission *emission, int i,
           struct gb_vk_collection *wanted)
{
    const struct gb_vk_limits *limits = emission->emit.limits;
    const struct ggml_tensor *node = emission->graph->nodes[i];
    const struct gb_fuse_group *group = gb_fuse_group_of(emission->fuse, i);

    if (group == NULL && gb_vk_supports(limits, node))
        gb_vk_collect(limits, node, wanted);
    if (group != NULL && gb_fuse_is_place(group, i))
        gb_vk_collect_group(limits, group, wanted);
}

/*
 * A pipeline that is not there takes a while, and a graph that needs one may need
 * more: others are made meanwhile, in the order in which they will be asked for.
 */
static void
start_compilers(struct emission *emission, enum gb_vk_pipeline pipeline)
{
    struct gb_vk_context *context = emission->recorder->context;
    const struct ggml_cgraph *graph = emission->graph;
    struct gb_vk_collection wanted = { .n = 0 };

    if (emission->has_compilers || gb_vk_pipeline_is_made(context, pipeline))
        return;
    emission->has_compilers = true;
    for (int i = emission->node; i < graph->n_nodes; i++)
        collect_at(emission, i, &wanted);
    gb_vk_compilers_begin(&emission->compilers, context, &wanted);
}

/* ---- bindings ---- */

/* Where BIND is; false, with the reason told, for what does not lie on the
 * card. */
static bool
locate(const struct emission *emission, const struct gb_vk_bind *bind,
       VkBuffer *buffer, size_t *offset, size_t *size)
{
    struct gb_vk_context *context = emission->recorder->context;
    const struct gb_vk_buffer *home;

    if (bind->table != 0)
        return gb_vk_table(context, bind->table, buffer, offset, size);
    if (bind->tensor == NULL) {
        *buffer = emission->scratch->buffer;
        *offset = bind->offset;
        *size = bind->size;
        return true;
    }
    home = gb_vk_buffer_of(bind->tensor);
    if (home == NULL || home->hold.context != context) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: tensor %s does not lie on the card",
                         context->card->label, bind->tensor->name);
        return false;
    }
    *buffer = home->memory.buffer;
    *offset = (size_t)((char *)bind->tensor->data - home->base) + bind->offset;
    *size = bind->size > 0 ? bind->size
                           : ggml_nbytes(bind->tensor) - bind->offset;
    return true;
}

/* Whole words, from a multiple of the device's alignment on; *AT is where the
 * operand begins in it. */
static bool
make_range(const struct emission *emission, const struct gb_vk_bind *bind,
           struct gb_vk_range *range, uint32_t *at)
{
    const size_t mask = emission->recorder->context->card->alignment - 1;
    size_t offset, size;

    if (!locate(emission, bind, &range->buffer, &offset, &size))
        return false;
    range->begin = offset & ~mask;
    range->end = (offset + size + 3) & ~(size_t)3;
    range->is_written = bind->is_written;
    *at = (uint32_t)(offset & mask);
    return true;
}

/* The struct's first member is where operands begin. */
static void
add(struct gb_vk_emit *emit, enum gb_vk_pipeline pipeline, int64_t n_groups,
    const struct gb_vk_bind *binds, int n_binds, void *params, size_t size)
{
    struct emission *emission = (struct emission *)emit;
    struct gb_vk_range ranges[GB_VK_MAX_BINDINGS];
    const struct gb_vk_dispatch dispatch = {
        pipeline, n_groups, ranges, n_binds, params, size
    };
    uint32_t *at = params;

    if (emission->status != GGML_STATUS_SUCCESS || n_groups <= 0)
        return;
    for (int i = 0; i < n_binds; i++) {
        if (!make_range(emission, &binds[i], &ranges[i], &at[i])) {
            emission->status = GGML_STATUS_FAILED;
            return;
        }
    }
    start_compilers(emission, pipeline);
    emission->status = gb_vk_record(emission->recorder, &dispatch);
}

/* ---- graphs ---- */

/* What the groups of FUSE need at once that their nodes need one after the
 * other. */
static size_t
scratch_of_groups(
    const struct gb_vk_limits *limits, const struct gb_fuse *fuse)
{
    size_t most = 0;

    for (int i = 0; i < fuse->n_groups; i++) {
        const struct gb_fuse_group *group = &fuse->groups[i];
        const struct gb_vk_fused *row = gb_vk_fused_of(group->pattern);
        size_t size;

        if (row->scratch == NULL)
            continue;
        size = row->scratch(limits, group);
        most = size > most ? size : most;
    }
    return most;
}

static size_t
scratch_of(const struct gb_vk_limits *limits, const struct gb_fuse *fuse,
           const struct ggml_cgraph *cgraph)
{
    size_t most = scratch_of_groups(limits, fuse);

    for (int i = 0; i < cgraph->n_nodes; i++) {
        const struct ggml_tensor *node = cgraph->nodes[i];
        size_t size;

        if (!gb_vk_needs_work(node))
            continue;
        size = gb_vk_scratch_of(limits, node);
        most = size > most ? size : most;
    }
    return most;
}

static enum ggml_status
grow(struct gb_vk_recorder *recorder, struct gb_vk_memory *scratch, size_t size)
{
    struct gb_vk_context *context = recorder->context;
    enum ggml_status status;

    if (size <= scratch->size)
        return GGML_STATUS_SUCCESS;
    status = gb_vk_wait(context, recorder->number);
    if (status != GGML_STATUS_SUCCESS)
        return status;
    if (scratch->size > 0)
        gb_vk_memory_free(context, scratch);
    return gb_vk_memory_new(context, GB_VK_MEMORY_DEVICE,
                            (size + 255) & ~(size_t)255, scratch);
}

/* What a product costs besides what it reads: in bytes of a submission's. */
static uint64_t
work_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    if (node->op != GGML_OP_MUL_MAT && node->op != GGML_OP_MUL_MAT_ID &&
        node->op != GGML_OP_OUT_PROD && node->op != GGML_OP_FLASH_ATTN_EXT)
        return 0;
    return (uint64_t)ggml_nelements(node) *
           (uint64_t)(node->op == GGML_OP_FLASH_ATTN_EXT
                          ? 2 * node->src[1]->ne[1] : a->ne[0]) /
           OPERATIONS_OF_BYTE;
}

/* Clients may ask for what supports_op refuses. */
static void
emit_node(struct emission *emission, const struct ggml_tensor *node)
{
    if (!gb_vk_needs_work(node))
        return;
    emission->recorder->work += work_of(node);
    if (gb_vk_emit_node(&emission->emit, node))
        return;
    emission->status = ggmlbackend_fail(
        GGML_STATUS_FAILED, "%s: %s cannot be computed there",
        emission->recorder->context->card->label, ggml_op_desc(node));
}

/* ---- groups of nodes ---- */

static bool
accepts_group(void *data, const struct gb_fuse_group *group)
{
    const struct gb_vk_limits *limits = data;

    return gb_vk_supports_group(limits, group);
}

/* Without memory for the search each node has dispatches of its own. */
static void
find_groups(struct gb_fuse *fuse, const struct gb_vk_card *card,
            const struct gb_vk_limits *limits,
            const struct ggml_cgraph *cgraph)
{
    struct gb_vk_limits data = *limits;

    fuse->n_groups = 0;
    if (card->fuses)
        gb_fuse_find(fuse, cgraph, accepts_group, &data);
}

static void
emit_group(struct emission *emission, const struct gb_fuse_group *group)
{
    struct gb_vk_recorder *recorder = emission->recorder;

    for (int i = 0; i < group->n_nodes; i++)
        recorder->work += work_of(group->nodes[i]);
    gb_vk_fused_of(group->pattern)->emit(&emission->emit, group);
    atomic_fetch_add_explicit(&recorder->context->n_groups[group->pattern], 1,
                              memory_order_relaxed);
}

/* Node I, or its group where that is computed. */
static void
emit_at(struct emission *emission, int i)
{
    const struct gb_fuse_group *group = gb_fuse_group_of(emission->fuse, i);

    if (group == NULL)
        emit_node(emission, emission->graph->nodes[i]);
    else if (gb_fuse_is_place(group, i))
        emit_group(emission, group);
}

static enum ggml_status
prepare(struct gb_vk_recorder *recorder, struct gb_vk_memory *scratch,
        struct gb_fuse *fuse, const struct gb_vk_limits *limits,
        const struct ggml_cgraph *cgraph)
{
    find_groups(fuse, recorder->context->card, limits, cgraph);
    return grow(recorder, scratch, scratch_of(limits, fuse, cgraph));
}

enum ggml_status
gb_vk_graph_run(
    struct gb_vk_recorder *recorder, struct gb_vk_memory *scratch,
    struct gb_fuse *fuse, const struct ggml_cgraph *cgraph)
{
    /* What breaks meanwhile changes nothing of what is recorded. */
    const struct gb_vk_limits limits =
        gb_vk_card_limits(recorder->context->card);
    struct emission emission = {
        .emit = { .limits = &limits, .add = add },
        .recorder = recorder,
        .scratch = scratch,
        .graph = cgraph,
        .fuse = fuse,
        .status = prepare(recorder, scratch, fuse, &limits, cgraph),
    };

    for (; emission.node < cgraph->n_nodes &&
           emission.status == GGML_STATUS_SUCCESS; emission.node++)
        emit_at(&emission, emission.node);
    gb_vk_compilers_end(&emission.compilers);
    if (emission.status == GGML_STATUS_SUCCESS)
        emission.status = gb_vk_flush(recorder);
    gb_vk_recorder_drop(recorder);
    return emission.status;
}
