/* SPDX-License-Identifier: MIT */
/*
 * vulkan/device/graph.c - a graph as dispatches.
 */
#include "backends/vulkan/device/graph.h"

#include "backends/vulkan/device/buffer.h"
#include "backends/vulkan/device/tables.h"
#include "backends/vulkan/ops/op.h"

#include "ggmlbackend.h"

#include <string.h>

/* Operations that a product costs as much as a byte that is moved. */
enum { OPERATIONS_OF_BYTE = 32 };

struct emission {
    struct gb_vk_emit emit; /* first: rows get it */
    struct gb_vk_recorder *recorder;
    const struct gb_vk_memory *scratch;
    enum ggml_status status;
};

/* ---- bindings ---- */

/* Where BIND is; false, with the reason told, for what does not lie on the
 * card. */
static bool
locate(const struct emission *emission, const struct gb_vk_bind *bind,
       VkBuffer *buffer, size_t *offset, size_t *size)
{
    struct gb_vk_context *context = emission->recorder->context;
    const struct gb_vk_memory *memory = NULL;
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
    if (home != NULL && home->hold.context == context &&
        !(bind->is_written && home->is_copied && home->n_windows > 1)) {
        *offset =
            (size_t)((char *)bind->tensor->data - home->base) + bind->offset;
        *size = bind->size > 0 ? bind->size
                               : ggml_nbytes(bind->tensor) - bind->offset;
        memory = gb_vk_find_memory(home, offset, *size);
    }
    if (memory == NULL) {
        ggmlbackend_fail(GGML_STATUS_FAILED,
                         "%s: tensor %s does not lie on the card",
                         context->card->label, bind->tensor->name);
        return false;
    }
    *buffer = memory->buffer;
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
    emission->status = gb_vk_record(emission->recorder, &dispatch);
}

/* ---- graphs ---- */

static size_t
scratch_of(const struct gb_vk_limits *limits, const struct ggml_cgraph *cgraph)
{
    size_t most = 0;

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

enum ggml_status
gb_vk_graph_run(
    struct gb_vk_recorder *recorder, struct gb_vk_memory *scratch,
    const struct ggml_cgraph *cgraph)
{
    const struct gb_vk_limits *limits = &recorder->context->card->limits;
    struct emission emission = {
        .emit = { .limits = limits, .add = add },
        .recorder = recorder,
        .scratch = scratch,
        .status = grow(recorder, scratch, scratch_of(limits, cgraph)),
    };

    for (int i = 0;
         i < cgraph->n_nodes && emission.status == GGML_STATUS_SUCCESS; i++)
        emit_node(&emission, cgraph->nodes[i]);
    if (emission.status == GGML_STATUS_SUCCESS)
        emission.status = gb_vk_flush(recorder);
    gb_vk_recorder_drop(recorder);
    return emission.status;
}
