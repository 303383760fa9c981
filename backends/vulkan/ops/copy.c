/* SPDX-License-Identifier: MIT */
/*
 * vulkan/ops/copy.c - a tensor's elements in row-major order as those of
 * another one: DUP CPY CONT.
 *
 * Of any type to itself, between floating-point types, of these to the types in
 * blocks that can be written, and of all types in blocks to F32.
 */
#include "backends/vulkan/ops/formats.h"
#include "backends/vulkan/ops/move.h"
#include "backends/vulkan/ops/op.h"
#include "backends/vulkan/ops/quantize.h"
#include "backends/vulkan/ops/shape.h"
#include "backends/vulkan/shaders/params-convert.h"

static bool
copy_supports(
    const struct gb_vk_limits *limits, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    (void)limits;
    if (a->type == node->type)
        return gb_vk_can_be_moved(a) && gb_vk_can_be_moved(node);
    return (gb_node_is_float(a->type) && gb_node_is_float(node->type)) ||
           gb_vk_can_convert_blocks(node, a);
}

/* Do words of T, of values of two bytes, each have two that are neighbours in a
 * row? */
static bool
has_pairs(const struct ggml_tensor *t)
{
    size_t all = (size_t)t->ne[0] * 2 | (uintptr_t)t->data;

    if (ggml_type_size(t->type) != 2 || t->nb[0] != 2)
        return false;
    for (int d = 1; d < GGML_MAX_DIMS; d++)
        if (t->ne[d] > 1)
            all |= t->nb[d];
    return all % 4 == 0;
}

static void
emit_convert(struct gb_vk_emit *emit, const struct ggml_tensor *dst,
             const struct ggml_tensor *src)
{
    const uint32_t values = has_pairs(dst) ? 2 : 1;
    const enum gb_vk_pipeline pipeline =
        values == 1 && dst->type != GGML_TYPE_F32 &&
                gb_vk_can_use(emit->limits, GB_VK_convert_halves)
            ? GB_VK_convert_halves : GB_VK_convert;
    struct gb_vk_convert_params params = {
        .dst_ne = GB_VK_NE(dst),
        .dst_nb = GB_VK_NB(dst),
        .src_ne = GB_VK_NE(src),
        .src_nb = GB_VK_NB(src),
        .n = (uint32_t)ggml_nelements(dst) / values,
        .values = values,
        .dst_type = gb_vk_float_of(dst->type),
        .src_type = gb_vk_float_of(src->type),
    };

    GB_VK_DISPATCH_ONE_OF(emit, pipeline, gb_vk_groups(params.n, 256), &params,
                          gb_vk_write(dst), gb_vk_read(src));
}

/* A copy of a tensor onto itself has nothing to do. */
static bool
is_onto_itself(const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    return node->data == a->data && node->type == a->type &&
           ggml_are_same_shape(node, a) && ggml_are_same_stride(node, a);
}

static void
copy_emit(struct gb_vk_emit *emit, const struct ggml_tensor *node)
{
    const struct ggml_tensor *a = node->src[0];

    if (is_onto_itself(node))
        return;
    if (a->type == node->type)
        gb_vk_emit_copy(emit, node, a);
    else if (gb_node_is_float(a->type) && gb_node_is_float(node->type))
        emit_convert(emit, node, a);
    else
        gb_vk_emit_convert_blocks(emit, node, gb_vk_write(node), a,
                                  gb_vk_read(a));
}

/* Where shapes differ, elements of one place are not those of the other. */
static bool
copy_may(const struct ggml_tensor *node, int dim)
{
    (void)dim;
    return ggml_are_same_shape(node, node->src[0]);
}

static const struct gb_vk_parts copy_parts = {
    .dims = { true, true, true, true },
    .sources = GB_VK_ALL_ALIKE,
    .may = copy_may,
};

const struct gb_vk_op gb_vk_op_copy = {
    .supports = copy_supports,
    .parts = &copy_parts,
    .emit = copy_emit,
};
