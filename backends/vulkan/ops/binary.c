/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/binary.c - operations on two tensors, element by element, the
 * second one repeated.
 *
 * ADD ADD1 SUB MUL DIV SILU_BACK, of floating-point types with any strides;
 * src0 and dst may be in blocks, and then pass through floats in scratch.
 */
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/quantize.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-binary.h"

/* T's shape as contiguous floats. */
static struct ggml_tensor
as_floats(const struct ggml_tensor *t)
{
    struct ggml_tensor floats = *t;

    floats.type = GGML_TYPE_F32;
    floats.data = NULL;
    floats.view_offs = 0;
    floats.nb[0] = sizeof(float);
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        floats.nb[d] = floats.nb[d - 1] * (size_t)t->ne[d - 1];
    return floats;
}

static size_t
bytes_as_floats(const struct ggml_tensor *t)
{
    return (size_t)ggml_nelements(t) * sizeof(float);
}

/* What passes through scratch has to fit into a binding. */
static bool
can_read(const struct gb_vk_limits *limits, const struct ggml_tensor *t)
{
    const struct ggml_tensor floats = as_floats(t);

    return gb_node_is_float(t->type) ||
           (gb_vk_can_convert_blocks(&floats, t) &&
            bytes_as_floats(t) + 256 <= limits->range);
}

static bool
can_write(const struct gb_vk_limits *limits, const struct ggml_tensor *t)
{
    const struct ggml_tensor floats = as_floats(t);

    return gb_node_is_float(t->type) ||
           (gb_vk_can_convert_blocks(t, &floats) &&
            bytes_as_floats(t) + 256 <= limits->range);
}

static bool
binary_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    return can_write(limits, node) && can_read(limits, node->src[0]);
}

/* Floats for src0, which dst's replace. */
static size_t
binary_scratch(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    (void)limits;
    if (gb_node_is_float(node->type) && gb_node_is_float(node->src[0]->type))
        return 0;
    return gb_vk_scratch_up(bytes_as_floats(node));
}

static uint32_t
binary_of(enum ggml_op op)
{
    switch ((int)op) {
    case GGML_OP_SUB:
        return GB_VK_SUB;
    case GGML_OP_MUL:
        return GB_VK_MUL;
    case GGML_OP_DIV:
        return GB_VK_DIV;
    case GGML_OP_SILU_BACK:
        return GB_VK_SILU_BACK;
    default:
        return GB_VK_ADD;
    }
}

/* Is B, if it is repeated at all, repeated as a whole: is it A without some of
 * the upper dimensions? */
static bool
repeats_as_a_whole(const struct ggml_tensor *b, const struct ggml_tensor *a)
{
    int same = 0;

    while (same < GGML_MAX_DIMS && a->ne[same] == b->ne[same])
        same++;
    for (int i = same; i < GGML_MAX_DIMS; i++)
        if (b->ne[i] != 1)
            return false;
    return true;
}

/* A tensor, and where a shader finds it. */
struct operand {
    const struct ggml_tensor *tensor;
    struct gb_vk_bind bind;
};

/* Frequent ones have pipelines of their own, without what decides. */
static enum gb_vk_pipeline
pipeline_of(const struct gb_vk_binary_params *params)
{
    const bool is_alike = params->n_b == params->n;

    if (params->n_b != 0 && params->function == GB_VK_ADD)
        return is_alike ? GB_VK_binary_add : GB_VK_binary_add_repeated;
    if (params->n_b != 0 && params->function == GB_VK_MUL)
        return is_alike ? GB_VK_binary_mul : GB_VK_binary_mul_repeated;
    return GB_VK_binary;
}

/* dst = a OP b, all of floating-point types. */
static void
emit_floats(struct gb_vk_emit *emit, enum ggml_op op, struct operand to,
            struct operand from, const struct ggml_tensor *b)
{
    const struct ggml_tensor *dst = to.tensor, *a = from.tensor;
    struct gb_vk_binary_params params = {
        .ne = GB_VK_NE(dst),
        .dst_nb = GB_VK_NB(dst),
        .a_nb = GB_VK_NB(a),
        .b_ne = GB_VK_NE(b),
        .b_nb = GB_VK_NB(b),
        .n = (uint32_t)ggml_nelements(dst),
        .function = binary_of(op),
        .types = gb_vk_float_of(dst->type) | gb_vk_float_of(a->type) << 4 |
                 gb_vk_float_of(b->type) << 8,
    };

    if (gb_node_is_flat(dst) && gb_node_is_flat(a) && gb_node_is_flat(b) &&
        repeats_as_a_whole(b, a))
        params.n_b = (uint32_t)ggml_nelements(b);
    GB_VK_DISPATCH_ONE_OF(emit, pipeline_of(&params),
                          gb_vk_groups(params.n, 256), &params, to.bind,
                          from.bind, gb_vk_read(b));
}

static void
binary_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor floats = as_floats(node);
    const size_t size = bytes_as_floats(node);
    const struct ggml_tensor *a = node->src[0];
    struct operand to = { node, gb_vk_write(node) };
    struct operand from = { a, gb_vk_read(a) };

    if (!gb_node_is_float(a->type)) {
        gb_vk_emit_convert_blocks(emit, &floats, gb_vk_scratch(0, size, true),
                                  a, gb_vk_read(a));
        from = (struct operand){ &floats, gb_vk_scratch(0, size, false) };
    }
    if (!gb_node_is_float(node->type))
        to = (struct operand){ &floats, gb_vk_scratch(0, size, true) };
    emit_floats(emit, node->op, to, from, node->src[1]);
    if (!gb_node_is_float(node->type))
        gb_vk_emit_convert_blocks(emit, node, gb_vk_write(node), &floats,
                                  gb_vk_scratch(0, size, false));
}

const struct gb_vk_op gb_vk_op_binary = {
    .supports = binary_supports,
    .parts = &gb_vk_parts_of_elements,
    .scratch = binary_scratch,
    .emit = binary_emit,
};
