/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/optable.c - which row runs an operation.
 */
#include "backends/vulkan/ops/collect.h"
#include "backends/vulkan/ops/formats.h"

#include "lib/node/node.h"
#include "lib/node/sound.h"

static const struct gb_vk_op *const rows[GGML_OP_COUNT] = {
#define GB_NODE(op, name, n) [GGML_OP_##op] = &gb_vk_op_##name,
#include "lib/node/nodes.def"
#undef GB_NODE
};

const struct gb_vk_op *
gb_vk_op_of(enum ggml_op op)
{
    return (unsigned)op < GGML_OP_COUNT ? rows[op] : NULL;
}

/* What shows another tensor's data. */
static bool
is_view(enum ggml_op op)
{
    return op == GGML_OP_NONE || op == GGML_OP_RESHAPE ||
           op == GGML_OP_VIEW || op == GGML_OP_PERMUTE ||
           op == GGML_OP_TRANSPOSE;
}

bool
gb_vk_needs_work(const struct ggml_tensor *node)
{
    return !is_view(node->op) && !ggml_is_empty(node);
}

/* A binding begins up to 255 bytes before the operand. */
static bool
fits(const struct gb_vk_limits *limits, const struct ggml_tensor *t)
{
    return ggml_nbytes(t) <= gb_vk_room(limits);
}

/* Does NODE take a pipeline that the driver cannot make? */
static bool
is_broken(const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    struct gb_vk_collection taken = { .n = 0 };

    if (!limits->has_broken)
        return false;
    gb_vk_collect(limits, node, &taken);
    return gb_vk_has_broken(limits, &taken);
}

/* Does each operand fit that ROW does not cut itself? */
static bool
all_fit(const struct gb_vk_op *row, const struct gb_vk_limits *limits,
        const struct ggml_tensor *node)
{
    if (!row->cuts && !fits(limits, node))
        return false;
    for (int i = row->cuts ? 2 : 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && !fits(limits, node->src[i]))
            return false;
    return true;
}

/* Can shaders count T's elements, and load words where it begins?  Strides of 0
 * make more elements of a few bytes than 32 bits count. */
static bool
can_be_walked(const struct ggml_tensor *t)
{
    return gb_vk_is_aligned(t) &&
           (gb_node_has_places(t) || ggml_nelements(t) <= UINT32_MAX);
}

/* Can NODE be asked for its shapes at all, and can each of its tensors be walked?
 * Whatever a client wrote into it, this comes first. */
static bool
is_sound(const struct ggml_tensor *node)
{
    if (!gb_node_is_valid(node) || !can_be_walked(node))
        return false;
    for (int i = 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && !can_be_walked(node->src[i]))
            return false;
    return true;
}

bool
gb_vk_runs_whole(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_vk_op *row = gb_vk_op_of(node->op);

    return row != NULL && is_sound(node) && all_fit(row, limits, node) &&
           (row->supports == NULL || row->supports(limits, node)) &&
           !is_broken(limits, node);
}

/* Does NODE, which does not run as it is, run in parts of *SIZE? */
static bool
runs_in_parts(const struct gb_vk_limits *limits, const struct ggml_tensor *node,
              struct gb_vk_part_size *size)
{
    const struct gb_vk_op *row = gb_vk_op_of(node->op);

    return row->parts != NULL && is_sound(node) &&
           gb_vk_choose_parts(row->parts, limits, node, gb_vk_runs_whole,
                              size);
}

bool
gb_vk_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    struct gb_vk_part_size size;

    if (is_view(node->op))
        return true;
    if (gb_vk_op_of(node->op) == NULL)
        return false;
    if (ggml_is_empty(node))
        return true;
    return gb_vk_runs_whole(limits, node) ||
           runs_in_parts(limits, node, &size);
}

/* The first part is as large as any. */
static size_t
scratch_of_part(const struct gb_vk_op *row, const struct gb_vk_limits *limits,
                const struct ggml_tensor *node)
{
    static const int64_t origin[GGML_MAX_DIMS];
    struct gb_vk_part_size size;
    struct gb_vk_part part;

    if (!runs_in_parts(limits, node, &size))
        return 0;
    gb_vk_make_part(row->parts, node, origin, &size, &part);
    return row->scratch(limits, &part.node);
}

size_t
gb_vk_scratch_of(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_vk_op *row = gb_vk_op_of(node->op);

    if (row == NULL || row->scratch == NULL)
        return 0;
    if (row->parts == NULL || gb_vk_runs_whole(limits, node))
        return row->scratch(limits, node);
    return scratch_of_part(row, limits, node);
}

static void
emit_parts(struct gb_vk_emit *emit, const struct ggml_tensor *node,
           const struct gb_vk_part_size *size)
{
    const struct gb_vk_op *row = gb_vk_op_of(node->op);
    struct gb_vk_part part;
    int64_t at[GGML_MAX_DIMS];

    for (at[3] = 0; at[3] < node->ne[3]; at[3] += size->ne[3])
        for (at[2] = 0; at[2] < node->ne[2]; at[2] += size->ne[2])
            for (at[1] = 0; at[1] < node->ne[1]; at[1] += size->ne[1])
                for (at[0] = 0; at[0] < node->ne[0]; at[0] += size->ne[0]) {
                    gb_vk_make_part(row->parts, node, at, size, &part);
                    row->emit(emit, &part.node);
                }
}

bool
gb_vk_emit_node(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct gb_vk_op *row = gb_vk_op_of(node->op);
    struct gb_vk_part_size size;

    if (row == NULL)
        return false;
    if (gb_vk_runs_whole(emit->limits, node)) {
        row->emit(emit, node);
        return true;
    }
    if (!runs_in_parts(emit->limits, node, &size))
        return false;
    emit_parts(emit, node, &size);
    return true;
}
