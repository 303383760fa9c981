/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/optable.c - which row runs an operation.
 */
#include "backends/vulkan/ops/collect.h"

static const struct gb_vk_op *const rows[GGML_OP_COUNT] = {
#define GB_VK_OP(op, row) [GGML_OP_##op] = &gb_vk_op_##row,
#include "backends/vulkan/ops/optable.def"
#undef GB_VK_OP
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
    return ggml_nbytes(t) + 256 <= limits->range;
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

bool
gb_vk_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct gb_vk_op *row;

    if (is_view(node->op))
        return true;
    row = gb_vk_op_of(node->op);
    if (row == NULL || (!row->cuts && !fits(limits, node)))
        return false;
    for (int i = row->cuts ? 2 : 0; i < GGML_MAX_SRC; i++)
        if (node->src[i] != NULL && !fits(limits, node->src[i]))
            return false;
    return row->supports(limits, node) && !is_broken(limits, node);
}
